package exec

import (
	"context"
	"errors"
	"testing"
	"time"

	"millrace/exec/expr"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// A query that writes what it reads, and finds no end, is told of.
func TestEndlessCircleIsTold(t *testing.T) {
	log := newLog(t, 1, "orders")
	q := otherFilter(t, "INSERTQUERY_ORDERS_1", "orders")
	sink := q.Subgraphs[0].Root.(*plan.Sink)
	sink.Value[1].Name = "AMOUNT"
	sink.Input.(*plan.Project).Columns[2].Expr = expr.NewColumn(2, "AMOUNT", types.Bigint)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var told []CircleGoesOn
	e := New(log, Options{Service: "test", Workers: 1, Events: Events{CircleGoesOn: func(i CircleGoesOn) {
		told = append(told, i)
		cancel()
	}}})
	start(t, e, q)
	produce(t, log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`))
	if err := e.RunUntilEnd(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	closeEngine(t, e)
	if len(told) != 1 || told[0].String() != "queries write to and read from orders, and have come to no end in 100 rounds" {
		t.Errorf("told: %v", told)
	}
}
