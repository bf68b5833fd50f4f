package exec

import (
	"context"
	"errors"

	"millrace/exec/task"
	"millrace/planner/plan"
)

// Scan answers a query from the rows that another one, the keeper, has at the
// moment. yield is given the rows of each partition in the order of their keys,
// from other goroutines, one at a time. ok is false where the keeper cannot answer the query, which has then to
// be started; what was yielded does not count. An error is the query's own.
func (e *Engine) Scan(ctx context.Context, keeper string, p *plan.Query, yield task.Yield) (ok bool, err error) {
	e.control.Lock()
	defer e.control.Unlock()
	q, found := e.query(keeper)
	if !found || !q.is(Running) {
		return false, nil
	}
	for _, w := range e.workers {
		err := w.do(ctx, func(context.Context) error { return w.scan(ctx, q, p, yield) })
		if errors.Is(err, task.ErrNoScan) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return q.is(Running), nil
}

func (w *worker) scan(ctx context.Context, keeper *query, p *plan.Query, yield task.Yield) error {
	for _, s := range w.shares {
		if s.query != keeper {
			continue
		}
		for _, t := range s.tasks {
			rows, err := t.Scan(ctx, p, yield)
			if err != nil {
				return err
			}
			if w.engine.options.Events.Committed != nil {
				w.engine.options.Events.Committed(Committed{Query: p.ID, Partition: t.Partition(), In: rows})
			}
		}
	}
	return nil
}
