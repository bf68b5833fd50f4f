package fn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sort"

	"millrace/exec/column"
	"millrace/sql/types"
)

var countDistinctAggregate = Aggregate{
	Name: "COUNT_DISTINCT",
	Doc: "The number of different values that are not null: exact up to 32768 in a group and over tables, beyond that " +
		"an estimate with a standard error of 0.8 %.",
	Forms: []string{"COUNT_DISTINCT(T)"}, distinct: distinctRule{function: "COUNT_DISTINCT"},
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		if c.single() == nil {
			return nil, nil
		}
		return &AggregateSignature{Result: types.Bigint, NestedState: true, variable: func() Variable {
			if c.use == TableUse {
				return &countDistinct{counted: true, width: identityBytes + 8}
			}
			return &countDistinct{width: identityBytes}
		}}, nil
	},
}

// identityBytes is the width of what stands for a value: its length and the
// encoded value, if it fits, else 0xFF and that much of its SHA-256.
const identityBytes = 16

// exactDistinct is how many values are kept. More would make a state that does
// not fit one record of a changelog topic with the broker's default settings.
const exactDistinct = 32768

// The first byte of a state says its form; an empty state has no value.
const (
	exactForm  = 1 // identities in order, each followed by its count where rows are taken out again
	sketchForm = 2 // a sketch
)

// countDistinct is COUNT_DISTINCT.
type countDistinct struct {
	counted  bool
	width    int // of an identity with its count
	encoder  encoder
	identity [identityBytes]byte
}

// identify makes the identity of a value that is not null.
func (d *countDistinct) identify(v *column.Vector, i int) []byte {
	encoded := d.encoder.value(v, i)
	d.identity = [identityBytes]byte{}
	if len(encoded) < identityBytes {
		d.identity[0] = byte(len(encoded))
		copy(d.identity[1:], encoded)
		return d.identity[:]
	}
	digest := sha256.Sum256(encoded)
	d.identity[0] = 0xFF
	copy(d.identity[1:], digest[:])
	return d.identity[:]
}

// identities is the list of an exact state.
func (d *countDistinct) identities(state []byte) ([]byte, error) {
	if len(state) == 0 {
		return nil, nil
	}
	if state[0] != exactForm || (len(state)-1)%d.width != 0 {
		return nil, fmt.Errorf("%w: of COUNT_DISTINCT, %d bytes", ErrState, len(state))
	}
	return state[1:], nil
}

// search finds where an identity stands in a list, or would.
func (d *countDistinct) search(list, identity []byte) (at int, found bool) {
	n := sort.Search(len(list)/d.width, func(k int) bool {
		return bytes.Compare(list[k*d.width:k*d.width+identityBytes], identity) >= 0
	})
	at = n * d.width
	return at, at < len(list) && bytes.Equal(list[at:at+identityBytes], identity)
}

func (d *countDistinct) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if arguments[0].Null(i) {
		return dst, false, nil
	}
	return d.put(dst, state, d.identify(arguments[0], i), 1)
}

func (d *countDistinct) put(dst, state, identity []byte, times uint64) ([]byte, bool, error) {
	if isSketch(state) {
		return addToSketch(dst, state, identity)
	}
	list, err := d.identities(state)
	if err != nil {
		return dst, false, err
	}
	at, found := d.search(list, identity)
	switch {
	case found && !d.counted:
		return dst, false, nil
	case found:
		dst = append(dst, state...)
		cell := dst[len(dst)-len(list)+at+identityBytes:]
		binary.LittleEndian.PutUint64(cell, binary.LittleEndian.Uint64(cell)+times)
		return dst, true, nil
	case !d.counted && len(list) >= exactDistinct*d.width:
		sketch := d.sketchOf(list)
		next, changed, err := addToSketch(dst, sketch, identity)
		if err == nil && !changed {
			next = append(dst, sketch...)
		}
		return next, true, err
	}
	dst = append(append(dst, exactForm), list[:at]...)
	dst = append(dst, identity...)
	if d.counted {
		dst = binary.LittleEndian.AppendUint64(dst, times)
	}
	return append(dst, list[at:]...), true, nil
}

func (d *countDistinct) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if !d.counted {
		return dst, false, errNotTakenOut
	}
	if arguments[0].Null(i) {
		return dst, false, nil
	}
	list, err := d.identities(state)
	if err != nil {
		return dst, false, err
	}
	at, found := d.search(list, d.identify(arguments[0], i))
	if !found {
		return dst, false, nil
	}
	count := binary.LittleEndian.Uint64(list[at+identityBytes:])
	if count <= 1 {
		dst = append(append(dst, exactForm), list[:at]...)
		return append(dst, list[at+d.width:]...), true, nil
	}
	dst = append(dst, state...)
	binary.LittleEndian.PutUint64(dst[len(dst)-len(list)+at+identityBytes:], count-1)
	return dst, true, nil
}

func (d *countDistinct) Merge(dst, state, other []byte) ([]byte, error) {
	if isSketch(state) || isSketch(other) {
		var sketches [2][]byte
		for k, side := range [][]byte{state, other} {
			if sketches[k] = side; isSketch(side) {
				continue
			}
			list, err := d.identities(side)
			if err != nil {
				return dst, err
			}
			sketches[k] = d.sketchOf(list)
		}
		return mergeSketches(dst, sketches[0], sketches[1])
	}
	list, err := d.identities(state)
	if err != nil {
		return dst, err
	}
	second, err := d.identities(other)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	dst = d.mergeLists(append(dst, exactForm), list, second)
	if merged := dst[start+1:]; !d.counted && len(merged) > exactDistinct*d.width {
		return append(dst[:start], d.sketchOf(merged)...), nil
	}
	return dst, nil
}

// mergeLists appends the identities of both lists in order.
func (d *countDistinct) mergeLists(dst, a, b []byte) []byte {
	for len(a) > 0 && len(b) > 0 {
		order := bytes.Compare(a[:identityBytes], b[:identityBytes])
		switch {
		case order < 0:
			dst, a = append(dst, a[:d.width]...), a[d.width:]
		case order > 0:
			dst, b = append(dst, b[:d.width]...), b[d.width:]
		default:
			dst = append(dst, a[:d.width]...)
			if d.counted {
				mergeInt(dst[len(dst)-8:], b[identityBytes:])
			}
			a, b = a[d.width:], b[d.width:]
		}
	}
	return append(append(dst, a...), b...)
}

func (d *countDistinct) sketchOf(list []byte) []byte {
	sketch := newSketch()
	for ; len(list) > 0; list = list[d.width:] {
		register, rank := place(list[:identityBytes])
		sketch[register] = max(sketch[register], rank)
	}
	return sketch
}

func (d *countDistinct) Result(state []byte, out *column.Vector, k int) error {
	if isSketch(state) {
		n, err := estimate(state)
		if err != nil {
			out.SetNull(k)
			return err
		}
		out.SetInt(k, n)
		return nil
	}
	list, err := d.identities(state)
	if err != nil {
		out.SetNull(k)
		return err
	}
	out.SetInt(k, int64(len(list)/d.width))
	return nil
}
