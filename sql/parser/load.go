package parser

import "millrace/sql/ast"

func (r *recogniser) load() ast.Statement {
	r.expect("LOAD")
	s := &ast.Load{FilePosition: r.position()}
	s.File = r.text("a file name in single quotes")
	r.expect("INTO")
	s.Position = r.position()
	s.Target = r.name("a stream or table name")
	if r.accept("WITH") {
		s.Properties = r.properties()
	}
	return s
}
