// Package column holds rows in motion: typed column vectors with a set of
// valid (not null) rows, and batches of them.
//
// Vectors are indexed by row number and never compacted: a filter shortens the
// batch's selection, and only selected rows of a vector are defined. Texts are
// views into a fetched buffer, a store or the batch's arena. Whatever outlives
// the call that it was handed to must be copied.
package column

import (
	"slices"

	"millrace/sql/types"
)

// Span is where the elements of one ARRAY or MAP stand in the child vectors.
type Span struct{ Start, Len int32 }

// Vector is one column of a batch. Which slice holds the values follows from
// the type:
//
//	BOOLEAN                                Bools
//	INTEGER BIGINT DATE TIME TIMESTAMP     Ints (days; ms of the day; ms since 1970)
//	DOUBLE                                 Doubles
//	DECIMAL                                Decimals (unscaled, of the type's scale)
//	STRING BYTES                           Texts
//	ARRAY                                  Spans into Children[0]
//	MAP                                    Spans into Children[0] (keys) and Children[1] (values)
//	STRUCT                                 Children, one a field, indexed by the same row
//
// The value of a row that is not valid is undefined.
type Vector struct {
	Type     *types.Type
	Valid    Bitmap
	Bools    []bool
	Ints     []int64
	Doubles  []float64
	Decimals []types.Decimal
	Texts    []string
	Spans    []Span
	Children []*Vector
	size     int
}

// New is a vector of n rows, all of them null.
func New(t *types.Type, n int) *Vector {
	v := &Vector{Type: t}
	switch t.Kind {
	case types.KindArray:
		v.Children = []*Vector{New(t.Elem, 0)}
	case types.KindMap:
		v.Children = []*Vector{New(t.Key, 0), New(t.Elem, 0)}
	case types.KindStruct:
		for _, field := range t.Fields {
			v.Children = append(v.Children, New(field.Type, 0))
		}
	}
	v.Reset(n)
	return v
}

// Len is the number of rows.
func (v *Vector) Len() int { return v.size }

// Reset makes v hold n rows, all null, and reuses its memory. The children of
// an ARRAY or MAP become empty.
func (v *Vector) Reset(n int) {
	v.Valid = v.Valid.Resize(n)
	clear(v.Valid)
	v.resize(n)
	if v.Type.Kind == types.KindArray || v.Type.Kind == types.KindMap {
		for _, child := range v.Children {
			child.Reset(0)
		}
	}
	if v.Type.Kind == types.KindStruct {
		for _, child := range v.Children {
			child.Reset(n)
		}
	}
}

func (v *Vector) resize(n int) {
	v.size = n
	switch v.Type.Kind {
	case types.KindBoolean:
		v.Bools = sized(v.Bools, n)
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		v.Ints = sized(v.Ints, n)
	case types.KindDouble:
		v.Doubles = sized(v.Doubles, n)
	case types.KindDecimal:
		v.Decimals = sized(v.Decimals, n)
	case types.KindString, types.KindBytes:
		v.Texts = sized(v.Texts, n)
	case types.KindArray, types.KindMap:
		v.Spans = sized(v.Spans, n)
	}
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return slices.Grow(s[:len(s):len(s)], n-len(s))[:n]
	}
	return s[:n]
}

// maxElements bounds the elements of all rows of an ARRAY or MAP together: they
// are numbered by int32, and take some hundred megabytes by then.
const maxElements = 32 << 20

// Extend adds n null rows behind the last and returns the number of the first.
// It is how the children of an ARRAY or MAP grow. More than fit a batch are a
// panic with ErrBatchTooLarge.
func (v *Vector) Extend(n int) int {
	first := v.size
	if first+n > maxElements {
		panic(ErrBatchTooLarge)
	}
	words := (first + n + 63) / 64
	for len(v.Valid) < words {
		v.Valid = append(v.Valid, 0)
	}
	for i := first; i < first+n && i&63 != 0; i++ {
		v.Valid.Clear(i)
	}
	v.resize(first + n)
	if v.Type.Kind == types.KindStruct {
		for _, child := range v.Children {
			child.Extend(n)
		}
	}
	return first
}

// Null tells whether row i is null.
func (v *Vector) Null(i int) bool { return !v.Valid.Get(i) }

// SetNull makes row i null.
func (v *Vector) SetNull(i int) { v.Valid.Clear(i) }

// SetBool sets row i of a BOOLEAN.
func (v *Vector) SetBool(i int, value bool) {
	v.Bools[i] = value
	v.Valid.Set(i)
}

// SetInt sets row i of a type that is held in Ints.
func (v *Vector) SetInt(i int, value int64) {
	v.Ints[i] = value
	v.Valid.Set(i)
}

// SetDouble sets row i of a DOUBLE.
func (v *Vector) SetDouble(i int, value float64) {
	v.Doubles[i] = value
	v.Valid.Set(i)
}

// SetDecimal sets row i of a DECIMAL; value has the scale of the type.
func (v *Vector) SetDecimal(i int, value types.Decimal) {
	v.Decimals[i] = value
	v.Valid.Set(i)
}

// SetText sets row i of a STRING or BYTES to a view that must stay valid as
// long as the batch.
func (v *Vector) SetText(i int, value string) {
	v.Texts[i] = value
	v.Valid.Set(i)
}

// SetSpan makes row i of an ARRAY or MAP the elements start .. start+n of the children.
func (v *Vector) SetSpan(i, start, n int) {
	v.Spans[i] = Span{int32(start), int32(n)}
	v.Valid.Set(i)
}

// CopyRow makes row i of v equal to row j of from, which has the same type.
// Texts stay views.
func (v *Vector) CopyRow(i int, from *Vector, j int) {
	if from.Null(j) {
		v.SetNull(i)
		return
	}
	v.Valid.Set(i)
	switch v.Type.Kind {
	case types.KindBoolean:
		v.Bools[i] = from.Bools[j]
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		v.Ints[i] = from.Ints[j]
	case types.KindDouble:
		v.Doubles[i] = from.Doubles[j]
	case types.KindDecimal:
		v.Decimals[i] = from.Decimals[j]
	case types.KindString, types.KindBytes:
		v.Texts[i] = from.Texts[j]
	case types.KindArray, types.KindMap:
		v.copySpan(i, from, j)
	case types.KindStruct:
		for k, child := range v.Children {
			child.CopyRow(i, from.Children[k], j)
		}
	}
}

func (v *Vector) copySpan(i int, from *Vector, j int) {
	span := from.Spans[j]
	start := 0
	for k, child := range v.Children {
		source := from.Children[k]
		start = child.Extend(int(span.Len))
		for n := range int(span.Len) {
			child.CopyRow(start+n, source, int(span.Start)+n)
		}
	}
	v.Spans[i] = Span{int32(start), span.Len}
}

// EqualRows tells whether row i of a and row j of b, of the same type, hold the
// same value; null equals null, NaN equals NaN.
func EqualRows(a *Vector, i int, b *Vector, j int) bool {
	if a.Null(i) || b.Null(j) {
		return a.Null(i) && b.Null(j)
	}
	switch a.Type.Kind {
	case types.KindBoolean:
		return a.Bools[i] == b.Bools[j]
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		return a.Ints[i] == b.Ints[j]
	case types.KindDouble:
		x, y := a.Doubles[i], b.Doubles[j]
		return x == y || x != x && y != y
	case types.KindDecimal:
		return a.Decimals[i] == b.Decimals[j]
	case types.KindString, types.KindBytes:
		return a.Texts[i] == b.Texts[j]
	case types.KindStruct:
		for k := range a.Children {
			if !EqualRows(a.Children[k], i, b.Children[k], j) {
				return false
			}
		}
		return true
	case types.KindMap:
		return equalMaps(a, a.Spans[i], b, b.Spans[j])
	case types.KindArray:
		x, y := a.Spans[i], b.Spans[j]
		if x.Len != y.Len {
			return false
		}
		for n := range x.Len {
			if !EqualRows(a.Children[0], int(x.Start+n), b.Children[0], int(y.Start+n)) {
				return false
			}
		}
	}
	return true
}

// equalMaps compares without regard to the order of the entries.
func equalMaps(a *Vector, x Span, b *Vector, y Span) bool {
	if x.Len != y.Len {
		return false
	}
	for n := range x.Len {
		at := int(x.Start + n)
		found := false
		for m := range y.Len {
			other := int(y.Start + m)
			if EqualRows(a.Children[0], at, b.Children[0], other) {
				found = EqualRows(a.Children[1], at, b.Children[1], other)
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
