package op

import (
	"fmt"
	"testing"
)

// BenchmarkSliding takes rows a millisecond apart into windows that hold ten rows
// of a group; a commit follows each 50 batches.
func BenchmarkSliding(b *testing.B) {
	for _, keys := range []int{10, 1000, 100_000} {
		for _, mode := range []string{"record", "commit", "final"} {
			b.Run(fmt.Sprintf("keys=%d/output=%s", keys, mode), func(b *testing.B) {
				size := int64(10 * keys)
				node := aggregateOf(stream("K STRING key, A BIGINT"), "K", sliding(size, size), "COUNT", "SUM A", "MIN A", "MAX A")
				node.Final = mode == "final"
				subgraph := subgraphOf(node)
				h := newBench(b, subgraph, mode == "commit")
				list := batches(subgraph.Inputs[0].Schema(), 100, keys)
				pushed := 0
				one := func() {
					batch := list[pushed%len(list)]
					batch.SelectAll()
					if err := h.pipeline.Push(0, batch); err != nil {
						b.Fatal(err)
					}
					for i := range batch.Times {
						batch.Times[i] += int64(len(list)) * benchBatch
					}
					if pushed++; pushed%50 == 0 {
						if err := h.commit(); err != nil {
							b.Fatal(err)
						}
					}
				}
				for range 4 * len(list) {
					one()
				}
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					one()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchBatch, "ns/row")
			})
		}
	}
}
