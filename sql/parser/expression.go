package parser

import "millrace/sql/token"

// expression reads operands joined by NOT, AND and OR. Here and in value, TiDB
// decides which operator binds tighter; its order for the operators that are passed
// on is the dialect's.
func (r *recogniser) expression() {
	r.enter()
	defer r.leave()
	length := 0
	for r.err == nil {
		r.link(&length)
		depth := r.depth
		for r.current().Is("NOT") {
			r.pass()
			r.enter()
		}
		compared := r.predicate()
		r.depth = depth
		if t := r.current(); !t.Is("AND") && !t.Is("OR") {
			if compared {
				r.tried(0, "AND")
				r.tried(0, "OR")
			} else {
				r.tried(0, anOperator)
			}
			return
		}
		r.pass()
	}
}

// predicate reads a value and at most one comparison, and tells whether there was
// one.
func (r *recogniser) predicate() (compared bool) {
	mark := r.mark()
	r.value()
	t := r.current()
	switch {
	case t.Is("IS"):
		r.isPredicate(mark)
		return true
	case isComparison(t):
		r.pass()
		r.value()
		return true
	case t.Is("NOT"):
		r.pass()
		if next := r.current(); !next.Is("BETWEEN") && !next.Is("IN") && !next.Is("LIKE") {
			r.unexpected("BETWEEN", "IN", "LIKE")
			return true
		}
	}
	switch t := r.current(); {
	case t.Is("BETWEEN"):
		r.pass()
		r.value()
		r.require("AND")
		r.value()
	case t.Is("IN"):
		r.inPredicate()
	case t.Is("LIKE"):
		r.likePredicate()
	default:
		return false
	}
	return true
}

func isComparison(t token.Token) bool {
	if t.Kind != token.Operator {
		return false
	}
	switch t.Value {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// isPredicate reads IS [NOT] NULL, TRUE, FALSE or DISTINCT FROM for the operand at
// mark.
func (r *recogniser) isPredicate(mark int) {
	offset := r.next().Offset
	not := r.accept("NOT")
	if r.accept("DISTINCT", "FROM") {
		r.wrap(mark, markIsDistinct)
		if not {
			first := &r.low.fragments[mark]
			first.prefix = "NOT " + first.prefix
		}
		r.emit(",", offset)
		r.value()
		r.emit(")", offset)
		return
	}
	if !r.at("NULL") && !r.at("TRUE") && !r.at("FALSE") {
		r.unexpected()
		return
	}
	r.emit("IS", offset)
	if not {
		r.emit("NOT", offset)
	}
	r.pass()
}

func (r *recogniser) inPredicate() {
	r.pass()
	if r.atSubquery() {
		r.subquery()
		return
	}
	open := r.current().Offset
	r.require("(")
	r.passList(r.expression)
	r.passClose(open)
}

// likePredicate puts the pattern in brackets, as MySQL takes only a simple
// expression there.
func (r *recogniser) likePredicate() {
	r.pass()
	r.inParentheses(r.value)
	if !r.current().Is("ESCAPE") || r.peek(1).Kind != token.String {
		return
	}
	r.pass()
	t := r.next()
	if len(t.Value) != 1 || t.Value[0] >= 0x80 {
		r.fail(t.Offset, "ESCAPE takes one ASCII character")
		return
	}
	if t.Value == "'" {
		t.Value = "''"
	}
	r.emit("'"+t.Value+"'", t.Offset)
}

// value reads operands joined by arithmetic and ||. TiDB gets || as the bitwise OR,
// which binds looser than + and tighter than a comparison, as || does here.
func (r *recogniser) value() {
	length := 0
	for r.err == nil {
		r.link(&length)
		depth := r.depth
		for r.current().Is("+") || r.current().Is("-") && !r.atNegativeNumber() {
			r.pass()
			r.enter()
		}
		r.primary(true)
		r.depth = depth
		t := r.current()
		switch {
		case t.Is("||"):
			r.next()
			r.emit("|", t.Offset)
		case t.Is("+"), t.Is("-"), t.Is("*"), t.Is("/"), t.Is("%"):
			r.pass()
		default:
			return
		}
	}
}
