package parser

import "millrace/sql/ast"

func (r *recogniser) describeObject() ast.Statement {
	r.expect("DESCRIBE")
	s := &ast.Describe{What: "SOURCE", Position: r.position()}
	next := r.peek(1)
	switch {
	case r.at("STREAMS") || r.at("TABLES"):
		s.What = r.next().Value
	case (r.at("FUNCTION") || r.at("CONNECTOR")) && isName(next):
		s.What = r.next().Value
		s.Position = r.position()
		s.Name = r.name("a name")
	default:
		s.Name = r.name("a stream or table name")
	}
	s.Extended = r.accept("EXTENDED")
	return s
}
