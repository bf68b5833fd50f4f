package state

import (
	"encoding/binary"
	"hash/maphash"
)

const (
	kindRow    = 1
	kindWindow = 2
	kindMeta   = 3
	kindDrop   = 4

	valueVersion = 1
	withVariable = 1 // in a row value's flags

	windowBytes = 8
)

func appendWindow(dst []byte, kind byte, start int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, kind), uint64(start)^1<<63)
}

func decodeWindow(src []byte) int64 { return int64(binary.BigEndian.Uint64(src) ^ 1<<63) }

// appendTable appends what all keys of a table start with.
func appendTable(dst []byte, t *Table) []byte {
	if t.store.windowed {
		return appendWindow(dst, kindWindow, t.window)
	}
	return append(dst, kindRow)
}

func appendMetaKey(dst []byte, name string) []byte { return append(append(dst, kindMeta), name...) }

func appendMetaValue(dst, value []byte) []byte { return append(append(dst, valueVersion), value...) }

// appendRow appends the changelog value of a row that exists.
func (t *Table) appendRow(dst []byte, row Row) []byte {
	h := t.header(row)
	flags := byte(0)
	if h.flags&hasVariable != 0 {
		flags = withVariable
	}
	dst = binary.AppendVarint(append(dst, valueVersion, flags), h.time)
	dst = append(dst, t.Fixed(row)...)
	if flags != 0 {
		dst = append(dst, t.arena.view(h.variable, h.variableLength)...)
	}
	return dst
}

// rowValue is a decoded row value; its parts are views.
type rowValue struct {
	time     int64
	fixed    []byte
	variable []byte // nil: none
}

func (s *Store) decodeRow(src []byte) (rowValue, error) {
	if len(src) < 2 || src[0] != valueVersion || src[1] > withVariable {
		return rowValue{}, corrupt("store %s: a row of %d bytes has no known version", s.name, len(src))
	}
	time, n := binary.Varint(src[2:])
	if n <= 0 || len(src)-2-n < s.layout.Fixed {
		return rowValue{}, corrupt("store %s: a row of %d bytes is too short", s.name, len(src))
	}
	rest := src[2+n:]
	value := rowValue{time: time, fixed: rest[:s.layout.Fixed]}
	rest = rest[s.layout.Fixed:]
	if src[1] == withVariable {
		value.variable = rest[:len(rest):len(rest)]
	} else if len(rest) > 0 {
		return rowValue{}, corrupt("store %s: a row has %d bytes too many", s.name, len(rest))
	}
	return value, nil
}

// Changes calls yield with the changelog records of everything that changed
// since the last commit: key, value (nil is a tombstone) and timestamp. Both
// slices are valid until yield returns. The order is that of the first changes
// of each table. It changes nothing and may be called again.
//
// The timestamp is the row's own; of metadata and dropped windows it is the
// latest of all rows so far, since a retention by time must not take the
// metadata before the rows.
func (s *Store) Changes(yield func(key, value []byte, timestamp int64) error) error {
	if s.failure != nil {
		return s.failure
	}
	r := recorder{yield: yield, latest: s.latest}
	for _, t := range s.dropped {
		r.key = appendWindow(r.key[:0], kindDrop, t.window)
		r.value = append(r.value[:0], valueVersion)
		if err := yield(r.key, r.value, s.latest); err != nil {
			return err
		}
	}
	for _, t := range s.noted {
		if s.tables[t.window] != t {
			continue
		}
		if err := r.table(t); err != nil {
			return err
		}
	}
	return r.meta(s)
}

// recorder makes the records of one call of Changes.
type recorder struct {
	yield      func(key, value []byte, timestamp int64) error
	key, value []byte
	latest     int64
}

func (r *recorder) table(t *Table) error {
	r.key = appendTable(r.key[:0], t)
	prefix := len(r.key)
	for i, row := range t.touched {
		if i%lane == 0 {
			t.Warm(t.touched[i:min(i+lane, len(t.touched))])
		}
		h := t.header(row)
		var value []byte
		if h.flags&exists != 0 {
			r.value = t.appendRow(r.value[:0], row)
			value = r.value
		} else if t.before[i].flags&exists == 0 {
			continue
		}
		r.latest = max(r.latest, h.time)
		r.key = append(r.key[:prefix], t.arena.view(h.key, h.keyLength)...)
		if err := r.yield(r.key, value, h.time); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) meta(s *Store) error {
	for _, name := range metaNames(s.metaBefore) {
		r.key = appendMetaKey(r.key[:0], name)
		var value []byte
		if current, ok := s.meta[name]; ok {
			r.value = appendMetaValue(r.value[:0], current)
			value = r.value
		}
		if err := r.yield(r.key, value, r.latest); err != nil {
			return err
		}
	}
	return nil
}

// Restore applies one changelog record. Values are absolute: records may be
// applied again, in the order of the changelog. It must not be mixed with
// uncommitted changes. A record that the store did not write gives an error
// that wraps ErrCorrupt.
func (s *Store) Restore(key, value []byte) error {
	if len(key) == 0 {
		return corrupt("store %s: an empty changelog key", s.name)
	}
	kind, rest := key[0], key[1:]
	switch {
	case kind == kindRow && !s.windowed:
		return s.Table(0).restore(rest, value)
	case kind == kindWindow && s.windowed && len(rest) >= windowBytes:
		return s.Table(decodeWindow(rest)).restore(rest[windowBytes:], value)
	case kind == kindMeta:
		return s.restoreMeta(string(rest), value)
	case kind == kindDrop && s.windowed && len(rest) == windowBytes:
		if value == nil {
			return nil
		}
		if len(value) != 1 || value[0] != valueVersion {
			return corrupt("store %s: a dropped window's value of %d bytes", s.name, len(value))
		}
		if t := s.take(decodeWindow(rest)); t != nil {
			s.forget(t)
		}
		return nil
	}
	return corrupt("store %s: a changelog key of kind %d and %d bytes", s.name, kind, len(key))
}

func (s *Store) restoreMeta(name string, value []byte) error {
	switch {
	case value == nil:
		delete(s.meta, name)
	case len(value) == 0 || value[0] != valueVersion:
		return corrupt("store %s: metadata %q has no known version", s.name, name)
	default:
		s.meta[name] = append([]byte{}, value[1:]...)
	}
	if s.durable {
		s.metaDirty[name] = true
	}
	return nil
}

func (t *Table) restore(key, value []byte) error {
	tag := tagOf(maphash.Bytes(seed, key))
	row := t.locate(key, tag)
	if value == nil && row < 0 && !t.spilled {
		return nil
	}
	var parts rowValue
	var err error
	if value != nil {
		if parts, err = t.store.decodeRow(value); err != nil {
			return err
		}
	}
	if row < 0 {
		if row, err = t.add(key, tag); err != nil {
			return err
		}
		if t.spilled {
			t.header(row).flags |= stored
		}
	}
	h := t.header(row)
	if value == nil {
		t.dropVariable(h)
		clear(t.Fixed(row))
		h.flags &^= exists
	} else if err := t.fill(row, parts); err != nil {
		return err
	}
	t.settle(row, h)
	return nil
}

// fill sets a row that is not part of a transaction.
func (t *Table) fill(row Row, value rowValue) error {
	h := t.header(row)
	copy(t.Fixed(row), value.fixed)
	h.time = value.time
	t.store.latest = max(t.store.latest, value.time)
	if !fits(h.variableLength, uint32(len(value.variable))) {
		t.dropVariable(h)
		at, ok := t.arena.put(value.variable)
		if !ok {
			return t.full()
		}
		h.variable = at
	} else {
		copy(t.arena.view(h.variable, uint32(len(value.variable))), value.variable)
	}
	h.variableLength = uint32(len(value.variable))
	h.flags |= exists
	h.flags &^= hasVariable
	if value.variable != nil {
		h.flags |= hasVariable
	}
	return nil
}
