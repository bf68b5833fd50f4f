package parser

import "millrace/sql/ast"

// columnDefinitions reads (name type [role], ..).
func (r *recogniser) columnDefinitions() []ast.ColumnDefinition {
	var columns []ast.ColumnDefinition
	open := r.current().Offset
	r.expect("(")
	for r.err == nil {
		column := ast.ColumnDefinition{Position: r.position(), Name: r.name("a column name")}
		column.Type = r.typeName()
		column.Role, column.Header = r.columnRole()
		columns = append(columns, column)
		if !r.more(open) {
			break
		}
	}
	return columns
}

func (r *recogniser) columnRole() (role ast.ColumnRole, header string) {
	switch {
	case r.accept("PRIMARY", "KEY"):
		return ast.PrimaryKey, ""
	case r.accept("KEY"):
		return ast.KeyColumn, ""
	case r.accept("HEADERS"):
		return ast.HeadersColumn, ""
	case r.accept("HEADER"):
		r.expect("(")
		header = r.text("the key of a header in single quotes")
		r.expect(")")
		return ast.HeaderColumn, header
	}
	return ast.ValueColumn, ""
}

// more tells whether the list that began at open goes on after a comma; otherwise
// it reads the closing bracket.
func (r *recogniser) more(open int) bool {
	switch {
	case r.accept(","):
		return true
	case r.accept(")"):
		return false
	}
	r.unclosed("'('", open)
	return false
}
