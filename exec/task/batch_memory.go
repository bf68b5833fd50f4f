package task

import (
	"errors"
	"fmt"

	"millrace/exec/column"
)

const (
	// batchMemory bounds what expressions may compute for one batch: texts and
	// the elements of arrays and maps.
	batchMemory = 256 << 20
	// shrinkFactor is by how much batches get smaller when one needs more. They
	// double again when one needs less than the bound by growFactor.
	shrinkFactor = 16
	growFactor   = 32
	// Before they grow, a number of batches must have passed. It doubles with
	// each that was too large.
	firstPause, longestPause = 64, 1 << 14
)

// batchSize is how many rows the batches of a task have at most.
type batchSize struct {
	rows  int
	pause int // batches before it may grow
	next  int // the pause after the next batch that is too large
}

// errSmallerBatches rolls the transaction back; what comes next does not depend
// on the size of batches.
var errSmallerBatches = errors.New("smaller batches are tried")

// shrinkBatches makes batches smaller after one that needed too much memory.
func (t *Task) shrinkBatches() error {
	rows := t.config.BatchRows
	if in := t.current; in != nil && in.to > in.from {
		rows = in.to - in.from
	}
	if rows <= 1 {
		return fmt.Errorf("%w: more than %d MB for one record", column.ErrBatchTooLarge, batchMemory>>20)
	}
	t.batches.rows = max(rows/shrinkFactor, 1)
	t.batches.pause = max(t.batches.next, firstPause)
	t.batches.next = min(2*t.batches.pause, longestPause)
	return fmt.Errorf("%w: %w", column.ErrBatchTooLarge, errSmallerBatches)
}

// growBatches makes batches larger again after one that needed little.
func (t *Task) growBatches(in *Input) {
	b := &t.batches
	switch {
	case b.rows >= t.config.BatchRows || in.reader.frame().arena.Taken() >= batchMemory/growFactor:
	case b.pause > 0:
		b.pause--
	default:
		b.rows = min(2*b.rows, t.config.BatchRows)
	}
}
