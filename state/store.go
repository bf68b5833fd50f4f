package state

import (
	"bytes"
	"maps"
	"slices"
)

// Store is the state of one operator in one task: a table, or a table a window,
// and named small values. It is not safe for concurrent use.
type Store struct {
	name     string
	number   uint16
	layout   Layout
	windowed bool
	durable  bool // rows go to a backend, and may be read back from it
	task     *Task

	tables map[int64]*Table
	starts []int64 // of tables, ascending; replaced, never changed
	recent *Table

	noted   []*Table // tables with changes in this transaction, by first change
	spare   []undo
	dropped []*Table // windows dropped in this transaction

	meta       map[string][]byte
	metaBefore map[string][]byte // values at the last commit of names changed since
	metaDirty  map[string]bool   // names newer than the backend

	latest  int64 // the greatest timestamp of a committed row
	failure error
}

func newStore(name string, layout Layout, windowed bool) *Store {
	s := &Store{name: name, layout: layout, windowed: windowed}
	s.clear()
	return s
}

// clear forgets everything.
func (s *Store) clear() {
	s.tables, s.starts, s.recent = map[int64]*Table{}, nil, nil
	s.noted, s.dropped = nil, nil
	s.meta, s.metaBefore, s.metaDirty = map[string][]byte{}, map[string][]byte{}, map[string]bool{}
	s.latest, s.failure = 0, nil
}

// Name is the store's name in its task.
func (s *Store) Name() string { return s.name }

// Layout is the shape of the rows.
func (s *Store) Layout() Layout { return s.layout }

// Windowed tells whether the store has a table a window.
func (s *Store) Windowed() bool { return s.windowed }

// Table is the table of the window that starts at a time; it is made when there
// is none. A store without windows has only Table(0). The table is valid until
// its window is dropped.
func (s *Store) Table(window int64) *Table {
	if !s.windowed {
		window = 0
	}
	if s.recent != nil && s.recent.window == window {
		return s.recent
	}
	t := s.tables[window]
	if t == nil {
		t = newTable(s, window)
		s.put(t)
	}
	s.recent = t
	return t
}

// Lookup is the table of a window, nil when there is none.
func (s *Store) Lookup(window int64) *Table { return s.tables[window] }

func (s *Store) put(t *Table) {
	s.tables[t.window] = t
	if at, found := slices.BinarySearch(s.starts, t.window); !found {
		s.starts = slices.Insert(slices.Clone(s.starts), at, t.window)
	}
}

func (s *Store) take(window int64) *Table {
	t := s.tables[window]
	delete(s.tables, window)
	if at, found := slices.BinarySearch(s.starts, window); found {
		s.starts = slices.Delete(slices.Clone(s.starts), at, at+1)
	}
	if s.recent == t {
		s.recent = nil
	}
	return t
}

// Windows are the starts of all windows that have a table, ascending. The slice
// does not change when windows come and go, and must not be changed.
func (s *Store) Windows() []int64 { return s.starts }

// DropWindow forgets a window with all its rows, in constant time. A rollback
// brings it back. A store without windows has none to drop.
func (s *Store) DropWindow(start int64) {
	if !s.windowed {
		return
	}
	if t := s.take(start); t != nil {
		s.dropped = append(s.dropped, t)
	}
}

// Meta is the value of a name, nil when it has none. It must not be changed.
func (s *Store) Meta(name string) []byte { return s.meta[name] }

// SetMeta gives a name a copy of value; nil takes the name away. Meant for a
// few small values such as the stream time.
func (s *Store) SetMeta(name string, value []byte) {
	old, had := s.meta[name]
	if had && value != nil && bytes.Equal(old, value) {
		return
	}
	if _, changed := s.metaBefore[name]; !changed {
		s.metaBefore[name] = old
	}
	if value == nil {
		delete(s.meta, name)
		return
	}
	s.meta[name] = append([]byte{}, value...)
}

// Touched calls yield for each row changed since the last commit, windows in the
// order of their first change, rows too.
func (s *Store) Touched(yield func(t *Table, row Row)) {
	for _, t := range s.noted {
		if s.tables[t.window] != t {
			continue
		}
		for _, row := range t.touched {
			yield(t, row)
		}
	}
}

// Changed tells whether anything changed since the last commit.
func (s *Store) Changed() bool {
	if len(s.dropped) > 0 || len(s.metaBefore) > 0 {
		return true
	}
	return slices.ContainsFunc(s.noted, func(t *Table) bool { return len(t.touched) > 0 })
}

// note lists a table as part of the transaction.
func (s *Store) note(t *Table) {
	s.noted = append(s.noted, t)
	t.noted = true
	if last := len(s.spare) - 1; last >= 0 {
		t.undo, s.spare = s.spare[last], s.spare[:last]
	}
}

// finish ends the transaction of all its tables.
func (s *Store) finish(end func(*Table)) {
	for _, t := range s.noted {
		end(t)
		s.spare = append(s.spare, t.undo)
		t.undo, t.noted = undo{}, false
	}
	clear(s.noted)
	s.noted = s.noted[:0]
	s.failure = nil
}

// Commit makes all changes since the last commit permanent. It is called when
// the transaction with the records of Changes has committed.
func (s *Store) Commit() {
	for _, t := range s.dropped {
		s.forget(t)
	}
	clear(s.dropped)
	s.dropped = s.dropped[:0]
	s.finish((*Table).commit)
	if s.durable {
		for name := range s.metaBefore {
			s.metaDirty[name] = true
		}
	}
	clear(s.metaBefore)
}

// Rollback takes all changes since the last commit back.
func (s *Store) Rollback() {
	// The last drop of a window is undone first, so that what stands in the end
	// is the table of the last commit.
	for _, t := range slices.Backward(s.dropped) {
		s.take(t.window)
		s.put(t)
	}
	clear(s.dropped)
	s.dropped = s.dropped[:0]
	s.finish((*Table).rollback)
	for name, value := range s.metaBefore {
		if value == nil {
			delete(s.meta, name)
		} else {
			s.meta[name] = value
		}
	}
	clear(s.metaBefore)
}

// fail keeps the first fault of a call that has no error; Changes returns it.
func (s *Store) fail(err error) {
	if s.failure == nil {
		s.failure = err
	}
}

// MemoryBytes is about how much memory the store's rows take.
func (s *Store) MemoryBytes() int64 {
	total := int64(0)
	for _, t := range s.tables {
		total += t.memory()
	}
	for _, t := range s.dropped {
		total += t.memory()
	}
	return total
}

// metaNames are the names in order, for what must not depend on map order.
func metaNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
