package op

import (
	"fmt"

	"millrace/exec/column"
	"millrace/planner/plan"
	"millrace/sql/types"
	"millrace/state"
)

// materialize keeps the rows of a table in a store, by the encoded key columns
// (with the bounds of a windowed key), and fills in the row before each change.
// A stored row's variable part is its other columns, in order, as
// column.AppendRow writes them; its time is the record's.
//
// A delete of a row that does not exist is dropped.
type materialize struct {
	next  Operator // nil where nothing wants the changes
	store *state.Store
	key   []int
	value []int
	types []*types.Type // of value

	out           column.Batch
	keyColumns    []*column.Vector
	valueColumns  []*column.Vector
	formerColumns []*column.Vector // of value, filled for the rows before
	before        []*column.Vector
	presentBefore column.Bitmap
	keys          state.Keys
	rows          []state.Row
	selection     []int32
	encoded       []byte
}

func newMaterialize(node *plan.Source, env *Environment, next Operator) (*materialize, error) {
	store, err := env.Store(node.Store)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", node.Name, err)
	}
	m := &materialize{next: next, store: store, key: keyColumns(&node.Output)}
	m.value, m.types = valueColumns(&node.Output)
	m.keyColumns = make([]*column.Vector, len(m.key))
	m.valueColumns = make([]*column.Vector, len(m.value))
	m.before = make([]*column.Vector, len(node.Output.Columns))
	for _, t := range m.types {
		m.formerColumns = append(m.formerColumns, column.New(t, 0))
	}
	return m, nil
}

// Push implements Operator.
func (m *materialize) Push(_ int, b *column.Batch) error {
	if len(b.Selection) == 0 {
		return nil
	}
	table := m.store.Table(0)
	if err := m.find(table, b); err != nil {
		return err
	}
	m.prepare(b)
	m.selection = m.selection[:0]
	for n, i := range b.Selection {
		changed, err := m.change(table, m.rows[n], b, int(i))
		if err != nil {
			return err
		}
		if changed {
			m.selection = append(m.selection, i)
		}
	}
	if m.next == nil || len(m.selection) == 0 {
		return nil
	}
	m.out = *b
	m.out.Selection, m.out.Before, m.out.PresentBefore = m.selection, m.before, m.presentBefore
	return m.next.Push(0, &m.out)
}

// find sets rows[n] to the stored row of the n-th selected row of the batch.
func (m *materialize) find(table *state.Table, b *column.Batch) error {
	for k, c := range m.key {
		m.keyColumns[k] = b.Columns[c]
	}
	m.keys.Reset()
	for _, i := range b.Selection {
		m.keys.Append(m.keyColumns, int(i))
	}
	m.rows = sized(m.rows, len(b.Selection))
	if err := table.FindOrAdd(&m.keys, nil, m.rows); err != nil {
		return fmt.Errorf("store %s: %w", m.store.Name(), err)
	}
	return nil
}

// prepare makes the vectors of the rows before ready for the batch.
func (m *materialize) prepare(b *column.Batch) {
	for k, c := range m.value {
		m.valueColumns[k] = b.Columns[c]
	}
	if m.next == nil {
		return
	}
	for k, c := range m.value {
		m.formerColumns[k].Reset(b.Len)
		m.before[c] = m.formerColumns[k]
	}
	for _, c := range m.key {
		m.before[c] = b.Columns[c]
	}
	m.presentBefore = m.presentBefore.Resize(b.Len)
	clear(m.presentBefore)
}

// change applies one change to the store and tells whether there is one.
func (m *materialize) change(table *state.Table, row state.Row, b *column.Batch, i int) (bool, error) {
	existed := table.Exists(row)
	if !existed && !b.Present.Get(i) {
		return false, nil
	}
	if existed && m.next != nil {
		if err := m.readBefore(table, row, b, i); err != nil {
			return false, err
		}
	}
	if b.Present.Get(i) {
		m.encoded = column.AppendRow(m.encoded[:0], m.valueColumns, i)
		table.Touch(row)
		table.SetVariable(row, m.encoded)
	} else {
		table.Delete(row)
	}
	table.SetTime(row, b.Times[i])
	return true, nil
}

// readBefore decodes the stored row into the vectors of the rows before. It is
// copied first, since a later change in the same batch may overwrite it.
func (m *materialize) readBefore(table *state.Table, row state.Row, b *column.Batch, i int) error {
	stored := table.Variable(row)
	kept := b.Arena.Alloc(len(stored))
	copy(kept, stored)
	if err := column.DecodeRow(kept, m.formerColumns, m.types, i); err != nil {
		return fmt.Errorf("store %s: row %x: %w", m.store.Name(), table.Key(row), err)
	}
	m.presentBefore.Set(i)
	return nil
}

// Flush implements Operator.
func (m *materialize) Flush() error { return nil }

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}
