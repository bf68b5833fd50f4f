package fn

import (
	"strconv"

	"millrace/exec/column"
	"millrace/sql/types"
)

// AppendText appends row i of v as CAST AS STRING prints it, which is Java's
// way: 1.0E10, [a, null], {k=v}, Struct{F=1,G=x}; null as the word null.
func AppendText(dst []byte, v *column.Vector, i int) []byte {
	if v.Null(i) {
		return append(dst, "null"...)
	}
	switch v.Type.Kind {
	case types.KindBoolean:
		return strconv.AppendBool(dst, v.Bools[i])
	case types.KindInteger, types.KindBigint:
		return strconv.AppendInt(dst, v.Ints[i], 10)
	case types.KindDouble:
		return types.AppendDouble(dst, v.Doubles[i])
	case types.KindDecimal:
		return v.Decimals[i].Append(dst, v.Type.Scale)
	case types.KindString, types.KindBytes:
		return append(dst, v.Texts[i]...)
	case types.KindDate:
		return types.AppendDate(dst, v.Ints[i])
	case types.KindTime:
		return types.AppendTime(dst, v.Ints[i])
	case types.KindTimestamp:
		return types.AppendTimestamp(dst, v.Ints[i])
	}
	return appendNested(dst, v, i)
}

func appendNested(dst []byte, v *column.Vector, i int) []byte {
	switch v.Type.Kind {
	case types.KindArray:
		dst = append(dst, '[')
		for n := range int(v.Spans[i].Len) {
			if n > 0 {
				dst = append(dst, ", "...)
			}
			dst = AppendText(dst, v.Children[0], int(v.Spans[i].Start)+n)
		}
		return append(dst, ']')
	case types.KindMap:
		dst = append(dst, '{')
		var room [16]int
		for n, at := range hashOrder(room[:0], v, i) {
			if n > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(AppendText(dst, v.Children[0], at), '=')
			dst = AppendText(dst, v.Children[1], at)
		}
		return append(dst, '}')
	}
	dst = append(dst, "Struct{"...)
	printed := 0
	for k, field := range v.Type.Fields {
		if v.Children[k].Null(i) {
			continue
		}
		if printed++; printed > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, field.Name...), '=')
		dst = AppendText(dst, v.Children[k], i)
	}
	return append(dst, '}')
}
