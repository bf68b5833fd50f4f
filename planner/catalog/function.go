package catalog

import (
	"maps"
	"slices"
	"strings"

	"millrace/sql/types"
)

// Expression is a function's body, bound and typed. The planner knows what it
// is made of.
type Expression interface {
	Type() *types.Type
	String() string
}

// Function is a function that CREATE FUNCTION made. It does not change once it
// is in a catalog.
type Function struct {
	Name       string // upper case
	Parameters []Column
	Result     *types.Type
	Body       Expression // over the parameters, by their places; of the type Result
	// Calls are the names of the user's functions that went into Body, also
	// through others, sorted.
	Calls     []string
	Statement string // the text that made it
}

// Signature is the function's name, parameters and result as SQL text.
func (f *Function) Signature() string {
	parts := make([]string, len(f.Parameters))
	for i, p := range f.Parameters {
		parts[i] = p.Name + " " + p.Type.String()
	}
	return f.Name + "(" + strings.Join(parts, ", ") + ") " + f.Result.String()
}

// Function finds a function of the user's by its name in upper case.
func (c *Catalog) Function(name string) (*Function, bool) {
	f, ok := c.functions[name]
	return f, ok
}

// Functions are all functions of the user's by name.
func (c *Catalog) Functions() []*Function { return sorted(c.functions) }

// FunctionNames are the names of all functions of the user's, sorted.
func (c *Catalog) FunctionNames() []string { return slices.Sorted(maps.Keys(c.functions)) }

// PutFunction adds or replaces a function.
func (c *Catalog) PutFunction(f *Function) { c.functions[f.Name] = f }

// DropFunction takes a function out.
func (c *Catalog) DropFunction(name string) { delete(c.functions, name) }
