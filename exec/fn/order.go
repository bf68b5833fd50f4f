package fn

import (
	"cmp"

	"millrace/exec/column"
	"millrace/sql/types"
)

// compareRows orders row i of a and row j of b, of the same type and not null:
// numbers and times by value, NaN above all, texts by UTF-16 unit, bytes as
// unsigned, false before true. ARRAY, MAP and STRUCT have no order and give 0.
func compareRows(a *column.Vector, i int, b *column.Vector, j int) int {
	switch a.Type.Kind {
	case types.KindBoolean:
		return cmp.Compare(truth(a.Bools[i]), truth(b.Bools[j]))
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		return cmp.Compare(a.Ints[i], b.Ints[j])
	case types.KindDouble:
		return compareDoubles(a.Doubles[i], b.Doubles[j])
	case types.KindDecimal:
		return types.CompareDecimals(a.Decimals[i], a.Type.Scale, b.Decimals[j], b.Type.Scale)
	case types.KindString:
		return types.CompareText(a.Texts[i], b.Texts[j])
	case types.KindBytes:
		return cmp.Compare(a.Texts[i], b.Texts[j])
	}
	return 0
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareDoubles is Double.compare but for the two zeros, which are equal.
func compareDoubles(x, y float64) int {
	switch {
	case x != x || y != y:
		return truth(x != x) - truth(y != y)
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
