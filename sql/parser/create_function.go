package parser

import "millrace/sql/ast"

func (r *recogniser) createFunction(replace bool) ast.Statement {
	r.expect("FUNCTION")
	s := &ast.CreateFunction{OrReplace: replace, Position: r.position()}
	s.Name = r.name("a function name")
	r.expect("(")
	for !r.accept(")") && r.err == nil {
		if len(s.Parameters) > 0 {
			r.expect(",")
		}
		parameter := ast.ColumnDefinition{Position: r.position(), Name: r.name("a parameter name")}
		parameter.Type = r.typeName()
		s.Parameters = append(s.Parameters, parameter)
	}
	r.expect("RETURNS")
	s.Returns = r.typeName()
	r.expect("AS")
	s.Body = r.expressionQuery()
	return s
}
