package fn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	"millrace/exec/column"
	"millrace/sql/types"
)

// entry is one element of a state that is a list: a number, whose meaning is
// the aggregate's own, a key and a row, both of bytes. A state holds entries one
// behind the other: the number as uvarint, then length and bytes of key and row.
type entry struct {
	number   uint64
	key, row []byte
	// start and end are where the entry stands in its state.
	start, end int
}

func appendEntry(dst []byte, number uint64, key, row []byte) []byte {
	dst = binary.AppendUvarint(dst, number)
	dst = append(binary.AppendUvarint(dst, uint64(len(key))), key...)
	return append(binary.AppendUvarint(dst, uint64(len(row))), row...)
}

// entriesOf are those of a state, in order, with the state's fault, if it has
// one, at the end.
func entriesOf(state []byte) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for at := 0; at < len(state); {
			e, err := readEntry(state, at)
			if !yield(e, err) || err != nil {
				return
			}
			at = e.end
		}
	}
}

// findEntry is the first entry from a place on with a key, and the number of those
// before it. The entry is zero if there is none.
func findEntry(state []byte, at int, key []byte) (e entry, n int, err error) {
	for ; at < len(state); n++ {
		if end := shortEntry(state, at); end > 0 && string(state[at+2:end-1]) != string(key) {
			at = end
			continue
		}
		if e, err = readEntry(state, at); err != nil {
			return entry{}, n, err
		}
		if bytes.Equal(e.key, key) {
			return e, n, nil
		}
		at = e.end
	}
	return entry{}, n, nil
}

// shortEntry is the end of the entry at a place if its number has one byte, its
// key fewer than 128 and its row none; else 0. Most entries are so, and this is
// much faster than readEntry.
func shortEntry(state []byte, at int) int {
	if at+3 > len(state) || state[at]|state[at+1] >= 0x80 {
		return 0
	}
	end := at + int(state[at+1]) + 3
	if end > len(state) || state[end-1] != 0 {
		return 0
	}
	return end
}

func readEntry(state []byte, at int) (entry, error) {
	e := entry{start: at}
	number, n := binary.Uvarint(state[at:])
	if n <= 0 {
		return e, fmt.Errorf("%w: entry at byte %d", ErrState, at)
	}
	e.number = number
	at += n
	for _, part := range []*[]byte{&e.key, &e.row} {
		length, n := binary.Uvarint(state[at:])
		if n <= 0 || length > uint64(len(state)-at-n) {
			return e, fmt.Errorf("%w: entry at byte %d", ErrState, e.start)
		}
		at += n
		*part = state[at : at+int(length) : at+int(length)]
		at += int(length)
	}
	e.end = at
	return e, nil
}

// replaceEntry appends the state with the bytes start..end replaced by an entry.
func replaceEntry(dst, state []byte, start, end int, number uint64, key, row []byte) []byte {
	dst = append(dst, state[:start]...)
	dst = appendEntry(dst, number, key, row)
	return append(dst, state[end:]...)
}

// cutEntry appends the state without an entry.
func cutEntry(dst, state []byte, e entry) []byte {
	return append(append(dst, state[:e.start]...), state[e.end:]...)
}

// countDown appends the state with one less in an entry's number, or without
// the entry if that was the last.
func countDown(dst, state []byte, e entry) []byte {
	if e.number > 1 {
		return replaceEntry(dst, state, e.start, e.end, e.number-1, e.key, e.row)
	}
	return cutEntry(dst, state, e)
}

// encoder keeps the buffers in which an accumulator encodes values.
type encoder struct {
	columns [1]*column.Vector
	buf     []byte
}

// value encodes row i of v, null too, so that equal values have equal bytes. It
// is valid until the next call.
func (e *encoder) value(v *column.Vector, i int) []byte {
	e.columns[0] = v
	e.buf = column.AppendRow(e.buf[:0], e.columns[:], i)
	return e.buf
}

// decodeEntry sets row i of v to what encoder.value made.
func decodeEntry(src []byte, v *column.Vector, i int) error {
	if err := column.DecodeRow(src, []*column.Vector{v}, []*types.Type{v.Type}, i); err != nil {
		v.SetNull(i)
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	return nil
}

// setList sets row k of out, an ARRAY, to the first n of the entries; set makes
// an element of an entry.
func setList(state []byte, n int, out *column.Vector, k int, set func(e entry, v *column.Vector, i int) error) error {
	child := out.Children[0]
	start, count := child.Len(), 0
	for e, err := range entriesOf(state) {
		if count == n {
			break
		}
		if err == nil {
			err = set(e, child, child.Extend(1))
		}
		if err != nil {
			out.SetNull(k)
			return err
		}
		count++
	}
	out.SetSpan(k, start, count)
	return nil
}

// setKeys is setList of the values that are the entries' keys.
func setKeys(state []byte, n int, out *column.Vector, k int) error {
	return setList(state, n, out, k, func(e entry, v *column.Vector, i int) error { return decodeEntry(e.key, v, i) })
}
