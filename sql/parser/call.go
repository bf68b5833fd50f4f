package parser

import (
	"strings"

	"millrace/sql/token"
)

// call reads a function's arguments with FILTER and OVER; the current token is the
// bracket behind its name. The name reaches TiDB in back quotes, so that no function
// gets a grammar of its own.
func (r *recogniser) call(function token.Token) {
	if strings.HasPrefix(function.Value, "$") {
		r.fail(function.Offset, "a function's name cannot start with '$'")
		return
	}
	mark := r.mark()
	r.emitName(function.Value, function.Offset)
	open := r.current().Offset
	r.pass()
	r.arguments()
	r.passClose(open)
	if r.current().Is("FILTER") && r.peek(1).Is("(") {
		r.filter(mark)
	}
	if next := r.peek(1); r.current().Is("OVER") && (next.Is("(") || isName(next)) {
		first := &r.low.fragments[mark]
		first.prefix = overCarrier + "(" + first.prefix
		r.emit(")", r.current().Offset)
		r.pass()
		r.over()
	}
}

func (r *recogniser) arguments() {
	t := r.current()
	switch {
	case t.Is("*") && r.peek(1).Is(")"):
		r.next()
		r.open(markStar, t.Offset)
		r.emit(")", t.Offset)
	case t.Is("DISTINCT"):
		r.next()
		r.open(markDistinct, t.Offset)
		r.passList(r.expression)
		r.emit(")", t.Offset)
	case !r.at(")"):
		r.passList(r.argument)
	}
}

// filter reads FILTER (WHERE condition) of the call at mark.
func (r *recogniser) filter(mark int) {
	r.next()
	open := r.next().Offset
	r.expect("WHERE")
	r.wrap(mark, markFilter)
	r.emit(",", open)
	r.expression()
	r.passClose(open)
}

// argument reads a lambda, a time unit, or an expression.
func (r *recogniser) argument() {
	t := r.current()
	if parameters := r.lambdaParameters(); parameters > 0 {
		r.lambda(parameters)
		return
	}
	if next := r.peek(1); t.Kind == token.Word && timeUnits[t.Value] && (next.Is(",") || next.Is(")")) {
		// The function decides what the word means; here it looks like a column.
		r.next()
		r.emitName(t.Value, t.Offset)
		return
	}
	r.expression()
}

// lambdaParameters counts the parameters of the lambda that comes, 0 for none.
func (r *recogniser) lambdaParameters() int {
	if isName(r.current()) && r.peek(1).Is("=>") {
		return 1
	}
	if !r.current().Is("(") {
		return 0
	}
	at, count := 1, 1
	for isName(r.peek(at)) && r.peek(at+1).Is(",") {
		at += 2
		count++
	}
	if isName(r.peek(at)) && r.peek(at+1).Is(")") && r.peek(at+2).Is("=>") {
		return count
	}
	return 0
}

func (r *recogniser) lambda(parameters int) {
	offset := r.current().Offset
	r.open(markLambda, offset)
	r.accept("(")
	for range parameters {
		t := r.next()
		r.emitText(t.Value, t.Offset)
		r.emit(",", t.Offset)
		r.next() // the comma, the bracket or the arrow
	}
	r.accept("=>")
	r.expression()
	r.emit(")", offset)
}
