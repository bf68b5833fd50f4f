package parser

import "millrace/sql/ast"

func (r *recogniser) define() ast.Statement {
	r.expect("DEFINE")
	s := &ast.Define{Position: r.position()}
	s.Name = r.name("a variable name")
	r.expect("=")
	s.Value = r.text(aPropertyValue)
	return s
}

func (r *recogniser) undefine() ast.Statement {
	r.expect("UNDEFINE")
	return &ast.Undefine{Position: r.position(), Name: r.name("a variable name")}
}
