package fn

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"millrace/exec/column"
	"millrace/sql/types"
)

// sumOf is a column of n numbers of which each is another one, and the sum of
// different ones.
func sumOf(t interface{ Fatal(...any) }, use Use, n int) (*distinct, Arguments) {
	s, err := ResolveAggregate("SUM", []*types.Type{types.Bigint}, nil, use)
	if err != nil {
		t.Fatal(err)
	}
	v := column.New(types.Bigint, n)
	for i := range n {
		v.SetInt(i, int64(i*7919%n)-int64(n/2))
	}
	return s.Distinct(use).Variable().(*distinct), Arguments{v}
}

// extend puts row i into a state in place, as a table does.
func extend(t interface{ Fatal(...any) }, d *distinct, state []byte, arguments Arguments, i int) []byte {
	growth, changed, err := d.Growth(state, arguments, i)
	if err == nil && changed {
		state = append(state, bytes.Repeat([]byte{0xAA}, growth)...)
		err = d.Extend(state, growth, arguments, i)
	}
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestDistinctSlots holds the slots of a state against a map of its values: each
// value has one slot with its count, and every run is in order.
func TestDistinctSlots(t *testing.T) {
	for name, use := range map[string]Use{"stream": StreamUse, "table": TableUse} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				const rows = 61
				d, arguments := sumOf(t, use, rows)
				var state []byte
				counts := map[int64]int{}
				for range rapid.IntRange(1, 200).Draw(t, "steps") {
					i := rapid.IntRange(0, rows-1).Draw(t, "row")
					value := arguments[0].Ints[i]
					if use == TableUse && counts[value] > 0 && rapid.Bool().Draw(t, "remove") {
						counts[value]--
						state = changed(t, d.Remove, state, arguments, i)
					} else {
						counts[value]++
						copied := changed(t, d.Add, state, arguments, i)
						state = extend(t, d, state, arguments, i)
						if !bytes.Equal(copied, state) {
							t.Fatalf("a copy is %x, but in place it is %x", copied, state)
						}
					}
					checkSlots(t, d, state, counts)
				}
			})
		})
	}
}

func changed(
	t *rapid.T, step func(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error), state []byte, arguments Arguments, i int,
) []byte {
	next, changed, err := step(nil, state, arguments, i)
	if err != nil {
		t.Fatal(err)
	}
	if !changed {
		return slices.Clone(state)
	}
	return next
}

func checkSlots(t *rapid.T, d *distinct, state []byte, counts map[int64]int) {
	_, slots, err := d.split(state)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	want := 0
	for value, count := range counts {
		if count == 0 {
			continue
		}
		want++
		sum += value
		key := binary.BigEndian.AppendUint64(nil, uint64(value)^signBit)
		_, at, found := d.search(slots, key)
		if !found {
			t.Fatalf("%d is not found", value)
		}
		if d.counted && binary.LittleEndian.Uint64(d.countOf(slots, at)) != uint64(count) {
			t.Fatalf("%d has not the count %d", value, count)
		}
	}
	if got := len(slots) / d.slot; got != want {
		t.Fatalf("%d slots, want %d", got, want)
	}
	out := column.New(types.Bigint, 1)
	if err := d.Result(state, out, 0); err != nil || want > 0 && out.Ints[0] != sum {
		t.Fatalf("the sum is %d, %v, want %d", out.Ints[0], err, sum)
	}
}

// TestDistinctMergesLongStates holds merged states of many values against one
// state of all.
func TestDistinctMergesLongStates(t *testing.T) {
	const rows = 1000
	d, arguments := sumOf(t, SessionUse, rows)
	var first, second, all []byte
	for i := range rows {
		if i%3 > 0 {
			first = extend(t, d, first, arguments, i)
		}
		if i%5 > 0 {
			second = extend(t, d, second, arguments, i)
		}
		all = extend(t, d, all, arguments, i)
	}
	merged, err := d.Merge(nil, first, second)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows { // all are there but those that are in neither
		if i%15 == 0 {
			merged = extend(t, d, merged, arguments, i)
		}
	}
	if len(merged) != len(all) || !bytes.Equal(merged[:d.cells], all[:d.cells]) {
		t.Errorf("%d bytes with the sum %x, want %d with %x", len(merged), merged[:d.cells], len(all), all[:d.cells])
	}
}
