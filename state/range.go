package state

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// Range calls yield with the rows of a window from a key (inclusive; nil: the
// first) to one (exclusive; nil: no end) in the order of their keys, until it
// returns false. It sorts on each call, so it is for rare use. The rows are
// valid only until yield returns; yield may change or delete its row but must
// not look up others.
func (s *Store) Range(window int64, from, to []byte, yield func(t *Table, row Row) bool) error {
	t := s.tables[window]
	if t == nil {
		return nil
	}
	rows := t.between(from, to)
	if !t.spilled {
		for _, row := range rows {
			if t.Exists(row) && !yield(t, row) {
				break
			}
		}
		return nil
	}
	return t.merge(rows, from, to, yield)
}

// between are the rows in memory, deleted ones too, in the order of their keys.
func (t *Table) between(from, to []byte) []Row {
	var rows []Row
	for row := range t.next {
		if t.header(row).flags&inUse == 0 {
			continue
		}
		key := t.Key(row)
		if bytes.Compare(key, from) >= 0 && (to == nil || bytes.Compare(key, to) < 0) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return bytes.Compare(t.Key(a), t.Key(b)) })
	return rows
}

// merge yields the rows in memory and those of the backend in one order. What
// memory has counts; a row of the backend alone is in memory for its yield only.
func (t *Table) merge(rows []Row, from, to []byte, yield func(t *Table, row Row) bool) error {
	prefix := t.appendBackendPrefix(nil)
	start := append(slices.Clone(prefix), from...)
	end := PrefixEnd(prefix)
	if to != nil {
		end = append(slices.Clone(prefix), to...)
	}
	stopped := false
	next := func(key []byte) { // yields what memory has before key, or to the end
		for !stopped && len(rows) > 0 && (key == nil || bytes.Compare(t.Key(rows[0]), key) < 0) {
			row := rows[0]
			rows = rows[1:]
			stopped = t.Exists(row) && !yield(t, row)
		}
	}
	err := t.store.task.backend.Range(start, end, func(key, value []byte) (bool, error) {
		key = key[len(prefix):]
		if next(key); stopped {
			return false, nil
		}
		if len(rows) > 0 && bytes.Equal(t.Key(rows[0]), key) {
			return true, nil
		}
		row, err := t.load(key, tagOf(maphash.Bytes(seed, key)), value)
		if err != nil {
			return false, err
		}
		stopped = !yield(t, row)
		if t.header(row).mark == 0 {
			t.remove(row)
		}
		return !stopped, nil
	})
	if err == nil {
		next(nil)
	}
	return err
}
