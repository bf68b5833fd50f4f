package parser

import "millrace/sql/ast"

func (r *recogniser) runScript() ast.Statement {
	r.expect("RUN", "SCRIPT")
	return &ast.RunScript{Position: r.position(), File: r.text("a file name in single quotes")}
}
