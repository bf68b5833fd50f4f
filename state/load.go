package state

import (
	"hash/maphash"
	"slices"
)

// budgetCheckRows is how many rows are loaded between looks at the budget.
const budgetCheckRows = 4096

// PrefixEnd is the least key behind all that start with prefix, nil when there
// is none.
func PrefixEnd(prefix []byte) []byte {
	for i, b := range slices.Backward(prefix) {
		if b != 0xff {
			end := slices.Clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}

// loadAll reads the local copy into the stores. What does not fit the budget
// stays in the backend.
func (t *Task) loadAll() error {
	if err := t.position.checkStores(t.stores); err != nil {
		return err
	}
	t.written = map[string]int64{}
	for i, s := range t.stores {
		if err := t.loadStore(s); err != nil {
			return err
		}
		t.written[s.name] = t.position.Stores[i].Position
	}
	return nil
}

func (t *Task) loadStore(s *Store) error {
	prefix := s.appendBackendStore(nil)
	end := PrefixEnd(prefix)
	var next []byte
	loaded := 0
	err := t.backend.Range(prefix, end, func(key, value []byte) (bool, error) {
		table, err := s.loadRecord(key[len(prefix):], value)
		if err != nil {
			return false, err
		}
		if loaded++; loaded%budgetCheckRows != 0 || table == nil {
			return true, nil
		}
		if t.report(); t.excess() > 0 {
			table.spilled = true
			next = PrefixEnd(table.appendBackendPrefix(nil))
			return false, nil
		}
		return true, nil
	})
	if err != nil || next == nil {
		return err
	}
	return t.loadWindows(s, next, end)
}

// loadWindows makes the windows from a backend key on known, without their rows,
// and loads the metadata.
func (t *Task) loadWindows(s *Store, from, end []byte) error {
	prefix := s.appendBackendStore(nil)
	for from != nil {
		var next []byte
		err := t.backend.Range(from, end, func(key, value []byte) (bool, error) {
			rest := key[len(prefix):]
			if len(rest) > windowBytes && rest[0] == kindWindow && s.windowed {
				table := s.Table(decodeWindow(rest[1:]))
				table.spilled = true
				next = PrefixEnd(table.appendBackendPrefix(nil))
				return false, nil
			}
			_, err := s.loadRecord(rest, value)
			return true, err
		})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// loadRecord takes one record of the backend, its key without the store, into
// memory. It returns the table of a row, nil for metadata.
func (s *Store) loadRecord(key, value []byte) (*Table, error) {
	var t *Table
	switch {
	case len(key) > 0 && key[0] == kindRow && !s.windowed:
		t, key = s.Table(0), key[1:]
	case len(key) > windowBytes && key[0] == kindWindow && s.windowed:
		t, key = s.Table(decodeWindow(key[1:])), key[1+windowBytes:]
	case len(key) > 0 && key[0] == kindMeta:
		err := s.restoreMeta(string(key[1:]), value)
		clear(s.metaDirty)
		return nil, err
	default:
		return nil, corrupt("store %s: a key of %d bytes in the local copy", s.name, len(key))
	}
	_, err := t.load(key, tagOf(maphash.Bytes(seed, key)), value)
	return t, err
}
