package task

import (
	"errors"
	"testing"

	"millrace/exec/column"
)

func TestBatchesShrinkAndGrow(t *testing.T) {
	in := &Input{reader: &source{}, from: 0, to: 1000}
	task := &Task{config: Config{BatchRows: 1000}, batches: batchSize{rows: 1000}, current: in}
	arena := &in.reader.frame().arena
	for arena.Taken() < batchMemory-1<<20 {
		arena.Alloc(1 << 20)
	}
	for _, want := range []int{62, 3, 1} {
		if err := task.shrinkBatches(); Classify(err) != Retry || task.batches.rows != want {
			t.Fatalf("%v, batches of %d, want %d", err, task.batches.rows, want)
		}
		task.growBatches(in)
		if task.batches.rows != want {
			t.Fatalf("batches of %d grew to %d after one that needed much", want, task.batches.rows)
		}
		in.to = task.batches.rows
	}
	if err := task.shrinkBatches(); !errors.Is(err, column.ErrBatchTooLarge) || Classify(err) != Drop {
		t.Fatalf("a single record: %v", err)
	}
	arena.Reset()
	pause := 4 * firstPause // it was too large three times
	for range pause {
		task.growBatches(in)
	}
	if task.batches.rows != 1 {
		t.Errorf("batches of %d so soon", task.batches.rows)
	}
	for range 10 {
		task.growBatches(in)
	}
	if task.batches.rows != 1000 {
		t.Errorf("batches of %d after many that needed little", task.batches.rows)
	}
}
