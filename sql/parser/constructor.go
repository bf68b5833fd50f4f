package parser

import "millrace/sql/token"

// constructor reads ARRAY[..], MAP(..), STRUCT(..) or INTERVAL n unit, if one comes.
func (r *recogniser) constructor(t, next token.Token) bool {
	switch {
	case t.Value == "ARRAY" && next.Is("["):
		r.arrayConstructor(t, next)
	case t.Value == "MAP" && next.Is("("):
		r.pairs(t, next, markMap, r.expression)
	case t.Value == "STRUCT" && next.Is("("):
		r.pairs(t, next, markStruct, r.structField)
	case t.Value == "INTERVAL" && (next.Kind == token.Integer || next.Kind == token.String) &&
		timeUnits[r.peek(2).Value]:
		r.interval(t)
	default:
		return false
	}
	return true
}

func (r *recogniser) arrayConstructor(t, open token.Token) {
	r.skip(2)
	r.open(markArray, t.Offset)
	if !r.at("]") {
		r.passList(r.expression)
	}
	if !r.accept("]") {
		r.unclosed("'['", open.Offset)
	}
	r.emit(")", t.Offset)
}

// pairs reads left := right, .. in brackets.
func (r *recogniser) pairs(t, open token.Token, marker string, left func()) {
	r.skip(2)
	r.open(marker, t.Offset)
	if !r.at(")") {
		r.passList(func() {
			left()
			r.emit(",", r.current().Offset)
			r.expect(":=")
			r.expression()
		})
	}
	r.passClose(open.Offset)
}

func (r *recogniser) structField() {
	offset := r.current().Offset
	r.emitText(r.name("a field name"), offset)
}

func (r *recogniser) interval(t token.Token) {
	r.next()
	r.open(markInterval, t.Offset)
	if number := r.current(); number.Kind == token.String {
		r.next()
		r.emitText(number.Value, number.Offset)
	} else {
		r.number(false)
	}
	offset := r.current().Offset
	r.emit(",", offset)
	r.emitText(r.timeUnit(), offset)
	r.emit(")", offset)
}
