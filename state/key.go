package state

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

const (
	keyNull    = 0
	keyPresent = 1

	elementsEnd = 0
	element     = 1

	textEnd    = 0
	textEscape = 1 // before 1 for a byte 0, before 2 for a byte 1
)

// AppendKey appends the key of row i of the columns. Keys of the same column
// types are ordered as the values are, column by column, null first; none is
// the beginning of another of the same types. Per column a byte 0 for null, or
// a byte 1 and
//
//	BOOLEAN                                one byte
//	INTEGER BIGINT DATE TIME TIMESTAMP     8 bytes big endian, sign bit flipped
//	DOUBLE                                 8 bytes big endian, ordered; one NaN, behind all; -0 is 0
//	DECIMAL                                16 bytes big endian, sign bit flipped
//	STRING BYTES                           the bytes, 0 as 1 1 and 1 as 1 2, then 0
//	ARRAY                                  each element after a byte 1, then 0
//	MAP                                    each key and value after a byte 1, in the order of keys, then 0
//	STRUCT                                 the fields
func AppendKey(dst []byte, columns []*column.Vector, i int) []byte {
	for _, v := range columns {
		dst = appendKeyValue(dst, v, i)
	}
	return dst
}

func appendKeyValue(dst []byte, v *column.Vector, i int) []byte {
	if v.Null(i) {
		return append(dst, keyNull)
	}
	dst = append(dst, keyPresent)
	switch v.Type.Kind {
	case types.KindBoolean:
		if v.Bools[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Ints[i])^1<<63)
	case types.KindDouble:
		return binary.BigEndian.AppendUint64(dst, orderedDouble(v.Doubles[i]))
	case types.KindDecimal:
		d := v.Decimals[i]
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.High)^1<<63)
		return binary.BigEndian.AppendUint64(dst, d.Low)
	case types.KindString, types.KindBytes:
		return appendText(dst, v.Texts[i])
	case types.KindArray:
		span := v.Spans[i]
		for n := range span.Len {
			dst = appendKeyValue(append(dst, element), v.Children[0], int(span.Start+n))
		}
		return append(dst, elementsEnd)
	case types.KindMap:
		return appendMap(dst, v, v.Spans[i])
	}
	return AppendKey(dst, v.Children, i)
}

// orderedDouble maps v to bits that sort as the numbers do.
func orderedDouble(v float64) uint64 {
	if v != v {
		return math.MaxUint64
	}
	if v == 0 {
		v = 0 // equal numbers are one key
	}
	bits := math.Float64bits(v)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func appendText(dst []byte, text string) []byte {
	if strings.IndexByte(text, textEnd) < 0 && strings.IndexByte(text, textEscape) < 0 {
		return append(append(dst, text...), textEnd)
	}
	for i := range len(text) {
		if c := text[i]; c <= textEscape {
			dst = append(dst, textEscape, c+1)
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, textEnd)
}

// appendMap sorts the entries, since equal maps may hold them in any order.
func appendMap(dst []byte, v *column.Vector, span column.Span) []byte {
	entries := make([][]byte, span.Len)
	for n := range entries {
		at := int(span.Start) + n
		entries[n] = appendKeyValue(appendKeyValue([]byte{element}, v.Children[0], at), v.Children[1], at)
	}
	slices.SortFunc(entries, bytes.Compare)
	for _, entry := range entries {
		dst = append(dst, entry...)
	}
	return append(dst, elementsEnd)
}
