package parser

import "millrace/sql/ast"

func (r *recogniser) show() ast.Statement {
	r.expectAny("SHOW", "LIST")
	s := &ast.Show{All: r.accept("ALL"), Position: r.position()}
	switch {
	case s.All:
		r.expect("TOPICS")
		s.What = "TOPICS"
	case r.accept("SOURCE", "CONNECTORS"):
		s.What = "SOURCE CONNECTORS"
	case r.accept("SINK", "CONNECTORS"):
		s.What = "SINK CONNECTORS"
	case r.accept("CONNECTOR", "PLUGINS"):
		s.What = "CONNECTOR PLUGINS"
	default:
		s.What = r.expectAny("STREAMS", "TABLES", "TOPICS", "QUERIES", "FUNCTIONS", "TYPES", "PROPERTIES",
			"VARIABLES", "CONNECTORS")
	}
	s.Extended = r.accept("EXTENDED")
	return s
}
