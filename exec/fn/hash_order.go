package fn

import (
	"math"
	"slices"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

// hashOrder appends the positions of the entries of the MAP in row i in the
// order in which Java's HashMap gives them: by bucket, and within a bucket as they
// were put in. It is what ksqlDB's users see of maps.
func hashOrder(order []int, v *column.Vector, i int) []int {
	span := v.Spans[i]
	buckets := 16
	for int(span.Len) > buckets*3/4 {
		buckets *= 2
	}
	for n := range int(span.Len) {
		order = append(order, int(span.Start)+n)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return hashBucket(v.Children[0], a, buckets) - hashBucket(v.Children[0], b, buckets)
	})
	return order
}

func hashBucket(keys *column.Vector, at, buckets int) int {
	hash := javaHash(keys, at)
	return int((hash ^ hash>>16) & uint32(buckets-1))
}

// javaHash is Object.hashCode of a key, for the types that keys of maps in topics
// have; other keys have some hash that depends on the value alone.
func javaHash(v *column.Vector, i int) uint32 {
	if v.Null(i) {
		return 0
	}
	switch v.Type.Kind {
	case types.KindBoolean:
		if v.Bools[i] {
			return 1231
		}
		return 1237
	case types.KindDouble:
		bits := math.Float64bits(v.Doubles[i])
		return uint32(bits ^ bits>>32)
	case types.KindInteger:
		return uint32(v.Ints[i])
	case types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		bits := uint64(v.Ints[i])
		return uint32(bits ^ bits>>32)
	case types.KindString, types.KindBytes:
		return javaTextHash(v.Texts[i])
	case types.KindDecimal:
		var room [48]byte
		return javaTextHash(column.View(v.Decimals[i].Append(room[:0], v.Type.Scale)))
	}
	return javaTextHash(column.View(column.AppendRow(nil, []*column.Vector{v}, i)))
}

// javaTextHash is String.hashCode, over UTF-16 code units.
func javaTextHash(text string) uint32 {
	hash := uint32(0)
	for _, r := range text {
		if r >= utf8.RuneSelf && r > 0xFFFF {
			r -= 0x10000
			hash = hash*31 + uint32(0xD800+r>>10)
			r = 0xDC00 + r&0x3FF
		}
		hash = hash*31 + uint32(r)
	}
	return hash
}
