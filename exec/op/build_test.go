package op

import (
	"errors"
	"strings"
	"testing"

	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
	"millrace/state"
)

// TestBuildRefuses holds what Build says to plans that no operators run.
func TestBuildRefuses(t *testing.T) {
	withoutBefore := func() *plan.Source {
		s := table(tableColumns)
		s.Output.KeepsBefore = false
		return s
	}
	withoutStore := table(tableColumns)
	withoutStore.Store = ""
	windowedRight := table(tableColumns)
	windowedRight.Output.Window = &catalog.KeyWindow{Kind: catalog.Tumbling, Size: 1}
	lost := subgraphOf(stream(streamColumns))
	lost.Inputs = append(lost.Inputs, stream(streamColumns))
	unlisted := subgraphOf(stream(streamColumns))
	unlisted.Inputs = nil
	tests := []struct {
		name  string
		graph *plan.Subgraph
		want  string
	}{
		{"filter", subgraphOf(filterOf(withoutBefore(), "A", 2)), "does not hand on the row before a change"},
		{"aggregation", subgraphOf(aggregateOf(withoutBefore(), "G", nil, "COUNT")), "does not hand on the row before a change"},
		{"projection", func() *plan.Subgraph {
			p := projectOf(withoutBefore())
			p.Output.KeepsBefore = true
			return subgraphOf(p)
		}(), "does not hand on the row before a change"},
		{"parameter missing", subgraphOf(&plan.Aggregate{
			Input: stream(streamColumns), Groups: []int{0}, Store: "AGG",
			Calls: []plan.AggregateCall{{Function: "TOPK", Arguments: []int{2}, Inputs: []*types.Type{types.Integer}, Name: "TOPK(A)"}},
		}), "aggregate TOPK(A): TOPK cannot be applied to (INTEGER)"},
		{"parameter no literal", subgraphOf(&plan.Aggregate{
			Input: stream(streamColumns), Groups: []int{0}, Store: "AGG",
			Calls: []plan.AggregateCall{{
				Function: "TOPK", Arguments: []int{2}, Inputs: []*types.Type{types.Integer}, Name: "TOPK(A, K)",
				Constants: []expr.Expr{columnExpr(stream(streamColumns), "K")},
			}},
		}), "aggregate TOPK(A, K): parameter K is no literal"},
		{"window of a table", subgraphOf(aggregateOf(table(tableColumns), "G", tumbling(10, 0), "COUNT")), "windowed aggregation of a table"},
		{"final without window", subgraphOf(final(aggregateOf(stream(streamColumns), "G", nil, "COUNT"))), "EMIT FINAL needs a window"},
		{"session of no gap", subgraphOf(aggregateOf(stream(streamColumns), "G", sessions(0, 5), "COUNT")), "window of gap 0"},
		{"session of a table", subgraphOf(aggregateOf(table(tableColumns), "G", sessions(5, 0), "COUNT")), "windowed aggregation of a table"},
		{"window of no size", subgraphOf(aggregateOf(stream(streamColumns), "G", tumbling(0, 0), "COUNT")), "window of size 0"},
		{"table without store", subgraphOf(joinOf(plan.InnerJoin, stream(streamColumns), "K", withoutStore)), "has no store"},
		{"windowed table", subgraphOf(joinOf(plan.InnerJoin, stream(streamColumns), "K", windowedRight)), "its key has a window"},
		{"lost input", lost, "input 1 is not part of the tree"},
		{"unlisted input", unlisted, "is not among the subgraph's inputs"},
		{"root without input", &plan.Subgraph{Root: stream(streamColumns)}, "has 0 inputs"},
		{"condition", subgraphOf(&plan.Filter{Input: stream(streamColumns), Condition: number(1)}), "not BOOLEAN"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			task, err := state.Open(state.Options{})
			if err != nil {
				t.Fatal(err)
			}
			store := task.AddStore("any", state.Layout{Fixed: 100}, true)
			env := &Environment{
				Store:       func(string) (*state.Store, error) { return store, nil },
				Expressions: &expr.Environment{},
			}
			_, err = Build(test.graph, env, &textSink{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestBuildPassesOnAStoreThatDoesNotOpen(t *testing.T) {
	broken := errors.New("broken")
	env := &Environment{Store: func(string) (*state.Store, error) { return nil, broken }, Expressions: &expr.Environment{}}
	for _, name := range []string{"table", "count", "session", "inner join"} {
		if _, err := Build(planNamed(t, name), env, &textSink{}); !errors.Is(err, broken) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestStoreLayoutOfAnUnknownStore(t *testing.T) {
	if _, err := StoreLayout(planNamed(t, "count"), "OTHER"); err == nil {
		t.Error("a store that no operator keeps has a layout")
	}
}

// TestBatchesAreCut pushes what puts out more rows than a batch holds; the sink
// refuses longer batches.
func TestBatchesAreCut(t *testing.T) {
	const groups = 1000
	many := func(time int64) []record {
		records := make([]record, groups)
		for i := range records {
			records[i] = record{time: time, present: true, values: []any{int64(i), "g", int64(1)}}
		}
		return records
	}
	tests := []struct {
		plan     string
		holdBack bool
		want     int // lines
	}{
		{"hopping", false, 2 * (3 + 3) * groups},
		{"hopping", true, 6 * groups},
		{"final hopping", false, 3 * groups},
	}
	for _, test := range tests {
		t.Run(test.plan, func(t *testing.T) {
			h := newHarness(t, planNamed(t, test.plan), test.holdBack)
			for _, time := range []int64{17, 17, 57, 57} {
				if err := h.push(0, many(time)); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.commit(); err != nil {
				t.Fatal(err)
			}
			if len(h.sink.lines) != test.want {
				t.Errorf("%d lines, want %d", len(h.sink.lines), test.want)
			}
		})
	}
}

// TestRegroupingsAreCut moves all rows of a table to another group, which puts
// out two changes a row.
func TestRegroupingsAreCut(t *testing.T) {
	const rows = 1000
	h := newHarness(t, planNamed(t, "table aggregation"), false)
	for _, group := range []string{"a", "b"} {
		records := make([]record, rows)
		for i := range records {
			records[i] = record{present: true, values: []any{int64(i), group, int64(1)}}
		}
		if err := h.push(0, records); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.sink.lines[len(h.sink.lines)-2:]; len(h.sink.lines) != 3*rows ||
		got[0] != "@0 'a', 0, 0, 0.0 (was 'a', 1, 1, 1.0)" || got[1] != "@0 'b', 1000, 1000, 1.0 (was 'b', 999, 999, 1.0)" {
		t.Errorf("%d lines, the last %q", len(h.sink.lines), got)
	}
}
