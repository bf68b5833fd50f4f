package parser

import (
	"strings"

	"millrace/sql/ast"
)

func (r *recogniser) createSource(replace bool) ast.Statement {
	s := &ast.CreateSource{OrReplace: replace, ReadOnly: r.accept("SOURCE"), Global: r.accept("GLOBAL")}
	if s.Global {
		r.expect("TABLE")
		s.Kind = ast.Table
	} else {
		s.Kind = ast.SourceKind(r.expectAny("STREAM", "TABLE"))
	}
	s.IfNotExists = r.accept("IF", "NOT", "EXISTS")
	s.Position = r.position()
	s.Name = r.name("a " + strings.ToLower(string(s.Kind)) + " name")
	definitions := r.current()
	if r.at("(") {
		s.Columns = r.columnDefinitions()
	}
	if r.accept("WITH") {
		s.Properties = r.properties()
	}
	if !r.at("AS") {
		return s
	}
	switch {
	case s.Columns != nil:
		r.fail(definitions.Offset, "CREATE %s .. AS takes its columns from the query, not from a list", s.Kind)
	case s.ReadOnly:
		r.fail(r.current().Offset, "a SOURCE %s is read-only and cannot be filled by a query", s.Kind)
	}
	r.next()
	s.Query = r.query()
	return s
}
