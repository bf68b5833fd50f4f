package column

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"millrace/sql/types"
)

// drawType draws a type that nests at most depth levels.
func drawType(t *rapid.T, depth int) *types.Type {
	plain := []*types.Type{
		types.Boolean, types.Integer, types.Bigint, types.Double, types.DecimalOf(20, 3),
		types.String, types.Bytes, types.Date, types.Time, types.Timestamp,
	}
	shape := 0
	if depth > 0 {
		shape = rapid.IntRange(0, 5).Draw(t, "shape")
	}
	switch shape {
	case 3:
		return types.ArrayOf(drawType(t, depth-1))
	case 4:
		return types.MapOf(rapid.SampledFrom(plain).Draw(t, "key"), drawType(t, depth-1))
	case 5:
		var fields []types.Field
		for i := range rapid.IntRange(1, 10).Draw(t, "fields") {
			fields = append(fields, types.Field{Name: "F" + strconv.Itoa(i), Type: drawType(t, depth-1)})
		}
		return types.StructOf(fields...)
	}
	return rapid.SampledFrom(plain).Draw(t, "type")
}

// drawValue sets row i of v to a drawn value, or to null.
func drawValue(t *rapid.T, v *Vector, i int) {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		v.SetNull(i)
		return
	}
	switch v.Type.Kind {
	case types.KindBoolean:
		v.SetBool(i, rapid.Bool().Draw(t, "boolean"))
	case types.KindDouble:
		v.SetDouble(i, rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN())).Draw(t, "double"))
	case types.KindDecimal:
		v.SetDecimal(i, types.Decimal{High: rapid.Int64().Draw(t, "high"), Low: rapid.Uint64().Draw(t, "low")})
	case types.KindString, types.KindBytes:
		v.SetText(i, rapid.String().Draw(t, "text"))
	case types.KindStruct:
		v.Valid.Set(i)
		for _, child := range v.Children {
			drawValue(t, child, i)
		}
	case types.KindArray, types.KindMap:
		n := rapid.IntRange(0, 3).Draw(t, "elements")
		start := 0
		for _, child := range v.Children {
			start = child.Extend(n)
			for at := start; at < start+n; at++ {
				drawValue(t, child, at)
			}
		}
		v.SetSpan(i, start, n)
	default:
		v.SetInt(i, rapid.Int64().Draw(t, "whole"))
	}
}

// drawColumns draws up to most columns of rows rows.
func drawColumns(t *rapid.T, most, rows int) ([]*Vector, []*types.Type) {
	var columns []*Vector
	var kinds []*types.Type
	for range rapid.IntRange(0, most).Draw(t, "columns") {
		kind := drawType(t, 3)
		v := New(kind, rows)
		for i := range rows {
			drawValue(t, v, i)
		}
		columns, kinds = append(columns, v), append(kinds, kind)
	}
	return columns, kinds
}

func TestRowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 3).Draw(t, "rows")
		in, kinds := drawColumns(t, 12, rows)
		out := make([]*Vector, len(in))
		for c, kind := range kinds {
			if rapid.IntRange(0, 3).Draw(t, "skipped") > 0 {
				out[c] = New(kind, rows)
			}
		}
		for i := range rows {
			encoded := AppendRow([]byte("before"), in, i)[len("before"):]
			if err := DecodeRow(encoded, out, kinds, i); err != nil {
				t.Fatalf("%x: %v", encoded, err)
			}
		}
		for c, v := range out {
			for i := range rows {
				if v != nil && !equalEntries(in[c], i, v, i) {
					t.Fatalf("column %d of %s differs in row %d", c, kinds[c], i)
				}
			}
		}
	})
}

// equalEntries is EqualRows, but takes maps as they stand: drawn maps may have
// equal keys.
func equalEntries(a *Vector, i int, b *Vector, j int) bool {
	return bytes.Equal(AppendRow(nil, []*Vector{a}, i), AppendRow(nil, []*Vector{b}, j))
}

// TestRowCut cuts and changes encoded rows: the answer is an error or some
// row, and a row that is cut short is always an error.
func TestRowCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, kinds := drawColumns(t, 5, 1)
		encoded := AppendRow(nil, in, 0)
		fresh := func() []*Vector {
			out := make([]*Vector, len(kinds))
			for c, kind := range kinds {
				out[c] = New(kind, 1)
			}
			return out
		}
		for n := range encoded {
			if err := DecodeRow(encoded[:n:n], fresh(), kinds, 0); !errors.Is(err, ErrRow) {
				t.Fatalf("%d bytes of %x: %v", n, encoded, err)
			}
		}
		if len(encoded) == 0 {
			return
		}
		at := rapid.IntRange(0, len(encoded)-1).Draw(t, "at")
		encoded[at] = rapid.Byte().Draw(t, "byte")
		if err := DecodeRow(encoded, fresh(), kinds, 0); err != nil && !errors.Is(err, ErrRow) {
			t.Fatalf("%x: %v", encoded, err)
		}
	})
}

func TestCopyRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawType(t, 3)
		from, to := New(kind, 4), New(kind, 4)
		for i := range 4 {
			drawValue(t, from, i)
			drawValue(t, to, i)
		}
		i := rapid.IntRange(0, 3).Draw(t, "to")
		j := rapid.IntRange(0, 3).Draw(t, "from")
		var others []string
		for k := range 4 {
			others = append(others, string(AppendRow(nil, []*Vector{to}, k)))
		}
		to.CopyRow(i, from, j)
		if !equalEntries(to, i, from, j) {
			t.Fatalf("row %d of %s is not row %d after the copy", i, kind, j)
		}
		for k := range 4 {
			if k != i && string(AppendRow(nil, []*Vector{to}, k)) != others[k] {
				t.Fatalf("row %d of %s changed with row %d", k, kind, i)
			}
		}
	})
}

// TestEqualRowsIsEqualEncoding holds for all but maps, whose order does not
// count.
func TestEqualRowsIsEqualEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawType(t, 2)
		if kind.Contains(func(t *types.Type) bool { return t.Kind == types.KindMap || t.Kind == types.KindDouble }) {
			return
		}
		a, b := New(kind, 2), New(kind, 2)
		drawValue(t, a, 1)
		drawValue(t, b, 0)
		if rapid.Bool().Draw(t, "same") {
			b.CopyRow(0, a, 1)
		}
		if EqualRows(a, 1, b, 0) != equalEntries(a, 1, b, 0) {
			t.Fatalf("equal is %t for %s", EqualRows(a, 1, b, 0), kind)
		}
	})
}

func mapOf(keys []string, values []int64) *Vector {
	v := New(types.MapOf(types.String, types.Bigint), 1)
	v.SetSpan(0, v.Children[0].Extend(len(keys)), len(keys))
	v.Children[1].Extend(len(values))
	for i, key := range keys {
		v.Children[0].SetText(i, key)
		v.Children[1].SetInt(i, values[i])
	}
	return v
}

func TestEqualRows(t *testing.T) {
	ab := mapOf([]string{"a", "b"}, []int64{1, 2})
	for name, other := range map[string]struct {
		v     *Vector
		equal bool
	}{
		"other order": {mapOf([]string{"b", "a"}, []int64{2, 1}), true},
		"other value": {mapOf([]string{"a", "b"}, []int64{1, 3}), false},
		"other key":   {mapOf([]string{"a", "c"}, []int64{1, 2}), false},
		"shorter":     {mapOf([]string{"a"}, []int64{1}), false},
		"null":        {New(ab.Type, 1), false},
	} {
		if EqualRows(ab, 0, other.v, 0) != other.equal || EqualRows(other.v, 0, ab, 0) != other.equal {
			t.Errorf("%s: equal is not %t", name, other.equal)
		}
	}
	numbers := New(types.Double, 4)
	numbers.SetDouble(0, math.NaN())
	numbers.SetDouble(1, math.Copysign(0, -1))
	numbers.SetDouble(2, 0)
	if !EqualRows(numbers, 0, numbers, 0) || !EqualRows(numbers, 1, numbers, 2) || EqualRows(numbers, 0, numbers, 2) ||
		!EqualRows(numbers, 3, numbers, 3) || EqualRows(numbers, 2, numbers, 3) {
		t.Error("NaN equals NaN, -0 equals 0, null equals null, and nothing else does")
	}
}

// TestReuse fills a vector, resets it to another size and expects all rows of
// it and its children to be null.
func TestReuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawType(t, 3)
		v := New(kind, 0)
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			n := rapid.IntRange(0, 130).Draw(t, "rows")
			v.Reset(n)
			if v.Len() != n || v.Valid.Count(n) != 0 {
				t.Fatalf("%d rows of %d are valid in %d", v.Valid.Count(n), v.Len(), n)
			}
			expectExtended(t, v, n)
			for i := range min(n, 3) {
				drawValue(t, v, i)
			}
		}
	})
}

// expectExtended extends v by a few rows and expects these to be null, also in
// the children of a STRUCT, and the earlier ones to stay.
func expectExtended(t *rapid.T, v *Vector, n int) {
	for i := range n {
		v.Valid.Set(i)
	}
	more := rapid.IntRange(0, 70).Draw(t, "more")
	if first := v.Extend(more); first != n || v.Len() != n+more {
		t.Fatalf("extended %d by %d at %d to %d", n, more, first, v.Len())
	}
	if v.Valid.Count(n+more) != n {
		t.Fatalf("%d of %d rows are valid, not %d", v.Valid.Count(n+more), n+more, n)
	}
	if v.Type.Kind == types.KindStruct {
		for _, child := range v.Children {
			if child.Len() != n+more || child.Valid.Count(n+more) != 0 {
				t.Fatalf("a child has %d rows, %d of them valid", child.Len(), child.Valid.Count(n+more))
			}
		}
	}
	v.Reset(n)
}

func TestBitmap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "rows")
		m := NewBitmap(n)
		if rapid.Bool().Draw(t, "filled") {
			m.Fill(n, true)
			if m.Count(n) != n {
				t.Fatalf("filled %d of %d", m.Count(n), n)
			}
			m.Fill(n, false)
		}
		set := make(map[int]bool)
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			if n == 0 {
				break
			}
			i := rapid.IntRange(0, n-1).Draw(t, "row")
			set[i] = rapid.Bool().Draw(t, "in")
			m.SetTo(i, set[i])
		}
		count := 0
		for i := range n {
			if m.Get(i) != set[i] {
				t.Fatalf("row %d is in: %t", i, m.Get(i))
			}
			if set[i] {
				count++
			}
		}
		if m.Count(n) != count {
			t.Fatalf("count %d, not %d", m.Count(n), count)
		}
		if grown := m.Resize(n + 100); len(grown) != len(NewBitmap(n+100)) {
			t.Fatalf("%d words for %d rows", len(grown), n+100)
		}
	})
}

// TestArena takes texts of all sizes, in both ways, and expects them all to be
// there until the reset.
func TestArena(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var arena Arena
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			var kept, expected []string
			for n := range rapid.IntRange(0, 30).Draw(t, "texts") {
				size := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 3*arenaChunk)).Draw(t, "size")
				text := string(bytes.Repeat([]byte{byte('a' + n%26)}, size))
				switch rapid.IntRange(0, 2).Draw(t, "way") {
				case 0:
					kept = append(kept, arena.Copy(text))
				case 1:
					room := rapid.IntRange(0, 100).Draw(t, "room")
					kept = append(kept, arena.Keep(append(arena.Tail(room), text...)))
				case 2:
					b := arena.Alloc(size)
					if len(b) != size || cap(b) != size {
						t.Fatalf("%d bytes of room %d, not %d", len(b), cap(b), size)
					}
					copy(b, text)
					kept = append(kept, View(b))
				}
				expected = append(expected, text)
			}
			if !slices.Equal(kept, expected) {
				t.Fatal("a text changed while others were taken")
			}
			arena.Reset()
		}
	})
}

// TestArenaIsReused takes texts that are longer than the room they ask for: the
// memory of the first batch has to do for the next ones.
func TestArenaIsReused(t *testing.T) {
	for _, size := range []int{1, 65, 150, 1000, largeText} {
		text := bytes.Repeat([]byte{'x'}, size)
		var arena Arena
		batch := func() {
			arena.Reset()
			for range 20 * arenaChunk / size / 4 {
				arena.Keep(append(arena.Tail(1), text...))
			}
		}
		batch()
		chunks := len(arena.chunks)
		// The last text of a chunk may outgrow it.
		if allocations := testing.AllocsPerRun(3, batch); int(allocations) > chunks {
			t.Errorf("%.0f allocations for %d chunks of texts of %d bytes", allocations, chunks, size)
		}
	}
}

// TestLargeTextsLeaveTheChunkOpen takes small texts in turn with large ones.
func TestLargeTextsLeaveTheChunkOpen(t *testing.T) {
	var arena Arena
	for range 3 {
		arena.Copy("small")
		arena.Alloc(2 * arenaChunk)
		arena.Keep(append(arena.Tail(2*arenaChunk), "short"...))
		arena.Keep(append(arena.Tail(1), make([]byte, 2*arenaChunk)...))
	}
	if len(arena.chunks) != 1 {
		t.Errorf("%d chunks for three small texts", len(arena.chunks))
	}
}

func TestBytesAndView(t *testing.T) {
	if string(Bytes("text")) != "text" || View([]byte("text")) != "text" || View(nil) != "" || len(Bytes("")) != 0 {
		t.Error("a view differs from what it shows")
	}
}

func TestSelectAll(t *testing.T) {
	b := Batch{Len: 3}
	b.SelectAll()
	if !slices.Equal(b.Selection, []int32{0, 1, 2}) {
		t.Errorf("selected %v", b.Selection)
	}
	b.Len = 70
	if b.SelectAll(); len(b.Selection) != 70 || b.Selection[69] != 69 {
		t.Errorf("selected %v", b.Selection)
	}
}
