package op

import (
	"testing"

	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/state"
)

// TestArrivalsGoOn holds the numbers that calls of a session window take: they
// rise from batch to batch, also over a restart, and go back with a rollback.
func TestArrivalsGoOn(t *testing.T) {
	window := &plan.Window{Kind: catalog.Session, Gap: 10}
	node := aggregateOf(stream(streamColumns), "K", window, "LATEST_BY_OFFSET A 2", "COUNT")
	task, err := state.Open(state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	groups, err := newGroupState(node)
	if err != nil {
		t.Fatal(err)
	}
	task.AddStore("AGG", groups.layout(), true)
	if _, _, ok := task.Trusted(); ok {
		t.Fatal("a state in memory is trusted")
	}
	store := task.Store("AGG")
	row := record{present: true, values: []any{int64(1), "g", int64(2)}}
	batch := makeBatch(node.Input.Schema(), []record{row, row, row}, nil)
	first := func() int64 {
		groups.bind(batch, store)
		arguments := groups.variable[0].after
		if len(arguments) != 2 {
			t.Fatalf("%d arguments", len(arguments))
		}
		if last := arguments[1].Ints[2]; last != arguments[1].Ints[0]+2 {
			t.Errorf("rows %v", arguments[1].Ints)
		}
		return arguments[1].Ints[0]
	}
	if n := first(); n != 0 {
		t.Errorf("the first row has number %d", n)
	}
	store.Commit()
	if n := first(); n != 3 {
		t.Errorf("the second batch begins with %d", n)
	}
	store.Rollback()
	if groups, err = newGroupState(node); err != nil {
		t.Fatal(err)
	}
	if n := first(); n != 3 {
		t.Errorf("after a rollback and a restart the second batch begins with %d", n)
	}
}
