package expr

import (
	"regexp"

	"millrace/sql/types"
)

// Column is the value of a column of the batch.
type Column struct {
	leaf
	Index int // in Batch.Columns
	Name  string
	T     *types.Type
}

// NewColumn is the column at index of the batch.
func NewColumn(index int, name string, t *types.Type) *Column {
	return &Column{Index: index, Name: name, T: t}
}

// Type is the column's type.
func (c *Column) Type() *types.Type { return c.T }

func (c *Column) String() string { return nameText(c.Name) }

func (c *Column) replace([]Expr) Expr { return c }

func (c *Column) same(other Expr) bool {
	o, ok := other.(*Column)
	return ok && o.Index == c.Index
}

// Parameter is a parameter of the lambda that it stands in; an inner lambda
// hides outer parameters of the same name.
type Parameter struct {
	leaf
	Name string
	T    *types.Type
}

// NewParameter is the parameter called name of an enclosing lambda.
func NewParameter(name string, t *types.Type) *Parameter { return &Parameter{Name: name, T: t} }

// Type is the parameter's type.
func (p *Parameter) Type() *types.Type { return p.T }

func (p *Parameter) String() string { return nameText(p.Name) }

func (p *Parameter) replace([]Expr) Expr { return p }

func (p *Parameter) same(other Expr) bool {
	o, ok := other.(*Parameter)
	return ok && o.Name == p.Name
}

// plainName is a name, or a source's and a column's name, that needs no quotes.
var plainName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*(\.[A-Z_][A-Z0-9_]*)?$`)

func nameText(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return types.QuoteName(name)
}
