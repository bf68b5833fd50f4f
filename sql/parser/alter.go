package parser

import "millrace/sql/ast"

func (r *recogniser) alter() ast.Statement {
	r.expect("ALTER")
	s := &ast.AlterSource{Kind: ast.SourceKind(r.expectAny("STREAM", "TABLE")), Position: r.position()}
	s.Name = r.name("a stream or table name")
	for r.err == nil {
		r.expect("ADD")
		r.accept("COLUMN")
		column := ast.ColumnDefinition{Position: r.position(), Name: r.name("a column name")}
		column.Type = r.typeName()
		s.Add = append(s.Add, column)
		if !r.accept(",") {
			break
		}
	}
	return s
}
