package format

import (
	"encoding/binary"
	"math"
	"strconv"

	"millrace/exec/column"
	"millrace/sql/types"
)

// convert reads a scalar into a column of another kind: a number into a DOUBLE
// or DECIMAL that holds it, and anything but bytes into a STRING, as its text.
func (d *avroDecoder) convert(b []byte, i int, v *column.Vector, r *avroReader, row int) int {
	switch r.from.kind {
	case avroInt, avroLong:
		value, next := zigzag(b, i)
		if next < 0 {
			return d.fail(avroCut)
		}
		if reason := setFromWhole(v, row, value, d.arena); reason != "" {
			return d.fail(reason)
		}
		return next
	case avroBoolean:
		value, next := d.boolean(b, i)
		v.SetText(row, strconv.FormatBool(value))
		return next
	case avroFloat, avroDouble:
		value, next := d.float(b, i, r.from)
		d.setText(v, row, types.AppendDouble(d.arena.Tail(32), value))
		return next
	}
	return d.decimal(b, i, v, r, row)
}

// float reads a float or double; a float as shortestDouble gives it.
func (d *avroDecoder) float(b []byte, i int, t *avroType) (value float64, next int) {
	switch {
	case t.kind == avroFloat && i+4 <= len(b):
		return shortestDouble(math.Float32frombits(binary.LittleEndian.Uint32(b[i:]))), i + 4
	case t.kind == avroDouble && i+8 <= len(b):
		return math.Float64frombits(binary.LittleEndian.Uint64(b[i:])), i + 8
	}
	return 0, d.fail(avroCut)
}

func (d *avroDecoder) setText(v *column.Vector, row int, text []byte) {
	v.SetText(row, d.arena.Keep(text))
}

// shortestDouble is the DOUBLE whose text is the shortest that stands for the
// float, as Java prints it.
func shortestDouble(value float32) float64 {
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], float64(value), 'g', -1, 32)
	double, err := strconv.ParseFloat(column.View(text), 64)
	if err != nil {
		return float64(value)
	}
	return double
}

// setFromWhole sets row i of a DOUBLE, DECIMAL or STRING, or says why it cannot.
func setFromWhole(v *column.Vector, i int, value int64, arena *column.Arena) string {
	switch v.Type.Kind {
	case types.KindDouble:
		v.SetDouble(i, float64(value))
	case types.KindDecimal:
		decimal, err := types.DecimalFromInt(value).Rescale(0, v.Type.Scale)
		if err != nil || !decimal.Fits(v.Type.Precision) {
			return outOfRange(strconv.FormatInt(value, 10), v.Type)
		}
		v.SetDecimal(i, decimal)
	default:
		v.SetText(i, arena.Keep(strconv.AppendInt(arena.Tail(20), value, 10)))
	}
	return ""
}

// decimal reads a number of the schema's scale that is written as the bytes of
// its unscaled value.
func (d *avroDecoder) decimal(b []byte, i int, v *column.Vector, r *avroReader, row int) int {
	part, next := d.part(b, i, r.from)
	if next < 0 {
		return -1
	}
	value, ok := decimalOfBytes(part)
	if !ok {
		return d.fail(outOfRange("a number of "+strconv.Itoa(len(part))+" bytes", v.Type))
	}
	scale := r.from.scale
	switch v.Type.Kind {
	case types.KindDouble:
		v.SetDouble(row, value.Double(scale))
	case types.KindString:
		d.setText(v, row, value.Append(d.arena.Tail(48+scale), scale))
	default:
		decimal, err := value.Rescale(scale, v.Type.Scale)
		if err != nil || !decimal.Fits(v.Type.Precision) {
			return d.fail(value.Text(scale) + " does not fit " + v.Type.String())
		}
		v.SetDecimal(row, decimal)
	}
	return next
}
