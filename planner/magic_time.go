package planner

import (
	"millrace/exec/expr"
	"millrace/sql/types"
)

// magicTimes turns a text that is compared with ROWTIME, WINDOWSTART or
// WINDOWEND into the time that it names: these columns are BIGINT, and the
// dialect lets users write ROWTIME >= '2020-01-01T10'. A text that is no time is
// left for the comparison to refuse.
func (b *binder) magicTimes(l, r expr.Expr) (expr.Expr, expr.Expr) {
	if b.isTime(l) {
		return l, timeText(r)
	}
	if b.isTime(r) {
		return timeText(l), r
	}
	return l, r
}

func (b *binder) isTime(e expr.Expr) bool {
	c, ok := e.(*expr.Column)
	if !ok || c.Index >= len(b.scope.refs) {
		return false
	}
	r := b.scope.refs[c.Index]
	return (r.kind == pseudoRef || r.kind == windowRef) && r.t.Kind == types.KindBigint && r.name != "ROWOFFSET"
}

func timeText(e expr.Expr) expr.Expr {
	l, ok := e.(*expr.Literal)
	if !ok || l.T.Kind != types.KindString {
		return e
	}
	text, _ := l.Value.(string)
	millis, err := types.ParseTimestamp(text)
	if err != nil {
		return e
	}
	return expr.NewLiteral(millis, types.Bigint)
}
