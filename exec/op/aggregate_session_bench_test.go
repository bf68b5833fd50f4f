package op

import (
	"fmt"
	"testing"

	"millrace/exec/column"
)

// later moves the rows that it hands on, so that time goes on when the same
// batches are pushed again.
type later struct {
	next  Operator
	span  int64
	count int64
	of    int64
	times []int64
}

func (l *later) Push(port int, b *column.Batch) error {
	l.times = append(l.times[:0], b.Times...)
	for i := range l.times {
		l.times[i] += l.count / l.of * l.span
	}
	l.count++
	moved := *b
	moved.Times = l.times
	return l.next.Push(port, &moved)
}

func (l *later) Flush() error { return nil }

// BenchmarkSession has rows a millisecond apart: with 1000 keys sessions grow for
// ever, with 100,000 three of four rows begin one. The grace is such that windows
// of the store have one slot, or 6.
func BenchmarkSession(b *testing.B) {
	for _, grace := range []int64{300_000, 86_400_000} {
		for _, keys := range []int{1000, 100_000} {
			for _, mode := range []string{"record", "commit", "final"} {
				b.Run(fmt.Sprintf("grace=%ds/keys=%d/output=%s", grace/1000, keys, mode), func(b *testing.B) {
					node := aggregateOf(stream("K STRING key, A BIGINT"), "K", sessions(30_000, grace), "COUNT", "SUM A", "MIN A", "MAX A")
					node.Final = mode == "final"
					subgraph := subgraphOf(node)
					h := newBench(b, subgraph, mode == "commit")
					list := batches(subgraph.Inputs[0].Schema(), 100, keys)
					entry := &h.pipeline.Entries[0]
					entry.Operator = &later{next: entry.Operator, span: benchBatch * int64(len(list)), of: int64(len(list))}
					measure(b, h, 0, list)
				})
			}
		}
	}
}
