package fn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"

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
// cells of that aggregate, then a slot a value in the order of their bytes: the
// order keys of the arguments, followed by how often they are there, an int64,
// where rows are taken out again.
type distinct struct {
	inner   Fixed
	cells   int // width of the aggregate's state
	widths  []int
	keys    int // width of all order keys
	slot    int
	counted bool
	key     []byte
	values  Arguments // one row
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

// search finds where the slot of a key stands, or would.
func (d *distinct) search(slots, key []byte) (at int, found bool) {
	n := sort.Search(len(slots)/d.slot, func(k int) bool {
		return bytes.Compare(slots[k*d.slot:k*d.slot+d.keys], key) >= 0
	})
	at = n * d.slot
	return at, at < len(slots) && bytes.Equal(slots[at:at+d.keys], key)
}

func (d *distinct) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if !d.encode(arguments, i) {
		return dst, false, nil
	}
	cells, slots, err := d.split(state)
	if err != nil {
		return dst, false, err
	}
	at, found := d.search(slots, d.key)
	start := len(dst)
	switch {
	case found && !d.counted:
		return dst, false, nil
	case found:
		dst = append(dst, state...)
		addInt(dst[start+d.cells+at+d.keys:], 1)
		return dst, true, nil
	}
	dst = append(append(append(dst, cells...), slots[:at]...), d.key...)
	if d.counted {
		dst = binary.LittleEndian.AppendUint64(dst, 1)
	}
	dst = append(dst, slots[at:]...)
	return d.changed(dst, start, d.inner.Add(dst[start:start+d.cells], arguments, i))
}

// changed is what Add and Remove return of a new state at start.
func (d *distinct) changed(dst []byte, start int, err error) ([]byte, bool, error) {
	if err != nil {
		return dst[:start], false, err
	}
	return dst, true, nil
}

func (d *distinct) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if !d.counted {
		return dst, false, errNotTakenOut
	}
	if !d.encode(arguments, i) {
		return dst, false, nil
	}
	cells, slots, err := d.split(state)
	if err != nil {
		return dst, false, err
	}
	at, found := d.search(slots, d.key)
	if !found {
		return dst, false, nil
	}
	start := len(dst)
	if int64(binary.LittleEndian.Uint64(slots[at+d.keys:])) > 1 {
		dst = append(dst, state...)
		addInt(dst[start+d.cells+at+d.keys:], -1)
		return dst, true, nil
	}
	dst = append(append(append(dst, cells...), slots[:at]...), slots[at+d.slot:]...)
	return d.changed(dst, start, d.inner.Remove(dst[start:start+d.cells], arguments, i))
}

// Merge adds the values that only the other state has, in their order.
func (d *distinct) Merge(dst, state, other []byte) ([]byte, error) {
	cells, a, err := d.split(state)
	if err != nil {
		return dst, err
	}
	_, b, err := d.split(other)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	dst = append(dst, cells...)
	for len(b) > 0 {
		order := 1
		if len(a) > 0 {
			order = bytes.Compare(a[:d.keys], b[:d.keys])
		}
		switch {
		case order < 0:
			dst, a = append(dst, a[:d.slot]...), a[d.slot:]
			continue
		case order == 0:
			dst = append(dst, a[:d.slot]...)
			if d.counted {
				mergeInt(dst[len(dst)-countBytes:], b[d.keys:])
			}
			a = a[d.slot:]
		default:
			dst = append(dst, b[:d.slot]...)
			if err := d.addKey(dst[start:start+d.cells], b[:d.keys]); err != nil {
				return dst[:start], err
			}
		}
		b = b[d.slot:]
	}
	return append(dst, a...), nil
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
