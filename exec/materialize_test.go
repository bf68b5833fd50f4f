package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// keepQuery keeps the rows of CUSTOMERS (CID STRING PRIMARY KEY, NAME STRING).
func keepQuery() *plan.Query {
	id, name := columnOf("CID", types.String), columnOf("NAME", types.String)
	table := &plan.Source{
		Name: "CUSTOMERS", Topic: "customers",
		KeyFormat: kafkaFormat, KeyFields: []plan.Field{fieldOf(id, 0)},
		ValueFormat: jsonFormat, ValueFields: []plan.Field{fieldOf(name, 1)},
		Pseudo: plan.NoPseudo, Store: "source", Output: schemaOf([]int{0}, true, id, name),
	}
	return planOf("CST_CUSTOMERS_1", "", &plan.Subgraph{
		Root: &plan.Materialize{Input: table}, Inputs: []plan.Node{table}, Stores: []plan.Store{{Name: "source"}},
	})
}

func customer(partition int32, time int64, key, value string) input {
	return input{"customers", partition, time, key, value}
}

func expectRows(t *testing.T, e *Engine, want int64) {
	t.Helper()
	if rows, known := e.Rows(t.Context(), "CST_CUSTOMERS_1"); rows != want || !known {
		t.Errorf("the query keeps %d rows (known %t), not %d", rows, known, want)
	}
}

func TestMaterialize(t *testing.T) {
	for _, workers := range []int{0, 2} {
		w := newWorld(t, 2)
		w.queries = func(testing.TB) []*plan.Query { return []*plan.Query{keepQuery()} }
		e := w.engine(t, Options{Workers: workers, AutoOffsetReset: "latest"})
		produce(t, w.log, customer(0, 1, "a", `{"NAME":"A"}`), customer(1, 2, "b", `{"NAME":"B"}`), customer(0, 3, "c", `{"NAME":"C"}`))
		drain := func() {
			t.Helper()
			if err := e.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		drain()
		expectRows(t, e, 3)
		produce(t, w.log, customer(0, 4, "a", ""), customer(1, 5, "b", `{"NAME":"BB"}`), customer(0, 6, "none", ""))
		drain()
		expectRows(t, e, 2)
		closeEngine(t, e)

		// The next one goes on from the local copy. That is written in the
		// background, and what it lacks is read again: all 6 records at most.
		var read int64
		for attempt := 0; ; attempt++ {
			e = w.engine(t, Options{Workers: workers})
			drain()
			expectRows(t, e, 2)
			if read = e.Status("CST_CUSTOMERS_1").In; read < 6 {
				break
			}
			if attempt == 100 {
				t.Fatal("the local copy is never used")
			}
			closeEngine(t, e)
		}
		produce(t, w.log, customer(1, 7, "d", `{"NAME":"D"}`))
		drain()
		expectRows(t, e, 3)
		if s := e.Status("CST_CUSTOMERS_1"); s.State != Running || s.In != read+1 || s.Out != 0 {
			t.Errorf("status %+v, after %d records", s, read)
		}
		closeEngine(t, e)

		// Without it the topic is read again, also under latest.
		if err := os.RemoveAll(filepath.Join(w.directory, "queries")); err != nil {
			t.Fatal(err)
		}
		e = w.engine(t, Options{Workers: workers, AutoOffsetReset: "latest"})
		drain()
		expectRows(t, e, 3)
		if s := e.Status("CST_CUSTOMERS_1"); s.In != 7 {
			t.Errorf("status %+v", s)
		}
		if left := remains(t, w.log, t.TempDir(), keepQuery()); len(left) > 0 {
			t.Errorf("topics and positions of its own: %q", left)
		}
		if err := e.Drop(t.Context(), "CST_CUSTOMERS_1"); err != nil {
			t.Fatal(err)
		}
		if left := remains(t, w.log, w.directory, keepQuery()); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		closeEngine(t, e)
	}
}

// A process that is killed leaves a copy that lacks the last rows at most.
func TestMaterializeAfterAKill(t *testing.T) {
	for _, point := range task.CrashPoints {
		for nth := 1; nth < 4; nth++ {
			w := newWorld(t, 1)
			w.queries = func(testing.TB) []*plan.Query { return []*plan.Query{keepQuery()} }
			e := w.engine(t, Options{Crash: killAt(point, nth), BatchRows: 1})
			for i, key := range []string{"a", "b", "c", "d"} {
				produce(t, w.log, customer(0, int64(i), key, `{"NAME":"A"}`))
				if !survive(t, e) {
					e = w.engine(t, Options{})
					idle(t, e)
				}
			}
			expectRows(t, e, 4)
			closeEngine(t, e)
		}
	}
}

// A topic that was made again fills the table with what it holds now.
func TestMaterializeOfARecreatedTopic(t *testing.T) {
	w := newWorld(t, 1)
	w.queries = func(testing.TB) []*plan.Query { return []*plan.Query{keepQuery()} }
	e := w.engine(t, Options{})
	produce(t, w.log, customer(0, 1, "a", `{"NAME":"A"}`), customer(0, 2, "b", `{"NAME":"B"}`))
	idle(t, e)
	closeEngine(t, e)
	if err := w.log.DeleteTopic(t.Context(), "customers"); err != nil {
		t.Fatal(err)
	}
	createTopics(t, w.log, 1, "customers")
	produce(t, w.log, customer(0, 1, "c", `{"NAME":"C"}`))
	var dropped []string
	e = w.engine(t, Options{Events: Events{StateDropped: func(i task.StateDropped) { dropped = append(dropped, i.String()) }}})
	idle(t, e)
	expectRows(t, e, 1)
	closeEngine(t, e)
	if len(dropped) != 1 || !strings.Contains(dropped[0], "topic of store source is another") {
		t.Errorf("told: %q", dropped)
	}
}

// Records that were deleted before they were read are rows that the table lacks.
func TestMaterializeOfAShortenedTopic(t *testing.T) {
	w := newWorld(t, 1)
	w.queries = func(testing.TB) []*plan.Query { return []*plan.Query{keepQuery()} }
	e := w.engine(t, Options{})
	produce(t, w.log, customer(0, 1, "a", `{"NAME":"A"}`))
	idle(t, e)
	closeEngine(t, e)
	produce(t, w.log, customer(0, 2, "a", ""), customer(0, 3, "b", `{"NAME":"B"}`))
	if err := w.log.DeleteRecords(t.Context(), map[kafkaio.TopicPartition]int64{{Topic: "customers"}: 2}); err != nil {
		t.Fatal(err)
	}
	var dropped []string
	e = w.engine(t, Options{Events: Events{StateDropped: func(i task.StateDropped) { dropped = append(dropped, i.String()) }}})
	idle(t, e)
	expectRows(t, e, 1)
	closeEngine(t, e)
	if len(dropped) != 1 || !strings.Contains(dropped[0], "stands at offset 1 of customers, which holds the offsets 2 to 3") {
		t.Errorf("told: %q", dropped)
	}
}
