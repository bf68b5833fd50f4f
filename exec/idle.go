package exec

import (
	"context"
	"errors"
	"slices"

	"millrace/exec/task"
	"millrace/planner/plan"
)

// RunUntilIdle processes everything that the log holds for the running queries,
// in the caller's goroutine, and returns when there is nothing left: what one
// query writes is read by the next. The order depends on the records and the
// order of the queries' starts alone. A query that fails shows it in its Status
// and does not end the run. It needs an engine without workers.
func (e *Engine) RunUntilIdle(ctx context.Context) error {
	e.control.Lock()
	defer e.control.Unlock()
	if !e.manual() {
		return errors.New("an engine with workers of its own runs until its end, not until it is idle")
	}
	if !e.started {
		return nil
	}
	w := e.workers[0]
	for progress := true; progress; {
		progress = false
		for _, stage := range e.stages() {
			moved, err := w.runStage(ctx, stage)
			if err != nil {
				return err
			}
			progress = progress || moved
		}
	}
	return ctx.Err()
}

// stage is one subgraph of a query.
type stage struct {
	query    *query
	subgraph *plan.Subgraph
}

// stages lists all subgraphs so that a topic is written before it is read, and
// else in the order of starts. A circle is cut at its first subgraph.
func (e *Engine) stages() []stage {
	var all []stage
	for _, q := range e.all() {
		for _, g := range q.plan.Subgraphs {
			all = append(all, stage{q, g})
		}
	}
	sorted := make([]stage, 0, len(all))
	visited := make(map[*plan.Subgraph]bool, len(all))
	var visit func(s stage)
	visit = func(s stage) {
		if visited[s.subgraph] {
			return
		}
		visited[s.subgraph] = true
		for _, before := range all {
			if s.reads(task.OutputTopic(before.subgraph)) {
				visit(before)
			}
		}
		sorted = append(sorted, s)
	}
	for _, s := range all {
		visit(s)
	}
	return sorted
}

func (s stage) reads(topic string) bool {
	return slices.ContainsFunc(s.subgraph.Inputs, func(input plan.Node) bool { return plan.InputTopic(input) == topic })
}

// runStage lets the tasks of a subgraph process all there is, and commits it,
// so that the stages after it can read it.
func (w *worker) runStage(ctx context.Context, st stage) (progress bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return progress, err
		}
		w.dropFailed(ctx, true)
		at := slices.IndexFunc(w.shares, func(s *share) bool { return s.query == st.query })
		if at < 0 || !st.query.is(Running) {
			return progress, nil
		}
		moved, err := w.runShare(ctx, w.shares[at], st.subgraph)
		if err != nil {
			// The engine goes on without the query, or tries again.
			w.recoverFrom(ctx, st.query, err)
			moved = true
		}
		if !moved {
			break
		}
		progress = true
	}
	if w.transaction.Pending() {
		w.commit(ctx)
		return true, ctx.Err()
	}
	return progress, nil
}

// runShare fetches what is there and lets each task of the subgraph take all
// the steps that it can.
func (w *worker) runShare(ctx context.Context, s *share, g *plan.Subgraph) (progress bool, err error) {
	for _, f := range s.feeds {
		for more := true; more; {
			if more, err = f.poll(ctx); err != nil {
				return progress, err
			}
			progress = progress || more
		}
	}
	for _, turn := range turns(s.tasks) {
		if turn[0].Subgraph() != g.ID {
			continue
		}
		for moved := true; moved; {
			if moved, err = turn.step(ctx, nil); err != nil {
				return progress, err
			}
			progress = progress || moved
		}
	}
	return progress, nil
}
