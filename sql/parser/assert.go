package parser

import "millrace/sql/ast"

func (r *recogniser) assert() ast.Statement {
	r.expect("ASSERT")
	s := &ast.Assert{}
	switch {
	case r.at("STREAM") || r.at("TABLE"):
		r.assertSource(s)
	case r.accept("NULL", "VALUES"):
		r.assertRows(s, "NULL VALUES", "KEY")
	case r.accept("VALUES"):
		r.assertRows(s, "VALUES", "VALUES")
	case r.accept("TOMBSTONE"):
		r.assertRows(s, "TOMBSTONE", "VALUES")
	default:
		r.assertExternal(s)
	}
	return s
}

func (r *recogniser) assertSource(s *ast.Assert) {
	s.What = r.next().Value
	s.Position = r.position()
	s.Name = r.name("a stream or table name")
	if r.at("(") {
		s.Columns = r.columnDefinitions()
	}
	if r.accept("WITH") {
		s.Properties = r.properties()
	}
}

// assertRows reads name [(columns)] word rows. The rows are checked and left out
// of the tree, since no session executes these statements.
func (r *recogniser) assertRows(s *ast.Assert, what, word string) {
	s.What, s.Position = what, r.position()
	s.Name = r.name("a stream or table name")
	if r.at("(") {
		r.columnNames()
	}
	r.expect(word)
	r.rows()
}

func (r *recogniser) assertExternal(s *ast.Assert) {
	s.Not = r.accept("NOT", "EXISTS")
	s.What = r.expectAny("TOPIC", "SCHEMA")
	s.Position = r.position()
	if s.What == "TOPIC" {
		s.Name = r.externalName("a topic name")
		if r.accept("WITH") {
			s.Properties = r.properties()
		}
	} else {
		r.assertSchema(s)
	}
	if r.accept("TIMEOUT") {
		s.Timeout = r.duration()
	}
}

func (r *recogniser) assertSchema(s *ast.Assert) {
	if r.accept("SUBJECT") {
		s.Position = r.position()
		s.Name = r.externalName("a subject name")
	}
	if r.accept("ID") {
		s.SchemaID = r.wholeNumber()
	}
	if s.Name == "" && s.SchemaID == "" {
		r.unexpected()
	}
}
