package task

import (
	"errors"
	"fmt"

	"millrace/exec/column"
	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/kafkaio/registry"
	"millrace/planner/plan"
)

// reader turns the records of one input into batches.
type reader interface {
	// read decodes records[from:to] into the frame; rows that are left out are
	// not selected but in the frame's list of skipped rows. The frame is valid
	// until the next read, and as long as the records are not released. An
	// error ends the query, unless it wraps registry.ErrUnavailable: the records
	// are then to be read again.
	read(records *kafkaio.Records, from, to int) error
	frame() *frame
}

// frame is a decoded run of records: row i of the batch is record from+i.
type frame struct {
	batch   column.Batch
	arena   column.Arena
	failed  column.Bitmap
	skipped []skippedRow
	reason  Reason // under which fail records what a decoder refuses
	bad     func(row int32, err error)
	failure error // why the run cannot be read now
	times   []int64
	rows    []int32 // scratch
}

// skippedRow is a row that is left out of the selection.
type skippedRow struct {
	row    int32
	reason Reason
	path   string
	detail string
}

// init makes the vectors of the schema.
func (f *frame) init(schema plan.Schema) {
	for _, c := range schema.Columns {
		f.batch.Columns = append(f.batch.Columns, column.New(c.Type, 0))
	}
	f.arena.Limit = batchMemory
	f.batch.Arena = &f.arena
	f.bad = func(row int32, err error) {
		if errors.Is(err, registry.ErrUnavailable) {
			f.failure = fmt.Errorf("offset %d: %w", f.batch.Offsets[row], err)
			return
		}
		skip := skippedRow{row: row, reason: f.reason, detail: err.Error()}
		if fault, ok := errors.AsType[*format.RecordError](err); ok {
			skip.path, skip.detail = fault.Path, fault.Reason
		}
		f.skip(skip)
	}
}

// begin makes the frame ready for records[from:to], all rows present.
func (f *frame) begin(records *kafkaio.Records, from, to int) {
	n := to - from
	f.arena.Reset()
	b := &f.batch
	b.Len = n
	for _, v := range b.Columns {
		v.Reset(n)
	}
	b.Present = b.Present.Resize(n)
	b.Present.Fill(n, true)
	f.failed = f.failed.Resize(n)
	f.failed.Fill(n, false)
	f.skipped = f.skipped[:0]
	f.failure = nil
	f.times = append(f.times[:0], records.Timestamps[from:to]...)
	b.Times = f.times
	b.Offsets = records.Offsets[from:to:to]
	b.Partition = records.Partition
	b.Headers = nil
	for i := from; i < min(to, len(records.Headers)); i++ {
		if records.Headers[i] != nil {
			b.Headers = records.Headers[from:to:to]
			break
		}
	}
}

// skip leaves a row out; the first reason counts.
func (f *frame) skip(s skippedRow) {
	if f.failed.Get(int(s.row)) {
		return
	}
	f.failed.Set(int(s.row))
	f.skipped = append(f.skipped, s)
}

// finish selects the rows that were not skipped.
func (f *frame) finish() {
	b := &f.batch
	b.SelectAll()
	if len(f.skipped) == 0 {
		return
	}
	kept := b.Selection[:0]
	for _, row := range b.Selection {
		if !f.failed.Get(int(row)) {
			kept = append(kept, row)
		}
	}
	b.Selection = kept
}

// part is the key or the value of a source's records.
type part struct {
	decoder format.Decoder // nil without fields
	out     []*column.Vector
}
