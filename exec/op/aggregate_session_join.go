package op

import (
	"encoding/binary"
	"math"
	"slices"

	"millrace/exec/column"
	"millrace/state"
)

// session is a session in the store.
type session struct {
	table      *state.Table
	row        state.Row
	start, end int64
}

// readSession reads the session of a row; ok is false where none exists.
func readSession(table *state.Table, row state.Row) (s session, ok bool) {
	if row < 0 || !table.Exists(row) {
		return session{}, false
	}
	s = session{table: table, row: row}
	s.start, s.end = bounds(table.Fixed(row))
	return s, true
}

// bounds reads start and end of a session from the fixed part of its row.
func bounds(fixed []byte) (start, end int64) {
	return int64(binary.LittleEndian.Uint64(fixed)), int64(binary.LittleEndian.Uint64(fixed[8:]))
}

func putBounds(fixed []byte, start, end int64) {
	binary.LittleEndian.PutUint64(fixed, uint64(start))
	binary.LittleEndian.PutUint64(fixed[8:], uint64(end))
}

// locate looks up, for the whole batch, the rows of the slots of timestamps and,
// where these do not hold a session that began before, of the slots before.
func (a *sessionAggregate) locate(b *column.Batch) error {
	a.createdFirst, a.createdLast = math.MaxInt64, -1
	if err := a.at.locate(); err != nil {
		return err
	}
	a.before.begin()
	for k := range a.rows {
		r := &a.rows[k]
		if r.at < 0 {
			continue
		}
		timestamp := b.Times[r.row]
		at, found := readSession(a.at.tables[a.at.tableOf[r.at]], a.at.rows[r.at])
		if found && at.start <= timestamp && at.end >= a.window.Earliest(r.streamTime) {
			continue
		}
		slot, ok := a.slotBefore(timestamp)
		if !ok {
			continue
		}
		start := a.slots.Table(slot)
		if a.store.Lookup(start) == nil {
			continue
		}
		a.key = a.index.slotKey(a.key[:0], a.groupKey(r), a.localSlot(slot))
		a.before.keys.AppendBytes(a.key)
		r.before = int32(a.before.len())
		a.before.add(a.before.table(a.store, start), int32(a.before.keys.Len()-1), -1, r.row)
	}
	return a.before.find()
}

// slotBefore is the slot, before that of a timestamp, in which a session can end
// that a row reaches.
func (a *sessionAggregate) slotBefore(timestamp int64) (slot int64, ok bool) {
	if timestamp < a.window.Gap {
		return 0, false
	}
	slot = a.slots.Slot(timestamp - a.window.Gap)
	return slot, slot != a.slots.Slot(timestamp)
}

// join finds the sessions that a row joins, by start. No session that ends before
// earliest is joined.
func (a *sessionAggregate) join(r *sessionRow, timestamp, earliest int64) error {
	a.joined = a.joined[:0]
	at, found := session{}, false
	if r.at >= 0 {
		at, found = readSession(a.at.tables[a.at.tableOf[r.at]], a.at.rows[r.at])
		found = found && at.end >= earliest
		if !found || at.start > timestamp {
			left, ok, err := a.sessionBefore(r, timestamp)
			if err != nil {
				return err
			}
			if ok && left.end >= earliest && a.window.Reaches(left.start, left.end, timestamp) {
				a.joined = append(a.joined, left)
			}
		}
		if found && a.window.Reaches(at.start, at.end, timestamp) {
			a.joined = append(a.joined, at)
		}
	}
	if found && at.end >= timestamp {
		return nil
	}
	right, ok, err := a.sessionAfter(r, timestamp, earliest)
	if ok && a.window.Reaches(right.start, right.end, timestamp) {
		a.joined = append(a.joined, right)
	}
	return err
}

// sessionBefore is the session that ends in the slot before that of the row's
// timestamp. What was looked up for the batch counts, unless a session has come to
// that slot since.
func (a *sessionAggregate) sessionBefore(r *sessionRow, timestamp int64) (s session, ok bool, err error) {
	slot, ok := a.slotBefore(timestamp)
	if !ok {
		return session{}, false, nil
	}
	if r.before >= 0 {
		row := a.before.rows[r.before]
		if row >= 0 || slot < a.createdFirst || slot > a.createdLast {
			s, ok = readSession(a.before.tables[a.before.tableOf[r.before]], row)
			return s, ok, nil
		}
	}
	table := a.store.Lookup(a.slots.Table(slot))
	if table == nil {
		return session{}, false, nil
	}
	return a.index.session(table, a.groupKey(r), a.localSlot(slot))
}

// sessionAfter is the first session of a row's group that ends in a slot behind
// that of its timestamp; of a row without a slot, in its own too. It does not end
// before earliest.
func (a *sessionAggregate) sessionAfter(r *sessionRow, timestamp, earliest int64) (s session, ok bool, err error) {
	from, last := a.slots.Slot(timestamp)+1, a.slots.Slot(r.streamTime)
	if r.at < 0 {
		from = a.slots.Slot(max(earliest, 0))
	}
	if from > last {
		return session{}, false, nil
	}
	key := a.groupKey(r)
	starts := a.store.Windows()
	first, _ := slices.BinarySearch(starts, a.slots.Table(from))
	for _, start := range starts[first:] {
		if start > r.streamTime {
			break
		}
		table := a.store.Lookup(start)
		s, ok, err = a.index.next(table, key, max(from-a.slots.First(start), 0))
		for ok && s.end < earliest {
			s, ok, err = a.index.next(table, key, a.localSlot(a.slots.Slot(s.end))+1)
		}
		if ok || err != nil {
			return s, ok, err
		}
	}
	return session{}, false, nil
}
