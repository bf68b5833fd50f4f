package parser

import "millrace/sql/ast"

func (r *recogniser) deleteRows() ast.Statement {
	r.expect("DELETE", "FROM")
	s := &ast.DeleteRows{Position: r.position()}
	s.Target = r.name("a table name")
	r.expect("WHERE")
	s.Where = r.expressionQuery()
	return s
}
