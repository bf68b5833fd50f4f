package parser

import (
	"strconv"

	"millrace/sql/token"
	"millrace/sql/types"
)

// namedWindows passes WINDOW name AS (..), ...
func (r *recogniser) namedWindows() {
	r.pass()
	r.passList(func() {
		r.passName("a window name")
		r.require("AS")
		r.windowSpecification()
	})
}

// over passes what stands behind OVER.
func (r *recogniser) over() {
	if r.at("(") {
		r.windowSpecification()
	} else {
		r.passName("a window name")
	}
}

func (r *recogniser) windowSpecification() {
	open := r.current().Offset
	r.require("(")
	if isName(r.current()) && !r.clauseAhead() && !r.atFrame() {
		r.passName("a window name")
	}
	if r.at("PARTITION", "BY") {
		r.require("PARTITION", "BY")
		r.passList(func() { r.inParentheses(r.expression) })
	}
	if r.at("ORDER", "BY") {
		r.require("ORDER", "BY")
		r.passList(func() {
			r.inParentheses(r.expression)
			if r.at("ASC") || r.at("DESC") {
				r.pass()
			}
		})
	}
	if r.atFrame() {
		r.frame()
	}
	r.passClose(open)
}

func (r *recogniser) atFrame() bool {
	if !r.at("ROWS") && !r.at("RANGE") {
		return false
	}
	next := r.peek(1)
	return next.Is("BETWEEN") || next.Is("UNBOUNDED") || next.Is("CURRENT") || next.Is("INTERVAL") ||
		next.Kind == token.Integer
}

func (r *recogniser) frame() {
	r.pass()
	if !r.at("BETWEEN") {
		r.frameBound()
		return
	}
	r.pass()
	r.frameBound()
	r.require("AND")
	r.frameBound()
}

func (r *recogniser) frameBound() {
	switch {
	case r.at("CURRENT", "ROW"):
		r.require("CURRENT", "ROW")
		return
	case r.at("UNBOUNDED"):
		r.pass()
	case r.at("INTERVAL"):
		r.pass()
		r.passFrameNumber()
		offset := r.current().Offset
		unit := r.timeUnit()
		if unit == "MILLISECOND" {
			r.failWith(types.Unsupported("MILLISECOND in a frame").At(r.source.Position(offset)))
		}
		r.emit(unit, offset)
	default:
		r.passFrameNumber()
	}
	if !r.at("PRECEDING") && !r.at("FOLLOWING") {
		r.unexpected()
	}
	r.pass()
}

func (r *recogniser) passFrameNumber() {
	offset := r.current().Offset
	r.emit(strconv.Itoa(r.count(0)), offset)
}
