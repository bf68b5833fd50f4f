package state_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"millrace/state"
	"millrace/state/badger"
)

const batchRows = 1000

// processTime is the processor time of the process: unlike the clock it does not
// count what other processes take.
func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// keyBatches are keys of 17 bytes in a random order, in batches.
func keyBatches(distinct, batches int) []*state.Keys {
	r := rand.New(rand.NewPCG(3, 3))
	list := make([]*state.Keys, batches)
	for i := range list {
		list[i] = new(state.Keys)
		for range batchRows {
			list[i].AppendBytes(fmt.Appendf(nil, "customer-%08d", r.IntN(distinct)))
		}
	}
	return list
}

// refill makes keys as if they were just encoded, so that hashing is measured.
func refill(dst, src *state.Keys) {
	dst.Reset()
	for n := range src.Len() {
		dst.AppendBytes(src.Key(n))
	}
}

func update(t *state.Table, keys *state.Keys, rows []state.Row) error {
	if err := t.FindOrAdd(keys, nil, rows); err != nil {
		return err
	}
	for _, row := range rows {
		t.Touch(row)
		cells := t.Fixed(row)
		binary.LittleEndian.PutUint64(cells, binary.LittleEndian.Uint64(cells)+1)
		binary.LittleEndian.PutUint64(cells[8:], binary.LittleEndian.Uint64(cells[8:])+uint64(row))
	}
	return nil
}

// BenchmarkUpdate is one batch of 1000 records: keys copied and hashed, rows
// found, counted up; a commit without changelog each 200 batches.
func BenchmarkUpdate(b *testing.B) {
	for _, distinct := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", distinct), func(b *testing.B) {
			task, err := state.Open(state.Options{})
			if err != nil {
				b.Fatal(err)
			}
			table := task.AddStore("s", state.Layout{Fixed: 32}, false).Table(0)
			batches := keyBatches(distinct, 2000)
			rows := make([]state.Row, batchRows)
			var keys state.Keys
			step := func(i int) {
				refill(&keys, batches[i%len(batches)])
				if err := update(table, &keys, rows); err != nil {
					b.Fatal(err)
				}
				if i%200 == 199 {
					task.Commit()
				}
			}
			for i := range len(batches) {
				step(i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			start := processTime()
			for i := range b.N {
				step(i)
			}
			b.ReportMetric(float64(processTime()-start)/float64(b.N)/batchRows, "cpu-ns/record")
			b.ReportMetric(float64(task.MemoryBytes())/float64(distinct), "B/key")
		})
	}
}

func changelogOf(b *testing.B, distinct int) []record {
	task, err := state.Open(state.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s := task.AddStore("s", state.Layout{Fixed: 32}, false)
	rows := make([]state.Row, batchRows)
	for _, keys := range keyBatches(distinct, distinct/batchRows*2) {
		if err := update(s.Table(0), keys, rows); err != nil {
			b.Fatal(err)
		}
	}
	var log []record
	err = s.Changes(func(key, value []byte, _ int64) error {
		log = append(log, record{append([]byte{}, key...), append([]byte{}, value...)})
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return log
}

// BenchmarkRestore is one changelog of a million keys into a new store.
func BenchmarkRestore(b *testing.B) {
	log := changelogOf(b, 1_000_000)
	for b.Loop() {
		task, err := state.Open(state.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s := task.AddStore("s", state.Layout{Fixed: 32}, false)
		for _, r := range log {
			if err := s.Restore(r.key, r.value); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(log)), "ns/record")
}

// BenchmarkChanges is the changelog of a transaction with 100,000 changed rows,
// and its commit.
func BenchmarkChanges(b *testing.B) {
	task, err := state.Open(state.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s := task.AddStore("s", state.Layout{Fixed: 32}, false)
	batches := keyBatches(100_000, 300)
	rows := make([]state.Row, batchRows)
	records := 0
	for b.Loop() {
		b.StopTimer()
		for _, keys := range batches {
			if err := update(s.Table(0), keys, rows); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		err := s.Changes(func(_, _ []byte, _ int64) error {
			records++
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		task.Commit()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/row")
}

// BenchmarkCheckpoint is the time that the task's goroutine gives for a round
// of 100,000 rows in Badger, its slices waiting for nothing else.
func BenchmarkCheckpoint(b *testing.B) {
	task, err := state.Open(state.Options{Directory: b.TempDir(), OpenBackend: badger.Opener(16 << 20)})
	if err != nil {
		b.Fatal(err)
	}
	s := task.AddStore("s", state.Layout{Fixed: 32}, false)
	task.Trusted()
	batches := keyBatches(100_000, 300)
	rows := make([]state.Row, batchRows)
	for b.Loop() {
		b.StopTimer()
		for _, keys := range batches {
			if err := update(s.Table(0), keys, rows); err != nil {
				b.Fatal(err)
			}
		}
		task.Commit()
		b.StartTimer()
		for range 10 {
			if err := task.Checkpoint(nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := task.Close(true); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkYardstick does the work of BenchmarkUpdate with a Go map, without
// the bookkeeping for a rollback.
func BenchmarkYardstick(b *testing.B) {
	type aggregate struct{ cells [4]uint64 }
	for _, distinct := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", distinct), func(b *testing.B) {
			rows := map[string]int32{}
			var cells []aggregate
			batches := keyBatches(distinct, 2000)
			var keys state.Keys
			step := func(i int) {
				refill(&keys, batches[i%len(batches)])
				for n := range keys.Len() {
					row, ok := rows[string(keys.Key(n))]
					if !ok {
						row = int32(len(cells))
						rows[string(keys.Key(n))] = row
						cells = append(cells, aggregate{})
					}
					cells[row].cells[0]++
					cells[row].cells[1] += uint64(row)
				}
			}
			for i := range len(batches) {
				step(i)
			}
			b.ResetTimer()
			start := processTime()
			for i := range b.N {
				step(i)
			}
			b.ReportMetric(float64(processTime()-start)/float64(b.N)/batchRows, "cpu-ns/record")
		})
	}
}
