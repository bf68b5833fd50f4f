package parser

import "millrace/sql/ast"

func (r *recogniser) createConnector() ast.Statement {
	s := &ast.CreateConnector{Kind: r.expectAny("SOURCE", "SINK")}
	r.expect("CONNECTOR")
	s.IfNotExists = r.accept("IF", "NOT", "EXISTS")
	s.Position = r.position()
	s.Name = r.name("a connector name")
	r.expect("WITH")
	s.Properties = r.properties()
	return s
}
