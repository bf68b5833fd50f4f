package parser

import "millrace/sql/ast"

func (r *recogniser) drop() ast.Statement {
	r.expect("DROP")
	s := &ast.Drop{What: r.expectAny("STREAM", "TABLE", "TYPE", "CONNECTOR", "FUNCTION")}
	s.IfExists = r.accept("IF", "EXISTS")
	s.Position = r.position()
	s.Name = r.name("a name")
	if s.What == "STREAM" || s.What == "TABLE" {
		s.DeleteTopic = r.accept("DELETE", "TOPIC")
	}
	return s
}
