package parser

import "millrace/sql/ast"

// control reads PAUSE, RESUME and TERMINATE.
func (r *recogniser) control() ast.Statement {
	s := &ast.Control{Verb: r.next().Value, Position: r.position()}
	if r.accept("ALL") {
		s.QueryID = "ALL"
		return s
	}
	s.QueryID = r.name("a query name")
	return s
}
