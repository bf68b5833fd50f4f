package state_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"
	"millrace/state"
)

// keyTypes are column lists that cover all kinds of types.
var keyTypes = [][]*types.Type{
	{types.String},
	{types.Bigint},
	{types.Boolean, types.Double, types.Bytes},
	{types.DecimalOf(38, 5), types.Date, types.Time, types.Timestamp, types.Integer},
	{types.ArrayOf(types.String), types.Integer},
	{types.MapOf(types.String, types.Double), types.String},
	{types.StructOf(types.Field{Name: "A", Type: types.ArrayOf(types.ArrayOf(types.Bigint))}, types.Field{Name: "B", Type: types.String})},
	{},
}

func vectors(kinds []*types.Type, rows int) []*column.Vector {
	list := make([]*column.Vector, len(kinds))
	for i, kind := range kinds {
		list[i] = column.New(kind, rows)
	}
	return list
}

// fillRandom sets row i of v to a value from a small range, so that equal ones
// and common beginnings occur.
func fillRandom(r *rand.Rand, v *column.Vector, i int) {
	if r.IntN(6) == 0 {
		v.SetNull(i)
		return
	}
	switch v.Type.Kind {
	case types.KindBoolean:
		v.SetBool(i, r.IntN(2) == 0)
	case types.KindDouble:
		list := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300, r.NormFloat64()}
		v.SetDouble(i, list[r.IntN(len(list))])
	case types.KindDecimal:
		d := types.DecimalFromInt(r.Int64N(5) - 2)
		if r.IntN(2) == 0 {
			d.High += r.Int64N(5) - 2
		}
		v.SetDecimal(i, d)
	case types.KindString, types.KindBytes:
		text := make([]byte, r.IntN(4))
		for k := range text {
			text[k] = []byte{0, 1, 2, 'a', 255}[r.IntN(5)]
		}
		v.SetText(i, string(text))
	case types.KindArray, types.KindMap:
		n := r.IntN(3)
		start := 0
		for _, child := range v.Children {
			start = child.Extend(n)
		}
		for _, child := range v.Children {
			for k := range n {
				fillRandom(r, child, start+k)
			}
		}
		v.SetSpan(i, start, n)
	case types.KindStruct:
		v.Valid.Set(i)
		for _, child := range v.Children {
			fillRandom(r, child, i)
		}
	default:
		v.SetInt(i, []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 256}[r.IntN(6)])
	}
}

// compareRows orders rows as the keys must be; map order is any.
func compareRows(a []*column.Vector, i int, b []*column.Vector, j int) int {
	for c := range a {
		if order := compareValues(a[c], i, b[c], j); order != 0 {
			return order
		}
	}
	return 0
}

func compareValues(a *column.Vector, i int, b *column.Vector, j int) int {
	if a.Null(i) || b.Null(j) {
		return order(!a.Null(i) && b.Null(j), a.Null(i) && !b.Null(j))
	}
	switch a.Type.Kind {
	case types.KindBoolean:
		return order(a.Bools[i] && !b.Bools[j], !a.Bools[i] && b.Bools[j])
	case types.KindDouble:
		x, y := a.Doubles[i], b.Doubles[j]
		if math.IsNaN(x) || math.IsNaN(y) {
			return order(math.IsNaN(x) && !math.IsNaN(y), !math.IsNaN(x) && math.IsNaN(y))
		}
		return order(x > y, x < y)
	case types.KindDecimal:
		return a.Decimals[i].Compare(b.Decimals[j])
	case types.KindString, types.KindBytes:
		return order(a.Texts[i] > b.Texts[j], a.Texts[i] < b.Texts[j])
	case types.KindStruct:
		return compareRows(a.Children, i, b.Children, j)
	case types.KindArray:
		x, y := a.Spans[i], b.Spans[j]
		for n := range min(x.Len, y.Len) {
			if o := compareValues(a.Children[0], int(x.Start+n), b.Children[0], int(y.Start+n)); o != 0 {
				return o
			}
		}
		return order(x.Len > y.Len, x.Len < y.Len)
	}
	return order(a.Ints[i] > b.Ints[j], a.Ints[i] < b.Ints[j])
}

func order(greater, less bool) int {
	switch {
	case greater:
		return 1
	case less:
		return -1
	}
	return 0
}

func hasMap(kinds []*types.Type) bool {
	for _, kind := range kinds {
		if kind.Contains(func(t *types.Type) bool { return t.Kind == types.KindMap }) {
			return true
		}
	}
	return false
}

func equalRow(a []*column.Vector, i int, b []*column.Vector, j int) bool {
	for c := range a {
		if !column.EqualRows(a[c], i, b[c], j) {
			return false
		}
	}
	return true
}

// TestKeyOrder checks order, equality, that no key begins another, and decoding.
func TestKeyOrder(t *testing.T) {
	const rows = 250
	r := rand.New(rand.NewPCG(5, 5))
	for number, kinds := range keyTypes {
		columns := vectors(kinds, rows)
		keys := make([][]byte, rows)
		for i := range keys {
			for _, v := range columns {
				fillRandom(r, v, i)
			}
			keys[i] = state.AppendKey(nil, columns, i)
		}
		back := vectors(kinds, rows)
		for i := range keys {
			if err := state.DecodeKey(keys[i], back, kinds, i); err != nil {
				t.Fatalf("types %d: %v", number, err)
			}
			again := state.AppendKey(nil, back, i)
			if !bytes.Equal(again, keys[i]) || !hasMap(kinds) && !equalRow(columns, i, back, i) {
				t.Fatalf("types %d: key %x came back as %x", number, keys[i], again)
			}
			for j := range i {
				got := bytes.Compare(keys[i], keys[j])
				if got != 0 && (bytes.HasPrefix(keys[i], keys[j]) || bytes.HasPrefix(keys[j], keys[i])) {
					t.Fatalf("types %d: one of %x and %x begins the other", number, keys[i], keys[j])
				}
				if hasMap(kinds) {
					continue
				}
				if want := compareRows(columns, i, columns, j); got != want {
					t.Fatalf("types %d: %x against %x is %d, want %d", number, keys[i], keys[j], got, want)
				}
			}
		}
	}
}

func TestKeyOfEqualMaps(t *testing.T) {
	kind := types.MapOf(types.String, types.Bigint)
	v := column.New(kind, 2)
	for i, names := range [][]string{{"a", "b"}, {"b", "a"}} {
		start := v.Children[0].Extend(2)
		v.Children[1].Extend(2)
		for k, name := range names {
			v.Children[0].SetText(start+k, name)
			v.Children[1].SetInt(start+k, int64(name[0]))
		}
		v.SetSpan(i, start, 2)
	}
	columns := []*column.Vector{v}
	if a, b := state.AppendKey(nil, columns, 0), state.AppendKey(nil, columns, 1); !bytes.Equal(a, b) {
		t.Errorf("equal maps have keys %x and %x", a, b)
	}
}

func TestDecodeKeySkips(t *testing.T) {
	kinds := []*types.Type{types.ArrayOf(types.String), types.String}
	columns := vectors(kinds, 1)
	columns[1].SetText(0, "x")
	key := state.AppendKey(nil, columns, 0)
	out := column.New(types.String, 1)
	if err := state.DecodeKey(key, []*column.Vector{nil, out}, kinds, 0); err != nil || out.Texts[0] != "x" {
		t.Errorf("got %q and %v", out.Texts[0], err)
	}
	if err := state.DecodeKey(key, nil, kinds, 0); err != nil {
		t.Error(err)
	}
}

func TestPrefixEnd(t *testing.T) {
	for _, c := range []struct{ prefix, want []byte }{
		{[]byte("a"), []byte("b")},
		{[]byte{1, 255, 255}, []byte{2}},
		{[]byte{255}, nil},
		{nil, nil},
	} {
		if got := state.PrefixEnd(c.prefix); !bytes.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%x: got %x, want %x", c.prefix, got, c.want)
		}
	}
}

// FuzzDecodeKey: no input panics, and what decodes encodes to the same bytes
// where the form is unique.
func FuzzDecodeKey(f *testing.F) {
	r := rand.New(rand.NewPCG(6, 6))
	for number, kinds := range keyTypes {
		columns := vectors(kinds, 1)
		for range 5 {
			for _, v := range columns {
				fillRandom(r, v, 0)
			}
			f.Add(uint8(number), state.AppendKey(nil, columns, 0))
		}
	}
	f.Fuzz(func(t *testing.T, number uint8, key []byte) {
		kinds := keyTypes[int(number)%len(keyTypes)]
		columns := vectors(kinds, 1)
		err := state.DecodeKey(key, columns, kinds, 0)
		if err != nil {
			if !errors.Is(err, state.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		again := state.AppendKey(nil, columns, 0)
		if err := state.DecodeKey(again, vectors(kinds, 1), kinds, 0); err != nil {
			t.Fatalf("%x decodes, its own form %x does not: %v", key, again, err)
		}
	})
}
