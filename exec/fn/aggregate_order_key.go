package fn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

// ordered tells whether aggregates can order values of a type.
func ordered(t *types.Type) bool {
	switch t.Kind {
	case types.KindBoolean, types.KindArray, types.KindMap, types.KindStruct, types.KindNull:
		return false
	}
	return true
}

const signBit = 1 << 63

// appendOrderKey encodes row i of v, which is not null and of an ordered type,
// so that orderKeys compares the bytes as the values: DOUBLE in Java's total
// order, in which NaN is the greatest value and -0.0 is less than 0.0.
func appendOrderKey(dst []byte, v *column.Vector, i int) []byte {
	switch v.Type.Kind {
	case types.KindDouble:
		bits := math.Float64bits(v.Doubles[i])
		switch {
		case v.Doubles[i] != v.Doubles[i]:
			bits = math.MaxUint64
		case bits&signBit != 0:
			bits = ^bits
		default:
			bits |= signBit
		}
		return binary.BigEndian.AppendUint64(dst, bits)
	case types.KindDecimal:
		d := v.Decimals[i]
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(d.High)^signBit), d.Low)
	case types.KindString, types.KindBytes:
		return append(dst, v.Texts[i]...)
	}
	return binary.BigEndian.AppendUint64(dst, uint64(v.Ints[i])^signBit)
}

// setOrderKey sets row i of v to what appendOrderKey encoded. Texts become views
// into key.
func setOrderKey(key []byte, v *column.Vector, i int) error {
	width := 8
	switch v.Type.Kind {
	case types.KindString, types.KindBytes:
		v.SetText(i, column.View(key))
		return nil
	case types.KindDecimal:
		width = 16
	}
	if len(key) != width {
		v.SetNull(i)
		return fmt.Errorf("%w: a value of %d bytes", ErrState, len(key))
	}
	first := binary.BigEndian.Uint64(key)
	switch v.Type.Kind {
	case types.KindDecimal:
		v.SetDecimal(i, types.Decimal{High: int64(first ^ signBit), Low: binary.BigEndian.Uint64(key[8:])})
	case types.KindDouble:
		switch {
		case first == math.MaxUint64:
			v.SetDouble(i, math.NaN())
		case first&signBit != 0:
			v.SetDouble(i, math.Float64frombits(first&^signBit))
		default:
			v.SetDouble(i, math.Float64frombits(^first))
		}
	default:
		v.SetInt(i, int64(first^signBit))
	}
	return nil
}

// orderKeys is the order of a type's order keys.
func orderKeys(t *types.Type) func(a, b []byte) int {
	if t.Kind == types.KindString {
		return func(a, b []byte) int { return types.CompareText(column.View(a), column.View(b)) }
	}
	return bytes.Compare
}
