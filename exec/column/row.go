package column

import (
	"encoding/binary"
	"errors"
	"math"

	"millrace/sql/types"
)

// ErrRow says that bytes are no encoded row of the columns asked for.
var ErrRow = errors.New("corrupt encoded row")

// AppendRow encodes row i of the columns in the project's own form: per column
// a presence bit (in bytes of eight columns, at the front) and the value, as
//
//	BOOLEAN one byte; INTEGER .. TIMESTAMP zigzag varint; DOUBLE 8 bytes;
//	DECIMAL 16 bytes; texts a length and the bytes; ARRAY and MAP a count and
//	the elements, each with a presence byte; STRUCT as a row of its fields
//
// Stores, changelogs and repartition topics hold rows in this form.
func AppendRow(dst []byte, columns []*Vector, i int) []byte {
	mask := len(dst)
	for range (len(columns) + 7) / 8 {
		dst = append(dst, 0)
	}
	for c, v := range columns {
		if v.Null(i) {
			continue
		}
		dst[mask+c/8] |= 1 << (c % 8)
		dst = appendValue(dst, v, i)
	}
	return dst
}

func appendValue(dst []byte, v *Vector, i int) []byte {
	switch v.Type.Kind {
	case types.KindBoolean:
		if v.Bools[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		return binary.AppendVarint(dst, v.Ints[i])
	case types.KindDouble:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Doubles[i]))
	case types.KindDecimal:
		d := v.Decimals[i]
		dst = binary.LittleEndian.AppendUint64(dst, uint64(d.High))
		return binary.LittleEndian.AppendUint64(dst, d.Low)
	case types.KindString, types.KindBytes:
		dst = binary.AppendUvarint(dst, uint64(len(v.Texts[i])))
		return append(dst, v.Texts[i]...)
	case types.KindStruct:
		return AppendRow(dst, v.Children, i)
	}
	span := v.Spans[i]
	dst = binary.AppendUvarint(dst, uint64(span.Len))
	for _, child := range v.Children {
		for n := range int(span.Len) {
			at := int(span.Start) + n
			if child.Null(at) {
				dst = append(dst, 0)
				continue
			}
			dst = appendValue(append(dst, 1), child, at)
		}
	}
	return dst
}

// DecodeRow sets row i of the columns from what AppendRow made of columns of
// the same types. A nil column is skipped. Texts become views into src.
func DecodeRow(src []byte, columns []*Vector, types []*types.Type, i int) error {
	_, err := decodeRow(src, columns, types, i)
	return err
}

func decodeRow(src []byte, columns []*Vector, kinds []*types.Type, i int) ([]byte, error) {
	size := (len(kinds) + 7) / 8
	if len(src) < size {
		return nil, ErrRow
	}
	mask, src := src[:size], src[size:]
	var err error
	for c, t := range kinds {
		var v *Vector
		if columns != nil {
			v = columns[c]
		}
		if mask[c/8]>>(c%8)&1 == 0 {
			if v != nil {
				v.SetNull(i)
			}
			continue
		}
		if src, err = decodeValue(src, v, t, i); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// decodeValue reads one value of type t into row i of v, or over it if v is nil.
func decodeValue(src []byte, v *Vector, t *types.Type, i int) ([]byte, error) {
	switch t.Kind {
	case types.KindBoolean:
		if len(src) < 1 {
			return nil, ErrRow
		}
		if v != nil {
			v.SetBool(i, src[0] != 0)
		}
		return src[1:], nil
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		value, n := binary.Varint(src)
		if n <= 0 {
			return nil, ErrRow
		}
		if v != nil {
			v.SetInt(i, value)
		}
		return src[n:], nil
	case types.KindDouble:
		if len(src) < 8 {
			return nil, ErrRow
		}
		if v != nil {
			v.SetDouble(i, math.Float64frombits(binary.LittleEndian.Uint64(src)))
		}
		return src[8:], nil
	case types.KindDecimal:
		if len(src) < 16 {
			return nil, ErrRow
		}
		if v != nil {
			v.SetDecimal(i, types.Decimal{
				High: int64(binary.LittleEndian.Uint64(src)), Low: binary.LittleEndian.Uint64(src[8:]),
			})
		}
		return src[16:], nil
	case types.KindString, types.KindBytes:
		length, n := binary.Uvarint(src)
		if n <= 0 || length > uint64(len(src)-n) {
			return nil, ErrRow
		}
		if v != nil {
			v.SetText(i, View(src[n:n+int(length)]))
		}
		return src[n+int(length):], nil
	case types.KindStruct:
		return decodeStruct(src, v, t, i)
	}
	return decodeElements(src, v, t, i)
}

func decodeStruct(src []byte, v *Vector, t *types.Type, i int) ([]byte, error) {
	kinds := make([]*types.Type, len(t.Fields))
	for k, field := range t.Fields {
		kinds[k] = field.Type
	}
	var children []*Vector
	if v != nil {
		children = v.Children
		v.Valid.Set(i)
	}
	return decodeRow(src, children, kinds, i)
}

func decodeElements(src []byte, v *Vector, t *types.Type, i int) ([]byte, error) {
	count, n := binary.Uvarint(src)
	if n <= 0 || count > uint64(len(src)) {
		return nil, ErrRow
	}
	src = src[n:]
	kinds := []*types.Type{t.Elem}
	if t.Kind == types.KindMap {
		kinds = []*types.Type{t.Key, t.Elem}
	}
	start := 0
	var err error
	for k, kind := range kinds {
		var child *Vector
		if v != nil {
			child = v.Children[k]
			start = child.Extend(int(count))
		}
		for e := range int(count) {
			if len(src) < 1 {
				return nil, ErrRow
			}
			present := src[0] != 0
			src = src[1:]
			if !present {
				continue
			}
			if src, err = decodeValue(src, child, kind, start+e); err != nil {
				return nil, err
			}
		}
	}
	if v != nil {
		v.SetSpan(i, start, int(count))
	}
	return src, nil
}
