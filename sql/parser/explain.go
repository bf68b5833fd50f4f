package parser

import (
	"millrace/sql/ast"
	"millrace/sql/token"
)

func (r *recogniser) explain() ast.Statement {
	r.expect("EXPLAIN")
	s := &ast.Explain{Position: r.position()}
	if isName(r.current()) && r.peek(1).Kind == token.End {
		s.QueryID = r.next().Value
		return s
	}
	if r.current().Is("EXPLAIN") {
		r.fail(r.current().Offset, "EXPLAIN cannot explain itself")
		return s
	}
	s.Statement = r.statement()
	return s
}
