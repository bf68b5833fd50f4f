package op

import (
	"encoding/binary"
	"math/bits"

	"millrace/state"
)

// sessionIndex finds the sessions of a group in a window of the store that has
// several slots.
//
// The key of a session's row is the group's key and 8 bytes, big endian: level 0 in
// the first, and the slot's number in the window in the others. The rows of level
// n have in the first 8 bytes of their fixed part, little endian, a bit for each
// of 64 rows of the level below, or slots: the bit i of the row k is that of the row,
// or slot, 64 k + i. A bit is set where such a row, or a session, exists. The
// highest level has one row. A window of one slot needs no index, and its keys
// are those of the groups.
type sessionIndex struct {
	store  *state.Store
	levels int
	key    []byte
	keys   state.Keys
	rows   [1]state.Row
}

const (
	slotBytes = 8
	levelAt   = 56 // the bit at which the level begins
	fanBits   = 6
	fanMask   = 1<<fanBits - 1
)

func newSessionIndex(store *state.Store, slots int64) sessionIndex {
	x := sessionIndex{store: store}
	for rest := slots - 1; rest > 0; rest >>= fanBits {
		x.levels++
	}
	return x
}

func appendSlot(key []byte, level int, number int64) []byte {
	return binary.BigEndian.AppendUint64(key, uint64(level)<<levelAt|uint64(number))
}

// slotKey appends the key of a group's session in a slot.
func (x *sessionIndex) slotKey(dst, group []byte, slot int64) []byte {
	dst = append(dst, group...)
	if x.levels == 0 {
		return dst
	}
	return appendSlot(dst, 0, slot)
}

// groupKey is the group's key in a row's key.
func (x *sessionIndex) groupKey(key []byte) []byte {
	if x.levels == 0 {
		return key
	}
	return key[:len(key)-slotBytes]
}

// holdsSession tells whether a row's key is that of a session.
func (x *sessionIndex) holdsSession(key []byte) bool {
	return x.levels == 0 || key[len(key)-slotBytes] == 0
}

// session is the session of a group in a slot.
func (x *sessionIndex) session(table *state.Table, group []byte, slot int64) (s session, ok bool, err error) {
	x.key = x.slotKey(x.key[:0], group, slot)
	row, err := x.find(table)
	if err != nil {
		return session{}, false, err
	}
	s, ok = readSession(table, row)
	return s, ok, nil
}

// find looks up the row of x.key.
func (x *sessionIndex) find(table *state.Table) (state.Row, error) {
	x.keys.Reset()
	x.keys.AppendBytes(x.key)
	err := table.Find(&x.keys, nil, x.rows[:])
	return x.rows[0], err
}

// bitsOf are the bits of a row of the index.
func (x *sessionIndex) bitsOf(table *state.Table, group []byte, level int, number int64) (row state.Row, set uint64, err error) {
	x.key = appendSlot(append(x.key[:0], group...), level, number)
	if row, err = x.find(table); err != nil || row < 0 {
		return row, 0, err
	}
	return row, binary.LittleEndian.Uint64(table.Fixed(row)), nil
}

// next is the first session of a group in a slot or behind it.
func (x *sessionIndex) next(table *state.Table, group []byte, slot int64) (s session, ok bool, err error) {
	if x.levels == 0 {
		if slot > 0 {
			return session{}, false, nil
		}
		return x.session(table, group, slot)
	}
	at := slot
	for level := 1; level <= x.levels; level++ {
		_, set, err := x.bitsOf(table, group, level, at>>fanBits)
		if err != nil {
			return session{}, false, err
		}
		if set = set >> (at & fanMask) << (at & fanMask); set != 0 {
			return x.descend(table, group, level, at&^fanMask|int64(bits.TrailingZeros64(set)))
		}
		at = at>>fanBits + 1
	}
	return session{}, false, nil
}

// descend is the first session below a bit of a level that is set.
func (x *sessionIndex) descend(table *state.Table, group []byte, level int, at int64) (s session, ok bool, err error) {
	for level--; level > 0; level-- {
		_, set, err := x.bitsOf(table, group, level, at)
		if err != nil {
			return session{}, false, err
		}
		at = at<<fanBits | int64(bits.TrailingZeros64(set))
	}
	return x.session(table, group, at)
}

// add sets the bits of a slot in which a session has come to be.
func (x *sessionIndex) add(table *state.Table, group []byte, slot int64) error {
	for level := 1; level <= x.levels; level++ {
		x.key = appendSlot(append(x.key[:0], group...), level, slot>>fanBits)
		x.keys.Reset()
		x.keys.AppendBytes(x.key)
		if err := table.FindOrAdd(&x.keys, nil, x.rows[:]); err != nil {
			return err
		}
		row := x.rows[0]
		existed := table.Exists(row)
		table.Touch(row)
		fixed := table.Fixed(row)
		binary.LittleEndian.PutUint64(fixed, binary.LittleEndian.Uint64(fixed)|1<<(slot&fanMask))
		if existed {
			return nil
		}
		slot >>= fanBits
	}
	return nil
}

// remove clears the bits of a slot whose session is gone.
func (x *sessionIndex) remove(table *state.Table, group []byte, slot int64) error {
	for level := 1; level <= x.levels; level++ {
		row, set, err := x.bitsOf(table, group, level, slot>>fanBits)
		if err != nil || row < 0 {
			return err
		}
		if set &^= 1 << (slot & fanMask); set != 0 {
			table.Touch(row)
			binary.LittleEndian.PutUint64(table.Fixed(row), set)
			return nil
		}
		table.Delete(row)
		slot >>= fanBits
	}
	return nil
}
