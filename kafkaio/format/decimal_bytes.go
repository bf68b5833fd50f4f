package format

import (
	"encoding/binary"

	"millrace/sql/types"
)

// decimalOfBytes is a number in two's complement, big-endian, if it fits 128
// bits. No bytes are 0.
func decimalOfBytes(part []byte) (types.Decimal, bool) {
	var fill byte
	if len(part) > 0 && part[0] >= 0x80 {
		fill = 0xFF
	}
	for len(part) > 16 {
		if part[0] != fill {
			return types.Decimal{}, false
		}
		part = part[1:]
	}
	var wide [16]byte
	for k := range wide {
		wide[k] = fill
	}
	copy(wide[16-len(part):], part)
	value := types.Decimal{High: int64(binary.BigEndian.Uint64(wide[:])), Low: binary.BigEndian.Uint64(wide[8:])}
	return value, value.High < 0 == (fill != 0)
}

// appendDecimalBytes appends a number in as few bytes as hold it in two's
// complement, big-endian, and at least one.
func appendDecimalBytes(dst []byte, value types.Decimal) []byte {
	var wide [16]byte
	binary.BigEndian.PutUint64(wide[:], uint64(value.High))
	binary.BigEndian.PutUint64(wide[8:], value.Low)
	from := 0
	for from < 15 && (wide[from] == 0 && wide[from+1] < 0x80 || wide[from] == 0xFF && wide[from+1] >= 0x80) {
		from++
	}
	return append(dst, wide[from:]...)
}
