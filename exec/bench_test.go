package exec

import (
	"fmt"
	"testing"

	"millrace/planner/plan"
)

// The cost of a record through a task and the log in memory: decode, operators,
// encode, append and commit.
func benchmarkQuery(b *testing.B, make func(testing.TB) *plan.Query) {
	const records = 200_000
	log := newLog(b, 1, "orders", "customers")
	produce(b, log, customers(500, 1)...)
	produce(b, log, orders(records, 1)...)
	e := New(log, Options{Service: "test", HoldBack: true})
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		q := make(b)
		q.ID = fmt.Sprintf("%s_%d", q.ID, n)
		q.Group += q.ID
		start(b, e, q)
		idle(b, e)
		b.StopTimer()
		if err := e.Stop(b.Context(), q.ID); err != nil {
			b.Fatal(err)
		}
		for _, topic := range append([]string{q.SinkTopic}, topicsOf(q)...) {
			if err := log.DeleteTopic(b.Context(), topic); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*records), "ns/record")
	b.StopTimer()
	closeEngine(b, e)
}

func topicsOf(q *plan.Query) []string {
	var names []string
	for _, r := range q.Repartitions {
		names = append(names, r.Topic)
	}
	for _, g := range q.Subgraphs {
		for _, s := range g.Stores {
			names = append(names, s.Changelog)
		}
	}
	return names
}

func BenchmarkFilter(b *testing.B) { benchmarkQuery(b, filterQuery) }

func BenchmarkGroup(b *testing.B) {
	benchmarkQuery(b, func(t testing.TB) *plan.Query { return groupQuery(t, tumbling) })
}

func BenchmarkJoin(b *testing.B) { benchmarkQuery(b, joinQuery) }
