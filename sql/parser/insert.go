package parser

import (
	"millrace/sql/ast"
	"millrace/sql/types"
)

func (r *recogniser) insert() ast.Statement {
	r.expect("INSERT", "INTO")
	position := r.position()
	target := r.name("a stream or table name")
	queryInBrackets := r.peek(1).Is("SELECT") || r.peek(1).Is("WITH") || r.peek(1).Is("(")
	if r.at("VALUES") || r.at("(") && !queryInBrackets {
		s := &ast.InsertValues{Target: target, Position: position}
		if r.at("(") {
			s.Columns, s.Positions = r.columnNames()
		}
		r.expect("VALUES")
		s.Rows = r.rows()
		return s
	}
	s := &ast.InsertQuery{Target: target, Position: position}
	if r.at("WITH", "(") {
		r.next()
		s.Properties = r.properties()
	}
	s.Query = r.query()
	return s
}

// columnNames reads (name, ..).
func (r *recogniser) columnNames() (names []string, positions []types.Position) {
	open := r.current().Offset
	r.expect("(")
	for r.err == nil {
		positions = append(positions, r.position())
		names = append(names, r.name("a column name"))
		if !r.more(open) {
			break
		}
	}
	return names, positions
}
