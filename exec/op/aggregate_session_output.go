package op

import (
	"bytes"
	"fmt"
	"slices"

	"millrace/exec/column"
	"millrace/state"
)

// storeRow names a row of a store in a transaction.
type storeRow struct {
	table *state.Table
	row   state.Row
}

// sessionOutput makes the batches that an aggregation over sessions puts out.
type sessionOutput struct {
	*output
	a    *sessionAggregate
	size int // rows of a batch, at most
	n    int // rows in the batch
}

// expect says how many rows will come.
func (o *sessionOutput) expect(rows int) { o.size = max(1, min(rows, column.MaxRows)) }

// row is the number of a new row of the batch, which is pushed first if it is
// full.
func (o *sessionOutput) row(time, start, end int64) (int, error) {
	if o.n == o.size {
		if err := o.push(); err != nil {
			return 0, err
		}
	}
	if o.n == 0 {
		o.arena.Reset()
		o.begin(o.size)
		o.batch.Arena = &o.arena
		o.offsets, o.headers = o.offsets[:0], o.headers[:0]
	}
	k := o.n
	o.n++
	o.batch.Times[k] = time
	o.bounds[0].SetInt(k, start)
	o.bounds[1].SetInt(k, end)
	return k, nil
}

// push hands the batch on, if it has rows.
func (o *sessionOutput) push() error {
	if o.n == 0 {
		return nil
	}
	b := &o.batch
	b.Len, b.Selection = o.n, b.Selection[:o.n]
	if len(o.offsets) == o.n {
		b.Offsets = o.offsets
	}
	if len(o.headers) == o.n {
		b.Headers = o.headers
	}
	o.n = 0
	return o.a.next.Push(0, b)
}

// replace puts out that row i of the batch replaces the sessions by the merged
// group, as [start, end]: a delete of each, but for a session of the row's very
// point in time, and the new session.
func (o *sessionOutput) replace(b *column.Batch, i int32, joined []session, start, end int64) error {
	inPlace := len(joined) == 1 && start == end && joined[0].start == joined[0].end
	if !inPlace {
		for _, s := range joined {
			k, err := o.caused(b, i, s.end, s.start, s.end)
			if err != nil {
				return err
			}
			o.batch.Present.SetTo(k, false)
			o.wasBefore(k, s.cells(), s.table.Variable(s.row))
		}
	}
	k, err := o.caused(b, i, end, start, end)
	if err != nil {
		return err
	}
	if inPlace {
		o.wasBefore(k, joined[0].cells(), joined[0].table.Variable(joined[0].row))
	}
	merged := &o.a.merged
	o.a.state.results(merged.cells, merged.variable, o.results, k, &o.arena, func(name string, err error) {
		o.fault(b, i, name, err)
	})
	return nil
}

// caused is a new row of the batch, with the group of row i of the input, its
// offset and headers.
func (o *sessionOutput) caused(b *column.Batch, i int32, time, start, end int64) (int, error) {
	k, err := o.row(time, start, end)
	if err != nil {
		return 0, err
	}
	for g, v := range o.groups {
		v.CopyRow(k, o.a.groupColumns[g], int(i))
		// The store's key takes -0.0 for 0.0, so the key put out must not tell
		// them apart either.
		if v.Doubles != nil && v.Doubles[k] == 0 {
			v.Doubles[k] = 0
		}
	}
	if b.Offsets != nil {
		o.offsets = append(o.offsets, b.Offsets[i])
	}
	if b.Headers != nil {
		o.headers = append(o.headers, b.Headers[i])
	}
	return k, nil
}

// wasBefore sets the row before a change, where it is handed on.
func (o *sessionOutput) wasBefore(k int, cells, variable []byte) {
	if o.before == nil {
		return
	}
	o.batch.PresentBefore.Set(k)
	o.a.state.results(cells, variable, o.former, k, &o.arena, nil)
}

// stored is a new row of the batch with the group of a row's key.
func (o *sessionOutput) stored(rowKey []byte, start, end int64) (int, error) {
	k, err := o.row(end, start, end)
	if err != nil {
		return 0, err
	}
	group := o.a.index.groupKey(rowKey)
	key := o.arena.Alloc(len(group))
	copy(key, group)
	if err := state.DecodeKey(key, o.groups, o.groupTypes, k); err != nil {
		return 0, fmt.Errorf("store %s: key %x: %w", o.a.store.Name(), key, err)
	}
	return k, nil
}

// put puts out a session as it is in the store.
func (o *sessionOutput) put(s session) (int, error) {
	k, err := o.stored(s.table.Key(s.row), s.start, s.end)
	if err != nil {
		return 0, err
	}
	o.a.state.results(s.cells(), s.table.Variable(s.row), o.results, k, &o.arena, func(name string, err error) {
		o.fault(&o.batch, int32(k), name, err)
	})
	return k, nil
}

// putOutChanged puts out what has become of each session since the last commit:
// deletes come before the sessions that stand in their place, which end no
// earlier.
func (a *sessionAggregate) putOutChanged() error {
	for _, start := range a.store.Windows() {
		table := a.store.Lookup(start)
		for _, put := range []func(*state.Table, state.Row) error{a.putOutFormer, a.putOutCurrent} {
			for rows := range slices.Chunk(table.Touched(), warmRows) {
				table.Warm(rows)
				for _, row := range rows {
					if !a.index.holdsSession(table.Key(row)) {
						continue
					}
					if err := put(table, row); err != nil {
						return err
					}
				}
			}
		}
	}
	return a.output.push()
}

// putOutFormer puts out a delete of the session that a row held at the last
// commit, unless it holds one of the same bounds.
func (a *sessionAggregate) putOutFormer(table *state.Table, row state.Row) error {
	start, end, ok := a.former(table, row)
	if !ok {
		return nil
	}
	if current, exists := readSession(table, row); exists && start == current.start && end == current.end {
		return nil
	}
	k, err := a.output.stored(table.Key(row), start, end)
	if err != nil {
		return err
	}
	a.output.batch.Present.SetTo(k, false)
	fixed, variable, _, _ := table.PreImage(row)
	a.output.wasBefore(k, fixed[sessionBounds:], variable)
	return nil
}

// putOutCurrent puts out the session that a row holds.
func (a *sessionAggregate) putOutCurrent(table *state.Table, row state.Row) error {
	current, ok := readSession(table, row)
	if !ok {
		return nil
	}
	k, err := a.output.put(current)
	if err != nil {
		return err
	}
	if start, end, ok := a.former(table, row); ok && start == current.start && end == current.end {
		fixed, variable, _, _ := table.PreImage(row)
		a.output.wasBefore(k, fixed[sessionBounds:], variable)
	}
	return nil
}

// former is the session that a row held at the last commit, if that was put out
// and is not settled.
func (a *sessionAggregate) former(table *state.Table, row state.Row) (start, end int64, ok bool) {
	fixed, _, existed, _ := table.PreImage(row)
	if !existed || a.settled[storeRow{table, row}] {
		return 0, 0, false
	}
	start, end = bounds(fixed)
	return start, end, true
}

// settle puts out what has become of a row whose session is closed, and makes
// room in it for another: that does not replace the closed one, which stays.
func (a *sessionAggregate) settle(table *state.Table, row state.Row) error {
	fixed, variable, existed, _ := table.PreImage(row)
	changed := !existed || !bytes.Equal(fixed, table.Fixed(row)) || !bytes.Equal(variable, table.Variable(row))
	if changed {
		for _, put := range []func(*state.Table, state.Row) error{a.putOutFormer, a.putOutCurrent} {
			if err := put(table, row); err != nil {
				return err
			}
		}
	}
	a.settled[storeRow{table, row}] = true
	return nil
}
