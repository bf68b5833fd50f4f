package planner

import (
	"strings"

	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// refKind says what a name in a query stands for.
type refKind uint8

const (
	keyRef       refKind = iota // a key column of an input
	valueRef                    // a value column of an input
	headerRef                   // a header column of an input
	pseudoRef                   // ROWTIME, ROWPARTITION, ROWOFFSET, or a bound of an input's windowed key
	windowRef                   // WINDOWSTART or WINDOWEND of the query's own window
	aggregateRef                // the result of an aggregate call
	groupRef                    // the value of a group
	tableRef                    // the element that a table function gives
	joinKeyRef                  // the key of a join whose sides are no plain columns
)

// ref is one thing that expressions of a query read. While a query is bound,
// an expr.Column's index is the number of a ref; the physical plan replaces it
// by the place of the column in the operator's input.
type ref struct {
	kind  refKind
	input int // of a column: which input
	name  string
	t     *types.Type
	at    int // aggregateRef, groupRef, tableRef: which one
}

// input is one source in FROM.
type input struct {
	alias  string
	source *catalog.Source
}

// scope is what names can stand for in one SELECT.
type scope struct {
	inputs   []*input
	refs     []ref
	windowed bool // the query has a window of its own
}

func (s *scope) join() bool { return len(s.inputs) > 1 }

// add gives a ref its number; equal refs share one.
func (s *scope) add(r ref) int {
	for i, old := range s.refs {
		if old == r {
			return i
		}
	}
	s.refs = append(s.refs, r)
	return len(s.refs) - 1
}

var pseudoTypes = map[string]*types.Type{
	"ROWTIME": types.Bigint, "ROWPARTITION": types.Integer, "ROWOFFSET": types.Bigint,
}

func isWindowBound(name string) bool { return name == "WINDOWSTART" || name == "WINDOWEND" }

// column finds a column of an input by its name.
func (s *scope) column(index int, name string) (ref, bool) {
	source := s.inputs[index].source
	for _, c := range source.Key {
		if c.Name == name {
			return ref{kind: keyRef, input: index, name: name, t: c.Type}, true
		}
	}
	for _, c := range source.Value {
		if c.Name == name {
			return ref{kind: valueRef, input: index, name: name, t: c.Type}, true
		}
	}
	for _, c := range source.Headers {
		if c.Name == name {
			return ref{kind: headerRef, input: index, name: name, t: c.Type}, true
		}
	}
	if t, ok := pseudoTypes[name]; ok {
		return ref{kind: pseudoRef, input: index, name: name, t: t}, true
	}
	if source.Window != nil && isWindowBound(name) {
		return ref{kind: pseudoRef, input: index, name: name, t: types.Bigint}, true
	}
	return ref{}, false
}

// resolve finds what [qualifier.]name stands for.
func (s *scope) resolve(qualifier, name string) (ref, error) {
	if qualifier != "" {
		for i, in := range s.inputs {
			if in.alias == qualifier {
				if s.windowed && isWindowBound(name) {
					return ref{kind: windowRef, name: name, t: types.Bigint}, nil
				}
				if r, ok := s.column(i, name); ok {
					return r, nil
				}
				return ref{}, s.unknown(qualifier+"."+name, name, i)
			}
		}
		var aliases []string
		for _, in := range s.inputs {
			aliases = append(aliases, in.alias)
		}
		e := types.Errorf(types.CodeName, "%s is not a source of this query", qualifier)
		return ref{}, e.WithHint("the sources are %s", strings.Join(aliases, ", "))
	}
	if s.windowed && isWindowBound(name) {
		return ref{kind: windowRef, name: name, t: types.Bigint}, nil
	}
	var found []ref
	for i := range s.inputs {
		if r, ok := s.column(i, name); ok {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return ref{}, s.unknown(name, name, -1)
	case 1:
		return found[0], nil
	}
	e := types.Errorf(types.CodeName, "column %s is ambiguous", name)
	return ref{}, e.WithHint("write %s.%s or %s.%s", s.inputs[found[0].input].alias, name, s.inputs[found[1].input].alias, name)
}

func (s *scope) unknown(text, name string, only int) error {
	e := types.Errorf(types.CodeName, "column %s does not exist", text)
	var names []string
	for i, in := range s.inputs {
		if only < 0 || i == only {
			names = append(names, columnNames(in.source)...)
		}
	}
	if near := types.Nearest(name, names); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("the columns are %s", strings.Join(names, ", "))
}

// columnNames are a source's columns: key, value, headers.
func columnNames(source *catalog.Source) []string {
	var names []string
	for _, c := range source.Key {
		names = append(names, c.Name)
	}
	for _, c := range source.Value {
		names = append(names, c.Name)
	}
	for _, c := range source.Headers {
		names = append(names, c.Name)
	}
	return names
}

// planColumn is a ref as a column of a plan.
func (s *scope) planColumn(id int) plan.Column {
	r := s.refs[id]
	name := r.name
	if s.join() && r.kind <= pseudoRef {
		name = s.inputs[r.input].alias + "_" + r.name
	}
	return plan.Column{Name: name, Type: r.t}
}
