package op

import (
	"fmt"

	"millrace/exec/column"
	"millrace/planner/plan"
	"millrace/sql/types"
	"millrace/state"
)

// Scan hands the rows of a table that a store keeps to an operator, in the order
// of their keys, as if each had just come into being.
type Scan struct {
	store     *state.Store
	next      Operator
	partition int32

	key, value     []*column.Vector // of the store's rows; nil: not wanted
	keyTypes       []*types.Type
	valueTypes     []*types.Type
	time           *column.Vector // ROWTIME; nil: not wanted
	rowPartition   *column.Vector // ROWPARTITION; nil: not wanted
	before         []*column.Vector
	batch          column.Batch
	arena          column.Arena
	rows           int64
	most           int
	failure        error
	stopped        func() error
	beforePresence column.Bitmap
}

// NewScan makes a scan of the store of kept, which a subgraph's materializing
// query fills for a partition, for what reads wanted: the same table, maybe with
// fewer columns. stopped is asked now and then, and ends the scan with its error.
func NewScan(kept, wanted *plan.Source, store *state.Store, partition int32, next Operator, stopped func() error) (*Scan, error) {
	s := &Scan{store: store, next: next, partition: partition, most: column.MaxRows, stopped: stopped}
	s.batch.Columns = make([]*column.Vector, len(wanted.Output.Columns))
	s.before = make([]*column.Vector, len(wanted.Output.Columns))
	for i, c := range wanted.Output.Columns {
		s.batch.Columns[i], s.before[i] = column.New(c.Type, 0), column.New(c.Type, 0)
	}
	own := func(at int) *column.Vector {
		if at < 0 {
			return nil
		}
		return s.batch.Columns[at]
	}
	s.time, s.rowPartition = own(wanted.Pseudo.RowTime), own(wanted.Pseudo.RowPartition)
	find := func(c plan.Column) *column.Vector {
		for i, w := range wanted.Output.Columns {
			if w.Name == c.Name && s.batch.Columns[i] != s.time && s.batch.Columns[i] != s.rowPartition {
				return s.batch.Columns[i]
			}
		}
		return nil
	}
	for _, c := range keyColumns(&kept.Output) {
		s.key = append(s.key, find(kept.Output.Columns[c]))
		s.keyTypes = append(s.keyTypes, kept.Output.Columns[c].Type)
	}
	columns, kinds := valueColumns(&kept.Output)
	for _, c := range columns {
		s.value = append(s.value, find(kept.Output.Columns[c]))
	}
	s.valueTypes = kinds
	return s, s.complete()
}

// complete refuses columns that the store does not have.
func (s *Scan) complete() error {
	filled := map[*column.Vector]bool{s.time: true, s.rowPartition: true}
	for _, v := range append(append([]*column.Vector{}, s.key...), s.value...) {
		filled[v] = true
	}
	for _, v := range s.batch.Columns {
		if !filled[v] {
			return fmt.Errorf("store %s does not hold all columns that are wanted", s.store.Name())
		}
	}
	return nil
}

// Run hands on all rows and counts them.
func (s *Scan) Run() (rows int64, err error) {
	s.begin()
	err = s.store.Range(0, nil, nil, func(t *state.Table, row state.Row) bool {
		if s.failure = s.add(t, row); s.failure == nil && s.batch.Len == s.most {
			s.failure = s.push()
		}
		return s.failure == nil
	})
	if err == nil {
		err = s.failure
	}
	if err == nil {
		err = s.push()
	}
	return s.rows, err
}

// begin makes an empty batch.
func (s *Scan) begin() {
	s.arena.Reset()
	for i := range s.batch.Columns {
		s.batch.Columns[i].Reset(s.most)
		s.before[i].Reset(s.most)
	}
	s.batch.Len, s.batch.Times = 0, s.batch.Times[:0]
}

// add copies a row of the store to the batch: its views end with the call.
func (s *Scan) add(t *state.Table, row state.Row) error {
	i := s.batch.Len
	key, variable := t.Key(row), t.Variable(row)
	kept := s.arena.Alloc(len(key) + len(variable))
	copy(kept[copy(kept, key):], variable)
	if err := state.DecodeKey(kept[:len(key)], s.key, s.keyTypes, i); err != nil {
		return fmt.Errorf("store %s: key %x: %w", s.store.Name(), key, err)
	}
	if err := column.DecodeRow(kept[len(key):], s.value, s.valueTypes, i); err != nil {
		return fmt.Errorf("store %s: row %x: %w", s.store.Name(), key, err)
	}
	if s.time != nil {
		s.time.SetInt(i, t.Time(row))
	}
	if s.rowPartition != nil {
		s.rowPartition.SetInt(i, int64(s.partition))
	}
	s.batch.Times = append(s.batch.Times, t.Time(row))
	s.batch.Len++
	return nil
}

// push hands the batch on and begins the next.
func (s *Scan) push() error {
	if s.batch.Len == 0 {
		return nil
	}
	if err := s.stopped(); err != nil {
		return err
	}
	b := s.batch
	b.Present = s.batch.Present.Resize(b.Len)
	b.Present.Fill(b.Len, true)
	s.batch.Present = b.Present
	s.beforePresence = s.beforePresence.Resize(b.Len)
	clear(s.beforePresence)
	b.Before, b.PresentBefore = s.before, s.beforePresence
	b.Arena, b.Partition = &s.arena, s.partition
	b.SelectAll()
	s.batch.Selection = b.Selection
	s.rows += int64(b.Len)
	if err := s.next.Push(0, &b); err != nil {
		return err
	}
	s.begin()
	return nil
}
