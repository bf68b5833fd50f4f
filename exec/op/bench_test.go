package op

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/planner/plan"
	"millrace/sql/types"
)

const benchBatch = 1000

// discard is a sink that only counts.
type discard struct{ rows int }

func (d *discard) Push(_ int, b *column.Batch) error {
	d.rows += len(b.Selection)
	return nil
}

func (d *discard) Flush() error { return nil }

func newBench(b *testing.B, subgraph *plan.Subgraph, holdBack bool) *harness {
	b.Helper()
	h := newHarness(b, subgraph, holdBack)
	var err error
	if h.pipeline, err = Build(subgraph, h.env, &discard{}); err != nil {
		b.Fatal(err)
	}
	return h
}

// batches are n batches of rows: a text key of some count, a number, and times
// that rise by a millisecond a row.
func batches(schema plan.Schema, n, keys int) []*column.Batch {
	random := rand.New(rand.NewPCG(1, 2))
	arena := &column.Arena{}
	list := make([]*column.Batch, n)
	for k := range list {
		records := make([]record, benchBatch)
		for i := range records {
			r := record{time: int64(k*benchBatch + i), present: true}
			for _, c := range schema.Columns {
				if c.Type.Kind == types.KindString {
					r.values = append(r.values, fmt.Sprintf("customer-%08d", random.IntN(keys)))
				} else {
					r.values = append(r.values, random.Int64N(int64(keys)))
				}
			}
			records[i] = r
		}
		list[k] = makeBatch(schema, records, arena)
	}
	return list
}

// measure pushes batches to an input round and round; a commit follows each 200.
func measure(b *testing.B, h *harness, input int, list []*column.Batch) {
	b.Helper()
	pushed := 0
	one := func() {
		batch := list[pushed%len(list)]
		batch.SelectAll()
		if err := h.pipeline.Push(input, batch); err != nil {
			b.Fatal(err)
		}
		if pushed++; pushed%200 == 0 {
			if err := h.commit(); err != nil {
				b.Fatal(err)
			}
		}
	}
	for range 2 * len(list) {
		one()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		one()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchBatch, "ns/row")
}

func BenchmarkAggregate(b *testing.B) {
	calls := []string{"COUNT", "SUM A", "MIN A", "MAX A"}
	windows := map[string]*plan.Window{"tumbling": tumbling(60_000, 1<<40), "unwindowed": nil}
	for _, windowed := range []string{"tumbling", "unwindowed"} {
		for _, keys := range []int{1000, 100_000} {
			for _, holdBack := range []bool{true, false} {
				b.Run(fmt.Sprintf("%s/keys=%d/holdback=%v", windowed, keys, holdBack), func(b *testing.B) {
					subgraph := subgraphOf(aggregateOf(stream("K STRING key, A BIGINT"), "K", windows[windowed], calls...))
					h := newBench(b, subgraph, holdBack)
					measure(b, h, 0, batches(subgraph.Inputs[0].Schema(), 100, keys))
				})
			}
		}
	}
}

// BenchmarkGrowingState puts about 100,000 values into the state of one group, with
// a commit after each 10,000. Those of COLLECT_SET are 2,000 different ones, those
// of the sum all different and in no order.
func BenchmarkGrowingState(b *testing.B) {
	for _, call := range []string{"COLLECT_LIST A", "COLLECT_SET A", "SUM DISTINCT A"} {
		different := int64(2000)
		if call == "SUM DISTINCT A" {
			different = 1 << 17
		}
		b.Run(call, func(b *testing.B) {
			subgraph := subgraphOf(aggregateOf(stream("K STRING key, A BIGINT"), "K", nil, call))
			list := batches(subgraph.Inputs[0].Schema(), 100, 1)
			number := int64(0)
			for _, batch := range list {
				for i := range batch.Len {
					batch.Columns[1].SetInt(i, number*7919%different)
					number++
				}
			}
			b.ReportAllocs()
			for range b.N {
				h := newBench(b, subgraph, true)
				for k, batch := range list {
					batch.SelectAll()
					if err := h.pipeline.Push(0, batch); err != nil {
						b.Fatal(err)
					}
					if k%10 == 9 {
						if err := h.commit(); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(number), "ns/row")
		})
	}
}

func BenchmarkJoinStreamTable(b *testing.B) {
	const keys = 100_000
	right := table("K STRING key, NAME STRING, CITY STRING, AGE BIGINT, SCORE BIGINT")
	right.Output.KeepsBefore = false
	subgraph := subgraphOf(joinOf(plan.InnerJoin, stream("K STRING key, A BIGINT"), "K", right))
	h := newBench(b, subgraph, false)
	arena := &column.Arena{}
	for at := 0; at < keys; at += benchBatch {
		records := make([]record, benchBatch)
		for i := range records {
			name := fmt.Sprintf("customer-%08d", at+i)
			records[i] = record{present: true, values: []any{name, "name of " + name, "city of " + name, int64(at), int64(i)}}
		}
		if err := h.pipeline.Push(1, makeBatch(right.Output, records, arena)); err != nil {
			b.Fatal(err)
		}
	}
	measure(b, h, 0, batches(subgraph.Inputs[0].Schema(), 100, keys))
}

func BenchmarkMaterialize(b *testing.B) {
	subgraph := subgraphOf(table("K STRING key, NAME STRING, AGE BIGINT"))
	h := newBench(b, subgraph, false)
	measure(b, h, 0, batches(subgraph.Inputs[0].Schema(), 100, 100_000))
}

func BenchmarkFilterProject(b *testing.B) {
	s := stream("K STRING key, A BIGINT, B STRING")
	f := filterOf(s, "A", 400)
	p := projectOf(f,
		plan.NamedExpr{Name: "TWICE", Expr: must(expr.NewArithmetic("*", columnExpr(f, "A"), number(2)))},
		plan.NamedExpr{Name: "B", Expr: columnExpr(f, "B")})
	subgraph := subgraphOf(p)
	h := newBench(b, subgraph, false)
	measure(b, h, 0, batches(subgraph.Inputs[0].Schema(), 20, 1000))
}
