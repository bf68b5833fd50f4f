package catalog

import (
	"maps"
	"slices"
	"strings"

	"millrace/sql/types"
)

// Query is a continuous query that has been started.
type Query struct {
	ID        string
	Statement string
	Sink      string   // name of the source that it writes
	Sources   []string // names of the sources that it reads
	PassesOn  string   // name of the stream of which it writes every row; empty: it may leave some out
}

// Catalog holds declarations by name. It is not safe for concurrent use; a
// dry run works on a Clone.
type Catalog struct {
	sources    map[string]*Source
	types      map[string]*types.Type
	queries    map[string]*Query
	functions  map[string]*Function
	Properties map[string]string // session properties, lower case names
	Variables  map[string]string // of DEFINE, upper case names
	lastQuery  map[string]int    // by the beginning of query ids
}

// New is an empty catalog.
func New() *Catalog {
	return &Catalog{
		sources: map[string]*Source{}, types: map[string]*types.Type{}, queries: map[string]*Query{},
		functions:  map[string]*Function{},
		Properties: map[string]string{}, Variables: map[string]string{}, lastQuery: map[string]int{},
	}
}

// Clone is a copy that changes apart.
func (c *Catalog) Clone() *Catalog {
	return &Catalog{
		sources: maps.Clone(c.sources), types: maps.Clone(c.types), queries: maps.Clone(c.queries),
		functions:  maps.Clone(c.functions),
		Properties: maps.Clone(c.Properties), Variables: maps.Clone(c.Variables), lastQuery: maps.Clone(c.lastQuery),
	}
}

// Source finds a source by name.
func (c *Catalog) Source(name string) (*Source, bool) {
	s, ok := c.sources[name]
	return s, ok
}

// Sources are all sources by name.
func (c *Catalog) Sources() []*Source { return sorted(c.sources) }

// PutSource adds or replaces a source.
func (c *Catalog) PutSource(s *Source) { c.sources[s.Name] = s }

// DropSource takes a source out.
func (c *Catalog) DropSource(name string) { delete(c.sources, name) }

// Type finds a type by name.
func (c *Catalog) Type(name string) (*types.Type, bool) {
	t, ok := c.types[name]
	return t, ok
}

// Types are all type names, sorted.
func (c *Catalog) Types() []string { return slices.Sorted(maps.Keys(c.types)) }

// PutType adds a type.
func (c *Catalog) PutType(name string, t *types.Type) { c.types[name] = t }

// DropType takes a type out.
func (c *Catalog) DropType(name string) { delete(c.types, name) }

// Query finds a query by id.
func (c *Catalog) Query(id string) (*Query, bool) {
	q, ok := c.queries[id]
	return q, ok
}

// Queries are all queries by id.
func (c *Catalog) Queries() []*Query { return sorted(c.queries) }

// PutQuery adds a query.
func (c *Catalog) PutQuery(q *Query) { c.queries[q.ID] = q }

// DropQuery takes a query out.
func (c *Catalog) DropQuery(id string) { delete(c.queries, id) }

// NextQuery counts up the number at the end of query ids that begin alike. Each
// beginning has a count of its own, so that a statement put before others in a
// script does not give them other ids, and with these other state and positions.
func (c *Catalog) NextQuery(beginning string) int {
	c.lastQuery[beginning]++
	return c.lastQuery[beginning]
}

// Property reads a session property.
func (c *Catalog) Property(name string) (string, bool) {
	v, ok := c.Properties[strings.ToLower(name)]
	return v, ok
}

func sorted[T any](m map[string]T) []T {
	out := make([]T, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[name])
	}
	return out
}
