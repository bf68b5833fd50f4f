package bench

import (
	"fmt"
	"testing"
	"time"
)

func newPipeline(t testing.TB, w Work, options Options) *Pipeline {
	t.Helper()
	p, err := New(t.Context(), w, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// push takes whole runs through until n records have passed.
func push(t testing.TB, p *Pipeline, n int) {
	t.Helper()
	for done := 0; done < n; {
		count, err := p.Push(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done += count
	}
}

// BenchmarkWork has an order as its operation.
func BenchmarkWork(b *testing.B) {
	for _, w := range Works() {
		for _, rows := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("%s/batch=%d", w.Name, rows), func(b *testing.B) {
				p := newPipeline(b, w, Options{BatchRows: rows})
				push(b, p, 2*CommitRecords)
				b.ReportAllocs()
				b.ResetTimer()
				before := CPUTime()
				push(b, p, b.N)
				used := CPUTime() - before
				b.ReportMetric(float64(used)/float64(time.Nanosecond)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// TestWorksPutOut checks that the works do what is measured: the answers do not
// depend on the batch size, and a filter passes its share.
func TestWorksPutOut(t *testing.T) {
	const records = 20_000
	for _, w := range Works() {
		t.Run(w.Name, func(t *testing.T) {
			var first [2]int64
			for n, rows := range []int{100, 1000} {
				p := newPipeline(t, w, Options{BatchRows: rows, Framed: rows == 1000, Orders: records})
				before, _ := p.Out()
				push(t, p, records)
				if err := p.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				out, bytes := p.Out()
				out -= before
				if n == 0 {
					first = [2]int64{out, bytes}
				}
				if first != [2]int64{out, bytes} {
					t.Errorf("batches of %d: %d records of %d bytes, want %d of %d", rows, out, bytes, first[0], first[1])
				}
			}
			least := map[string]int64{
				Filter(10).Name: records / 100 * 9, Filter(60).Name: records / 100 * 59, Filter(100).Name: records, Join().Name: records,
				Tumble(1000, true).Name: 2000, Tumble(1000, false).Name: records + 1000,
				Tumble(100_000, true).Name: 34_000, Tumble(100_000, false).Name: records + 17_000,
				Slide(1000, true).Name: records, Slide(1000, false).Name: 5 * records, Slide(100_000, true).Name: records,
				Visit(1000, true).Name: 2000, Visit(1000, false).Name: records + 10_000,
				Visit(100_000, true).Name: 18_000, Visit(100_000, false).Name: records + 1000,
			}
			// An order makes two sliding windows, and changes those that hold it.
			most := map[string]int64{
				Slide(1000, true).Name: 3 * records, Slide(1000, false).Name: 16 * records, Slide(100_000, true).Name: 3 * records,
			}
			if first[0] < least[w.Name] || first[0] > max(2*records+1, most[w.Name]) {
				t.Errorf("%d records, want at least %d", first[0], least[w.Name])
			}
		})
	}
}
