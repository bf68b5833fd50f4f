package exec

import (
	"testing"

	"millrace/planner/plan"
)

func order(partition int32, time int64, key, value string) input {
	return input{"orders", partition, time, key, value}
}

func start(t testing.TB, e *Engine, queries ...*plan.Query) {
	t.Helper()
	for _, q := range queries {
		if err := e.Start(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}

func idle(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.RunUntilIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range e.Queries() {
		if s := e.Status(id); s.State == Failed {
			t.Fatal(s.Cause)
		}
	}
}

func TestFilterAndProject(t *testing.T) {
	log := newLog(t, 1, "orders")
	e := New(log, Options{Service: "test"})
	start(t, e, filterQuery(t))
	produce(t, log,
		order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`),
		order(0, 2, "b", `{"REGION":"EU","AMOUNT":50}`),
		order(0, 3, "c", `{"REGION":"US","AMOUNT":`),
		order(0, 4, "d", ``),
		order(0, 5, "", `{"REGION":"US","AMOUNT":101}`),
		order(0, -6, "f", `{"REGION":"US","AMOUNT":102}`),
	)
	idle(t, e)
	expect(t, log, "big", `
0@1 a = {"REGION":"EU","DOUBLED":300}
0@5 null = {"REGION":"US","DOUBLED":202}`)
	s := e.Status("CSAS_BIG_1")
	if s.In != 6 || s.Out != 2 || s.Skipped["undecodable value"] != 1 || s.Skipped["invalid timestamp"] != 1 {
		t.Errorf("status %+v", s)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestGroupOverRepartition(t *testing.T) {
	log := newLog(t, 2, "orders")
	e := New(log, Options{Service: "test"})
	start(t, e, groupQuery(t, nil))
	produce(t, log,
		order(0, 1, "a", `{"REGION":"EU","AMOUNT":1}`),
		order(0, 2, "b", `{"REGION":"US","AMOUNT":2}`),
		order(1, 3, "c", `{"REGION":"EU","AMOUNT":3}`),
		order(1, 4, "d", `{"REGION":null,"AMOUNT":3}`),
	)
	idle(t, e)
	produce(t, log, order(1, 5, "e", `{"REGION":"EU","AMOUNT":5}`))
	idle(t, e)
	expect(t, log, "totals", `
0@1 EU = {"N":1,"TOTAL":1}
0@2 US = {"N":1,"TOTAL":2}
0@3 EU = {"N":2,"TOTAL":4}
0@5 EU = {"N":3,"TOTAL":9}`)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStreamTableJoin(t *testing.T) {
	log := newLog(t, 1, "orders", "customers")
	e := New(log, Options{Service: "test"})
	start(t, e, joinQuery(t))
	produce(t, log,
		order(0, 1, "a", `{"REGION":"EU","AMOUNT":1}`),
		order(0, 5, "a", `{"REGION":"EU","AMOUNT":2}`),
		order(0, 9, "a", `{"REGION":"EU","AMOUNT":3}`),
		order(0, 20, "a", `{"REGION":"EU","AMOUNT":4}`),
		input{"customers", 0, 5, "a", `{"NAME":"Ann"}`},
		input{"customers", 0, 7, "a", `{"NAME":"Bea"}`},
		input{"customers", 0, 11, "a", ``},
	)
	idle(t, e)
	expect(t, log, "named", `
0@1 a = {"REGION":"EU","AMOUNT":1,"CID":null,"NAME":null}
0@5 a = {"REGION":"EU","AMOUNT":2,"CID":"a","NAME":"Ann"}
0@9 a = {"REGION":"EU","AMOUNT":3,"CID":"a","NAME":"Bea"}
0@20 a = {"REGION":"EU","AMOUNT":4,"CID":null,"NAME":null}`)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
