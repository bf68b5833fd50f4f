package session

import (
	"slices"
	"strings"

	"millrace/exec/fn"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// The kinds of functions that SHOW FUNCTIONS tells apart.
const (
	scalarKind    = "SCALAR"
	tableKind     = "TABLE"
	aggregateKind = "AGGREGATE"
	userKind      = "USER"
)

// functionEntry is a function for SHOW and DESCRIBE.
type functionEntry struct {
	name, kind, doc string
	forms           []string
	statement       string
}

// functionEntries are all functions, sorted by name.
func (s *Session) functionEntries() []functionEntry {
	var out []functionEntry
	for _, f := range fn.Functions() {
		e := functionEntry{name: f.Name, kind: scalarKind, doc: f.Doc}
		if f.Table {
			e.kind = tableKind
		}
		for _, o := range f.Overloads {
			e.forms = append(e.forms, f.Name+o.Signature)
		}
		out = append(out, e)
	}
	for _, a := range fn.Aggregates() {
		out = append(out, functionEntry{name: a.Name, kind: aggregateKind, doc: a.Doc, forms: a.Forms})
	}
	for _, f := range s.catalog.Functions() {
		out = append(out, functionEntry{
			name: f.Name, kind: userKind, doc: "Made by CREATE FUNCTION.", forms: []string{f.Signature()}, statement: f.Statement,
		})
	}
	slices.SortFunc(out, func(a, b functionEntry) int { return strings.Compare(a.name, b.name) })
	return out
}

func (s *Session) showFunctions() *Result {
	t := Table{Columns: []string{"function", "kind", "meaning"}}
	for _, e := range s.functionEntries() {
		t.add(e.name, e.kind, e.doc)
	}
	return one(t)
}

func (s *Session) describeFunction(n *ast.Describe) (*Result, error) {
	var names []string
	for _, e := range s.functionEntries() {
		names = append(names, e.name)
		if e.name != strings.ToUpper(n.Name) {
			continue
		}
		t := Table{Title: e.name + ": " + e.doc, Columns: []string{"function", "kind", "form"}}
		for _, form := range e.forms {
			t.add(e.name, e.kind, form)
		}
		result := one(t)
		if e.statement != "" {
			result.Tables = append(result.Tables, Table{Columns: []string{"statement"}, Rows: [][]any{{e.statement}}})
		}
		return result, nil
	}
	err := types.Errorf(types.CodeName, "there is no function %s", n.Name).At(n.Position)
	if near := types.Nearest(n.Name, names); near != "" {
		return nil, err.WithHint("did you mean %s?", near)
	}
	return nil, err.WithHint("SHOW FUNCTIONS lists them")
}
