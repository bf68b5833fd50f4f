package parser

import (
	"math"
	"strconv"
	"strings"

	"millrace/sql/token"
	"millrace/sql/types"
)

// primary reads an operand with its subscripts, fields and time zones. The name of
// a zone is one with subscripts and fields only: AT TIME ZONE leans to the left.
func (r *recogniser) primary(zones bool) {
	mark, depth := r.mark(), r.depth
	for r.operand(); r.err == nil; r.enter() {
		if !r.postfix(mark) && !(zones && r.zone(mark)) {
			break
		}
	}
	r.depth = depth
}

// zone reads AT TIME ZONE behind the operand at mark, if it comes.
func (r *recogniser) zone(mark int) bool {
	t := r.current()
	if !t.Is("AT") {
		return false
	}
	r.expect("AT", "TIME", "ZONE")
	r.wrap(mark, markZone)
	r.emit(",", t.Offset)
	r.primary(false)
	r.emit(")", t.Offset)
	return true
}

// postfix reads a subscript or a field behind the operand at mark, if one comes.
func (r *recogniser) postfix(mark int) bool {
	t := r.current()
	switch {
	case t.Is("["):
		r.next()
		r.wrap(mark, markSubscript)
		r.emit(",", t.Offset)
		r.enter()
		r.value()
		r.leave()
		if !r.accept("]") {
			r.unclosed("'['", t.Offset)
		}
	case t.Is("->") && r.peek(1).Is("*"):
		r.skip(2)
		r.wrap(mark, markAllFields)
		r.emit(")", t.Offset)
		return false
	case t.Is("->"):
		r.next()
		r.wrap(mark, markField)
		r.emit(",", t.Offset)
		offset := r.current().Offset
		r.emitText(r.name("a field name"), offset)
	default:
		return false
	}
	r.emit(")", t.Offset)
	return true
}

func (r *recogniser) operand() {
	t := r.current()
	switch t.Kind {
	case token.Integer, token.Decimal, token.Float:
		r.number(false)
	case token.String:
		r.next()
		r.emitText(t.Value, t.Offset)
		if next := r.current(); next.Kind == token.String {
			r.failWith(r.source.Errorf(next.Offset, "two strings in a row").WithHint("use || to concatenate"))
		}
	case token.Operator:
		if r.atNegativeNumber() {
			r.number(true)
			return
		}
		r.brackets(t)
	default:
		if !r.keywordOperand(t) {
			r.nameOperand(t)
		}
	}
}

// number checks a numeric literal, since TiDB's own errors have no place, and passes
// it with the minus that may stand before it. Raising folds the minus into the
// literal; brackets make it an operand of its own.
func (r *recogniser) number(negative bool) {
	offset, sign := r.current().Offset, ""
	if negative {
		sign = r.next().Value
	}
	t := r.next()
	switch t.Kind {
	case token.Float:
		if _, err := strconv.ParseFloat(t.Value, 64); err != nil {
			r.failWith(r.outOfRange(offset, sign+t.Value, types.Double))
		}
	case token.Integer:
		n, err := strconv.ParseUint(t.Value, 10, 64)
		if err != nil || n > math.MaxInt64 && (!negative || n > -math.MinInt64) {
			r.failWith(withWiderType(r.outOfRange(offset, sign+t.Value, types.Bigint), sign+t.Value, len(t.Value)))
		}
	}
	switch {
	case negative:
		r.emit("(-"+t.Value+")", offset)
	case strings.HasSuffix(t.Value, "."):
		// TiDB's lexer would take a keyword behind "2." for a column's name.
		r.emit("("+t.Value+")", offset)
	default:
		r.emit(t.Value, offset)
	}
}

func (r *recogniser) outOfRange(offset int, number string, limit *types.Type) *types.Error {
	return types.Errorf(types.CodeValue, "number %s is out of range for %s", number, limit).At(r.source.Position(offset))
}

// maxDoubleDigits is how many digits a whole number can have that is in the range
// of DOUBLE.
const maxDoubleDigits = 309

// withWiderType adds how to write a whole number of so many digits, which no
// BIGINT holds, as a number of another type.
func withWiderType(err *types.Error, number string, digits int) *types.Error {
	switch {
	case digits > maxDoubleDigits:
		return err
	case digits > types.MaxPrecision:
		return err.WithHint("write %sE0 for a DOUBLE", number)
	}
	return err.WithHint("write %s. with a point for a DECIMAL, or %sE0 for a DOUBLE", number, number)
}

// brackets reads an expression or a query in brackets.
func (r *recogniser) brackets(t token.Token) {
	if !t.Is("(") {
		r.unexpected(anExpression)
		return
	}
	if r.atSubquery() {
		r.subquery()
		return
	}
	r.pass()
	r.expression()
	r.passClose(t.Offset)
}

// atSubquery tells whether a query in brackets comes.
func (r *recogniser) atSubquery() bool {
	return r.current().Is("(") && (r.peek(1).Is("SELECT") || r.peek(1).Is("WITH"))
}

func (r *recogniser) subquery() {
	open := r.current().Offset
	r.pass()
	r.queryBody(false)
	r.passClose(open)
}

// keywordOperand reads an operand that starts with a keyword, if one comes.
func (r *recogniser) keywordOperand(t token.Token) bool {
	if t.Kind != token.Word {
		return false
	}
	next := r.peek(1)
	switch t.Value {
	case "NULL", "TRUE", "FALSE":
		r.pass()
	case "CASE":
		r.caseExpression()
	case "CAST":
		r.cast()
	case "EXISTS":
		r.pass()
		if !r.atSubquery() {
			r.unexpected("a query in brackets")
			return true
		}
		r.subquery()
	default:
		return r.constructor(t, next)
	}
	return true
}

// nameOperand reads a column, a call, or a literal with a type's name.
func (r *recogniser) nameOperand(t token.Token) {
	if !isName(t) {
		r.unexpected(anExpression)
		return
	}
	r.next()
	next := r.current()
	switch {
	case next.Kind == token.String:
		r.next()
		r.open(markTyped, t.Offset)
		r.emitText(t.Value, t.Offset)
		r.emit(",", next.Offset)
		r.emitText(next.Value, next.Offset)
		r.emit(")", next.Offset)
	case next.Is("("):
		r.call(t)
	case next.Is("."):
		r.emitName(t.Value, t.Offset)
		r.pass()
		r.passName("a column name")
	default:
		r.emitName(t.Value, t.Offset)
	}
}

func (r *recogniser) caseExpression() {
	r.enter()
	defer r.leave()
	offset := r.current().Offset
	r.pass()
	if !r.at("WHEN") {
		r.value()
	}
	for first := true; r.err == nil && (first || r.at("WHEN")); first = false {
		r.require("WHEN")
		r.expression()
		r.require("THEN")
		r.expression()
	}
	if r.at("ELSE") {
		r.pass()
		r.expression()
	}
	if !r.at("END") {
		r.unclosed("CASE", offset)
	}
	r.pass()
}

func (r *recogniser) cast() {
	t := r.next()
	open := r.current().Offset
	r.expect("(")
	r.open(markCast, t.Offset)
	r.expression()
	r.expect("AS")
	r.emit(","+strconv.Itoa(len(r.low.types)), r.current().Offset)
	r.low.types = append(r.low.types, r.typeName())
	r.passClose(open)
}

// atNegativeNumber tells whether a minus with its number comes.
func (r *recogniser) atNegativeNumber() bool {
	return r.current().Is("-") && r.peek(1).Number()
}
