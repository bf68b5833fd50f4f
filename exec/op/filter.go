package op

import (
	"fmt"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/planner/plan"
)

// filter keeps the rows for which a condition is true.
//
// Of a stream, rows without a value are dropped. Of a table, the rows before
// and after a change are judged alone: a row that stops matching becomes a
// delete, one that begins to match has no row before, and a change of which
// neither matches is dropped.
type filter struct {
	next      Operator
	condition expr.Predicate
	// conditionBefore judges rows before a change; nil for a stream. It reports
	// no errors: they were reported when the row was new.
	conditionBefore expr.Predicate

	out, before                column.Batch
	selection, matched, former []int32
	present, presentBefore     column.Bitmap
}

func newFilter(node *plan.Filter, env *Environment, next Operator) (*filter, error) {
	f := &filter{next: next}
	var err error
	if f.condition, err = expr.CompilePredicate(node.Condition, env.Expressions); err != nil {
		return nil, fmt.Errorf("filter %s: %w", node.Condition, err)
	}
	schema := node.Input.Schema()
	if !schema.Changes {
		return f, nil
	}
	if !schema.KeepsBefore {
		return nil, fmt.Errorf("filter %s: its input is a table that does not hand on the row before a change", node.Condition)
	}
	f.conditionBefore, err = expr.CompilePredicate(node.Condition, quiet(env.Expressions))
	if err != nil {
		return nil, fmt.Errorf("filter %s: %w", node.Condition, err)
	}
	return f, nil
}

// quiet is an environment for expressions over rows whose faults were reported
// before.
func quiet(env *expr.Environment) *expr.Environment {
	if env == nil {
		return nil
	}
	copied := *env
	copied.Errors = nil
	return &copied
}

// Push implements Operator.
func (f *filter) Push(_ int, b *column.Batch) error {
	f.matched = f.condition.Narrow(b, appendPresent(f.matched[:0], b.Selection, b.Present))
	f.out = *b
	f.out.Selection = f.matched
	if f.conditionBefore != nil {
		f.judgeChanges(b)
	}
	if len(f.out.Selection) == 0 {
		return nil
	}
	return f.next.Push(0, &f.out)
}

// judgeChanges completes f.out for a table.
func (f *filter) judgeChanges(b *column.Batch) {
	f.former = appendPresent(f.former[:0], b.Selection, b.PresentBefore)
	viewBefore(&f.before, b, f.former)
	f.former = f.conditionBefore.Narrow(&f.before, f.former)
	f.present = setOf(f.present, b.Len, f.matched)
	f.presentBefore = setOf(f.presentBefore, b.Len, f.former)
	f.selection = f.selection[:0]
	for _, i := range b.Selection {
		if f.present.Get(int(i)) || f.presentBefore.Get(int(i)) {
			f.selection = append(f.selection, i)
		}
	}
	f.out.Selection, f.out.Present, f.out.PresentBefore = f.selection, f.present, f.presentBefore
}

// Flush implements Operator.
func (f *filter) Flush() error { return nil }
