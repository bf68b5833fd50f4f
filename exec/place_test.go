package exec

import (
	"context"
	"slices"
	"testing"

	"millrace/planner/plan"
)

// workersOf gives the worker of each task of a query.
func workersOf(t *testing.T, e *Engine, id string) []int {
	t.Helper()
	var numbers []int
	for _, w := range e.workers {
		err := w.do(t.Context(), func(context.Context) error {
			for _, s := range w.shares {
				if s.query.plan.ID == id {
					numbers = append(numbers, slices.Repeat([]int{w.number}, len(s.tasks))...)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return numbers
}

// The tasks of small queries, and the ordered subgraphs of several queries, are
// spread over the workers. The tasks of one ordered subgraph stay together.
func TestWorkIsSpread(t *testing.T) {
	log := newLog(t, 1, "orders")
	createTopics(t, log, 4, "wide")
	e := New(log, Options{Service: "test", Workers: 2})
	add := func(id, topic string, ordered bool) {
		q := otherFilter(t, id, id)
		q.Subgraphs[0].Inputs[0].(*plan.Source).Topic = topic
		q.Subgraphs[0].Ordered = ordered
		start(t, e, q)
	}
	add("SMALL_1", "orders", false)
	add("SMALL_2", "orders", false)
	add("WIDE_1", "wide", false)
	add("ORDERED_1", "wide", true)
	add("ORDERED_2", "wide", true)
	for id, want := range map[string][]int{
		"SMALL_1": {0}, "SMALL_2": {1}, "WIDE_1": {0, 0, 1, 1}, "ORDERED_1": {0, 0, 0, 0}, "ORDERED_2": {1, 1, 1, 1},
	} {
		if got := workersOf(t, e, id); !slices.Equal(got, want) {
			t.Errorf("%s is on the workers %v, not %v", id, got, want)
		}
	}
	closeEngine(t, e)
}
