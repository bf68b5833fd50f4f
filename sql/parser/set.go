package parser

import "millrace/sql/ast"

const (
	aPropertyName  = "a property in single quotes"
	aPropertyValue = "a value in single quotes"
)

func (r *recogniser) set() ast.Statement {
	r.expect("SET")
	s := &ast.SetProperty{Position: r.position()}
	s.Name = r.text(aPropertyName)
	r.expect("=")
	s.Value = r.text(aPropertyValue)
	return s
}

func (r *recogniser) unset() ast.Statement {
	r.expect("UNSET")
	return &ast.UnsetProperty{Position: r.position(), Name: r.text(aPropertyName)}
}
