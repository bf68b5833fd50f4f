package parser

import (
	"strconv"

	"millrace/sql/ast"
	"millrace/sql/token"
)

func (r *recogniser) print() ast.Statement {
	r.expect("PRINT")
	s := &ast.Print{Interval: 1, Limit: -1, Position: r.position()}
	s.Topic = r.externalName("a topic name")
	if r.accept("FROM") {
		r.expect("BEGINNING")
		s.FromBeginning = true
	}
	if r.acceptAny("INTERVAL", "SAMPLE") != "" {
		s.Interval = r.count(1)
	}
	if r.accept("LIMIT") {
		s.Limit = r.count(0)
	}
	return s
}

// externalName reads a name of something outside, such as a topic, whose case
// counts even when it is bare.
func (r *recogniser) externalName(what string) string {
	switch r.current().Kind {
	case token.String, token.Quoted:
		return r.next().Value
	}
	if !isName(r.current()) {
		r.unexpected(what)
		return ""
	}
	name := r.asWritten()
	r.next()
	return name
}

// count reads a whole number of at least least.
func (r *recogniser) count(least int) int {
	offset := r.current().Offset
	text := r.wholeNumber()
	if r.err != nil {
		return least
	}
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil:
		r.fail(offset, "number %s is too large here", text)
	case int(n) < least:
		r.fail(offset, "number %s is too small here, the least is %d", text, least)
	}
	return int(n)
}
