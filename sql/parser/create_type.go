package parser

import "millrace/sql/ast"

func (r *recogniser) createType() ast.Statement {
	s := &ast.CreateType{IfNotExists: r.accept("IF", "NOT", "EXISTS"), Position: r.position()}
	s.Name = r.name(aTypeName)
	r.expect("AS")
	s.Type = r.typeName()
	return s
}
