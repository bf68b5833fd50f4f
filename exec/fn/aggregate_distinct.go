package fn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"millrace/exec/column"
	"millrace/sql/types"
)

// distinctRule says what an aggregate's call with DISTINCT is. The zero rule:
// the aggregate of the different values, which Distinct computes.
type distinctRule struct {
	// function is the aggregate that it is without DISTINCT, by name.
	function string
	// refused says why it has no meaning, and hint what to write instead.
	refused, hint string
}

// Distinct tells what a call with DISTINCT in front of its arguments is: the
// call of another function, or of the same one where repeats change nothing, or,
// if the signature is to be made Distinct, the call of this function. The error
// says why it has no meaning.
func (a *Aggregate) Distinct() (function string, wrapped bool, err error) {
	switch {
	case a.distinct.refused != "":
		e := types.Errorf(types.CodeStatement, "%s(DISTINCT ..) has no meaning: %s", a.Name, a.distinct.refused)
		return "", false, e.WithHint("%s", a.distinct.hint)
	case a.distinct.function != "":
		return a.distinct.function, false, nil
	}
	return a.Name, true, nil
}

// Distinct is the signature of a call with DISTINCT: equal arguments, or equal
// pairs of two, count once, -0.0 as 0.0; a row with a null argument does not
// count. The aggregate's state must have a fixed width, and its arguments must be
// numbers.
func (s *AggregateSignature) Distinct(use Use) *AggregateSignature {
	out := *s
	out.fixed, out.variable = nil, func() Variable { return newDistinct(s, use == TableUse) }
	return &out
}

const countBytes = 8

// distinct keeps the state of an aggregate of different values. Its state is the
// cells of that aggregate, then a slot a value: the order keys of the arguments,
// followed by how often they are there, an int64, where rows are taken out again.
//
// The slots are in runs that are in order each. Of n slots the first run has as
// many as the highest power of two in n, the next one as the second highest, and so
// on: a new value joins the short runs at the end, and the n-th one moves log n
// slots on average, not n.
type distinct struct {
	inner   Fixed
	cells   int // width of the aggregate's state
	widths  []int
	keys    int // width of all order keys
	slot    int
	counted bool
	values  Arguments // one row

	key   []byte // of the row that Growth was asked about
	at    int    // where the slot of that key is
	moved []byte // slots on their way to another place
}

func newDistinct(s *AggregateSignature, counted bool) *distinct {
	d := &distinct{inner: s.fixed(0), counted: counted}
	d.cells = d.inner.Width()
	for _, t := range s.Inputs {
		width := 8
		if t.Kind == types.KindDecimal {
			width = 16
		}
		d.widths = append(d.widths, width)
		d.keys += width
		d.values = append(d.values, column.New(t, 1))
	}
	d.slot = d.keys
	if counted {
		d.slot += countBytes
	}
	return d
}

// split takes a state apart; the cells of an empty one are zero.
func (d *distinct) split(state []byte) (cells, slots []byte, err error) {
	switch {
	case len(state) == 0:
		return make([]byte, d.cells), nil, nil
	case len(state) < d.cells || (len(state)-d.cells)%d.slot != 0:
		return nil, nil, fmt.Errorf("%w: of DISTINCT, %d bytes", ErrState, len(state))
	}
	return state[:d.cells], state[d.cells:], nil
}

// encode makes the key of row i, and tells whether it has one.
func (d *distinct) encode(arguments Arguments, i int) bool {
	d.key = d.key[:0]
	for _, v := range arguments {
		if v.Null(i) {
			return false
		}
		start := len(d.key)
		d.key = appendOrderKey(d.key, v, i)
		if v.Type.Kind == types.KindDouble && v.Doubles[i] == 0 {
			binary.BigEndian.PutUint64(d.key[start:], signBit)
		}
	}
	return true
}

// search finds the slot of a key, and the run that has it.
func (d *distinct) search(slots, key []byte) (run slotRun, at int, found bool) {
	for n := len(slots) / d.slot; n > 0; n -= run.length {
		run = slotRun{start: run.start + run.length, length: 1 << (bits.Len(uint(n)) - 1)}
		if at = d.place(slots, run, key); at < run.start+run.length && string(d.keyOf(slots, at)) == string(key) {
			return run, at, true
		}
	}
	return run, 0, false
}

// slotRun is a run by the number of its first slot.
type slotRun struct{ start, length int }

// place is the number of the first slot of a run that is not before a key.
func (d *distinct) place(slots []byte, run slotRun, key []byte) int {
	low, high := run.start, run.start+run.length
	for low < high {
		if middle := (low + high) / 2; bytes.Compare(d.keyOf(slots, middle), key) < 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (d *distinct) keyOf(slots []byte, at int) []byte { return slots[at*d.slot : at*d.slot+d.keys] }

func (d *distinct) countOf(slots []byte, at int) []byte {
	return slots[at*d.slot+d.keys : (at+1)*d.slot]
}

func (d *distinct) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	return extended(d, dst, state, arguments, i)
}

func (d *distinct) Growth(state []byte, arguments Arguments, i int) (int, bool, error) {
	if !d.encode(arguments, i) {
		return 0, false, nil
	}
	if len(state) == 0 {
		return d.cells + d.slot, true, nil
	}
	_, slots, err := d.split(state)
	if err != nil {
		return 0, false, err
	}
	var found bool
	if _, d.at, found = d.search(slots, d.key); found {
		return 0, d.counted, nil
	}
	return d.slot, true, nil
}

func (d *distinct) Extend(state []byte, growth int, arguments Arguments, i int) error {
	cells, slots := state[:d.cells], state[d.cells:]
	if growth == 0 {
		addInt(d.countOf(slots, d.at), 1)
		return nil
	}
	if growth == len(state) {
		clear(cells)
	}
	d.setLast(slots, d.key, 1)
	return d.inner.Add(cells, arguments, i)
}

// setLast fills the last slot, which is new, and puts it and the runs that it
// joins in order.
func (d *distinct) setLast(slots, key []byte, count uint64) {
	last := slots[len(slots)-d.slot:]
	copy(last, key)
	if d.counted {
		binary.LittleEndian.PutUint64(last[d.keys:], count)
	}
	n := len(slots) / d.slot
	for length := 1; n&length == 0; length *= 2 {
		d.joinRuns(slots[len(slots)-2*length*d.slot:], length)
	}
}

// joinRuns makes one run of two that have the same length.
func (d *distinct) joinRuns(slots []byte, length int) {
	d.moved = append(d.moved[:0], slots[length*d.slot:]...)
	first, second := length-1, length-1
	for to := 2*length - 1; second >= 0; to-- {
		from := d.moved[second*d.slot : (second+1)*d.slot]
		if first >= 0 && bytes.Compare(d.keyOf(slots, first), from[:d.keys]) > 0 {
			from = slots[first*d.slot : (first+1)*d.slot]
			first--
		} else {
			second--
		}
		copy(slots[to*d.slot:], from)
	}
}

func (d *distinct) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if !d.counted {
		return dst, false, errNotTakenOut
	}
	if !d.encode(arguments, i) {
		return dst, false, nil
	}
	_, slots, err := d.split(state)
	if err != nil {
		return dst, false, err
	}
	run, at, found := d.search(slots, d.key)
	if !found {
		return dst, false, nil
	}
	start := len(dst)
	dst = append(dst, state...)
	cells, slots := dst[start:start+d.cells], dst[start+d.cells:]
	if int64(binary.LittleEndian.Uint64(d.countOf(slots, at))) > 1 {
		addInt(d.countOf(slots, at), -1)
		return dst, true, nil
	}
	d.cut(slots, run, at)
	if err := d.inner.Remove(cells, arguments, i); err != nil {
		return dst[:start], false, err
	}
	return dst[:len(dst)-d.slot], true, nil
}

// cut takes a slot out of its run, for which the last slot of all goes there. What
// is left of the last run are the runs that the smaller number has.
func (d *distinct) cut(slots []byte, run slotRun, at int) {
	last := len(slots) - d.slot
	if (run.start+run.length)*d.slot == len(slots) {
		copy(slots[at*d.slot:], slots[(at+1)*d.slot:])
		return
	}
	d.moved = append(d.moved[:0], slots[last:]...)
	to := d.place(slots, run, d.moved[:d.keys])
	if to > at {
		to--
		copy(slots[at*d.slot:to*d.slot], slots[(at+1)*d.slot:])
	} else {
		copy(slots[(to+1)*d.slot:(at+1)*d.slot], slots[to*d.slot:])
	}
	copy(slots[to*d.slot:], d.moved)
}

// Merge adds the values that only the other state has, in the order of their
// slots.
func (d *distinct) Merge(dst, state, other []byte) ([]byte, error) {
	for _, side := range [][]byte{state, other} {
		if _, _, err := d.split(side); err != nil {
			return dst, err
		}
	}
	if len(state) == 0 {
		return append(dst, other...), nil
	}
	start := len(dst)
	dst = append(dst, state...)
	for b := other[min(d.cells, len(other)):]; len(b) > 0; b = b[d.slot:] {
		slots := dst[start+d.cells:]
		if _, at, found := d.search(slots, b[:d.keys]); found {
			if d.counted {
				mergeInt(d.countOf(slots, at), b[d.keys:])
			}
			continue
		}
		dst = append(dst, b[:d.slot]...)
		var count uint64
		if d.counted {
			count = binary.LittleEndian.Uint64(b[d.keys:])
		}
		d.setLast(dst[start+d.cells:], b[:d.keys], count)
		if err := d.addKey(dst[start:start+d.cells], b[:d.keys]); err != nil {
			return dst[:start], err
		}
	}
	return dst, nil
}

// addKey adds the values of a slot to the aggregate.
func (d *distinct) addKey(cells, key []byte) error {
	for k, width := range d.widths {
		if err := setOrderKey(key[:width], d.values[k], 0); err != nil {
			return err
		}
		key = key[width:]
	}
	return d.inner.Add(cells, d.values, 0)
}

func (d *distinct) Result(state []byte, out *column.Vector, k int) error {
	cells, _, err := d.split(state)
	if err != nil {
		out.SetNull(k)
		return err
	}
	return d.inner.Result(cells, out, k)
}
