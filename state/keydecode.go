package state

import (
	"bytes"
	"encoding/binary"
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

// DecodeKey sets row i of the columns from what AppendKey made of columns of
// the same types. A nil column is skipped. Texts become views into src, if they
// hold no byte that needs escaping. A key that is not of the types gives an
// error that wraps ErrCorrupt; the row is undefined then.
func DecodeKey(src []byte, columns []*column.Vector, kinds []*types.Type, i int) error {
	rest, ok := src, true
	for c, t := range kinds {
		var v *column.Vector
		if columns != nil {
			v = columns[c]
		}
		if rest, ok = decodeKeyValue(rest, v, t, i); !ok {
			return corrupt("a key of %d bytes in column %d of type %s", len(src), c, t)
		}
	}
	if len(rest) > 0 {
		return corrupt("a key of %d bytes with %d too many", len(src), len(rest))
	}
	return nil
}

// decodeKeyValue reads a value of type t into row i of v, or over it if v is nil,
// and returns what follows.
func decodeKeyValue(src []byte, v *column.Vector, t *types.Type, i int) ([]byte, bool) {
	if len(src) == 0 || src[0] > keyPresent {
		return nil, false
	}
	present := src[0] == keyPresent
	src = src[1:]
	if !present {
		if v != nil {
			v.SetNull(i)
		}
		return src, true
	}
	switch t.Kind {
	case types.KindString, types.KindBytes:
		return decodeText(src, v, i)
	case types.KindArray:
		return decodeElements(src, v, []*types.Type{t.Elem}, i)
	case types.KindMap:
		return decodeElements(src, v, []*types.Type{t.Key, t.Elem}, i)
	case types.KindStruct:
		return decodeFields(src, v, t, i)
	}
	return decodeFixed(src, v, t, i)
}

func decodeFixed(src []byte, v *column.Vector, t *types.Type, i int) ([]byte, bool) {
	size := 8
	switch t.Kind {
	case types.KindBoolean:
		size = 1
	case types.KindDecimal:
		size = 16
	}
	if len(src) < size {
		return nil, false
	}
	value, rest := src[:size], src[size:]
	if v == nil {
		return rest, true
	}
	switch t.Kind {
	case types.KindBoolean:
		if value[0] > 1 {
			return nil, false
		}
		v.SetBool(i, value[0] == 1)
	case types.KindDouble:
		v.SetDouble(i, doubleOf(binary.BigEndian.Uint64(value)))
	case types.KindDecimal:
		v.SetDecimal(i, types.Decimal{
			High: int64(binary.BigEndian.Uint64(value) ^ 1<<63), Low: binary.BigEndian.Uint64(value[8:]),
		})
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		v.SetInt(i, int64(binary.BigEndian.Uint64(value)^1<<63))
	default:
		return nil, false
	}
	return rest, true
}

// doubleOf is the inverse of orderedDouble.
func doubleOf(bits uint64) float64 {
	if bits == math.MaxUint64 {
		return math.NaN()
	}
	if bits>>63 != 0 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}

func decodeText(src []byte, v *column.Vector, i int) ([]byte, bool) {
	end := bytes.IndexByte(src, textEnd)
	if end < 0 {
		return nil, false
	}
	text, rest := src[:end], src[end+1:]
	if bytes.IndexByte(text, textEscape) >= 0 {
		var ok bool
		if text, ok = unescape(text); !ok {
			return nil, false
		}
	}
	if v != nil {
		v.SetText(i, column.View(text))
	}
	return rest, true
}

func unescape(text []byte) ([]byte, bool) {
	plain := make([]byte, 0, len(text))
	for n := 0; n < len(text); n++ {
		c := text[n]
		if c == textEscape {
			if n++; n == len(text) || text[n] < 1 || text[n] > 2 {
				return nil, false
			}
			c = text[n] - 1
		}
		plain = append(plain, c)
	}
	return plain, true
}

// decodeElements reads an ARRAY's elements, or a MAP's keys and values.
func decodeElements(src []byte, v *column.Vector, kinds []*types.Type, i int) ([]byte, bool) {
	start, count := 0, 0
	if v != nil {
		start = v.Children[0].Len()
	}
	for {
		if len(src) == 0 || src[0] > element {
			return nil, false
		}
		more := src[0] == element
		src = src[1:]
		if !more {
			break
		}
		for k, kind := range kinds {
			var child *column.Vector
			at := 0
			if v != nil {
				child = v.Children[k]
				at = child.Extend(1)
			}
			var ok bool
			if src, ok = decodeKeyValue(src, child, kind, at); !ok {
				return nil, false
			}
		}
		count++
	}
	if v != nil {
		v.SetSpan(i, start, count)
	}
	return src, true
}

func decodeFields(src []byte, v *column.Vector, t *types.Type, i int) ([]byte, bool) {
	for k, field := range t.Fields {
		var child *column.Vector
		if v != nil {
			child = v.Children[k]
		}
		var ok bool
		if src, ok = decodeKeyValue(src, child, field.Type, i); !ok {
			return nil, false
		}
	}
	if v != nil {
		v.Valid.Set(i)
	}
	return src, true
}
