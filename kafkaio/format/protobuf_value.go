package format

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"millrace/exec/column"
	"millrace/sql/types"
)

// value reads the value at i, its tag behind it, into row of v.
func (d *protobufDecoder) value(b []byte, i int, field *protobufField, v *column.Vector, row int) int {
	switch field.op {
	case opText, opBytes:
		start, end := d.content(b, i)
		if end < 0 {
			return -1
		}
		if field.op == opText && !isUTF8(b, start, end) {
			return d.broken(brokenText)
		}
		v.SetText(row, column.View(b[start:end]))
		return end
	case opWhole, opBool, opFloat, opDouble, opNumber:
		raw, next := d.number(b, i, field.wire)
		if next < 0 || !d.setNumber(raw, field, v, row) {
			return -1
		}
		return next
	}
	start, end, next := d.nested(b, i, field)
	if next < 0 || !d.setMessage(b[start:end], field, v, row) {
		return -1
	}
	return next
}

// isUTF8 tells whether b from start to end is valid UTF-8. Most texts are ASCII
// and short: eight bytes are looked at at once, those behind the end masked.
func isUTF8(b []byte, start, end int) bool {
	var all uint64
	i := start
	for ; i+8 <= end; i += 8 {
		all |= binary.LittleEndian.Uint64(b[i:])
	}
	if i < end && i+8 <= len(b) {
		all |= binary.LittleEndian.Uint64(b[i:]) & firstBytes(end-i)
	} else {
		for ; i < end; i++ {
			all |= uint64(b[i])
		}
	}
	return all&highBits == 0 || utf8.Valid(b[start:end])
}

// number reads the bits of a number.
func (d *protobufDecoder) number(b []byte, i int, wire protowire.Type) (uint64, int) {
	switch wire {
	case protowire.Fixed32Type:
		if i+4 > len(b) {
			return 0, d.broken(brokenEnd)
		}
		return uint64(binary.LittleEndian.Uint32(b[i:])), i + 4
	case protowire.Fixed64Type:
		if i+8 > len(b) {
			return 0, d.broken(brokenEnd)
		}
		return binary.LittleEndian.Uint64(b[i:]), i + 8
	}
	return d.varint(b, i)
}

// whole is the value of a whole number's bits. Of unsigned 64-bit ones it is
// the signed number of these bits, as in Java.
func (f protobufForm) whole(raw uint64) int64 {
	switch f {
	case formInt32, formEnum:
		return int64(int32(raw))
	case formUint32:
		return int64(uint32(raw))
	case formSint32:
		return int64(int32(protowire.DecodeZigZag(raw & math.MaxUint32)))
	case formSint64:
		return protowire.DecodeZigZag(raw)
	}
	return int64(raw)
}

func (d *protobufDecoder) setNumber(raw uint64, field *protobufField, v *column.Vector, row int) bool {
	switch field.op {
	case opWhole:
		value := field.form.whole(raw)
		if value < field.low || value > field.high {
			d.broken(outOfRange(strconv.FormatInt(value, 10), field.target))
			return false
		}
		v.SetInt(row, value)
	case opBool:
		v.SetBool(row, raw != 0)
	case opFloat:
		v.SetDouble(row, float64(math.Float32frombits(uint32(raw))))
	case opDouble:
		v.SetDouble(row, math.Float64frombits(raw))
	default:
		return d.convert(raw, field, v, row)
	}
	return true
}

// convert sets row of v to a number of another type.
func (d *protobufDecoder) convert(raw uint64, field *protobufField, v *column.Vector, row int) bool {
	switch whole := field.form.whole(raw); field.target.Kind {
	case types.KindDouble:
		if field.form == formUint64 {
			v.SetDouble(row, float64(raw))
			return true
		}
		v.SetDouble(row, float64(whole))
	case types.KindDecimal:
		value := types.DecimalFromInt(whole)
		if field.form == formUint64 {
			value.High = 0
		}
		value, err := value.Rescale(0, field.target.Scale)
		if err != nil || !value.Fits(field.target.Precision) {
			d.broken(outOfRange(field.numberText(raw), field.target))
			return false
		}
		v.SetDecimal(row, value)
	default:
		if name, ok := field.enum[int32(whole)]; ok {
			v.SetText(row, name)
			return true
		}
		v.SetText(row, d.arena.Copy(field.numberText(raw)))
	}
	return true
}

// numberText is a number as SQL prints it. An enum's number without a name is
// printed too.
func (f *protobufField) numberText(raw uint64) string {
	switch f.form {
	case formBool:
		return strconv.FormatBool(raw != 0)
	case formUint64:
		return strconv.FormatUint(raw, 10)
	case formFloat:
		return string(types.AppendDouble(nil, float64(math.Float32frombits(uint32(raw)))))
	case formDouble:
		return string(types.AppendDouble(nil, math.Float64frombits(raw)))
	}
	return strconv.FormatInt(f.form.whole(raw), 10)
}

// setMessage sets row of v from a message.
func (d *protobufDecoder) setMessage(b []byte, field *protobufField, v *column.Vector, row int) bool {
	switch field.op {
	case opMessage:
		if v.Null(row) {
			v.Valid.Set(row)
			return d.fresh(b, field.message, v.Children, row)
		}
		_, ok := d.merge(b, field.message, v.Children, row)
		return ok
	case opWrapper:
		return d.wrapped(b, field, v, row)
	case opDecimal:
		return d.decimal(b, v, row)
	}
	var parts [5]int64
	if !d.parts(b, &parts) {
		return false
	}
	switch field.op {
	case opDate:
		return d.date(parts, v, row)
	case opTime:
		return d.time(parts, v, row)
	}
	return d.timestamp(parts, v, row)
}

// wrapped reads the only field of a wrapper, which is 0 if it is missing.
func (d *protobufDecoder) wrapped(b []byte, field *protobufField, v *column.Vector, row int) bool {
	inner := field.inner
	if v.Null(row) {
		v.CopyRow(row, inner.preset, 0)
	}
	for i := 0; i < len(b); {
		tag, next := d.varint(b, i)
		if next < 0 {
			return false
		}
		if tag == uint64(inner.number)<<3|uint64(inner.wire) {
			i = d.value(b, next, inner, v, row)
		} else {
			i = d.skip(b, next, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// parts reads the whole numbers that the first fields of a message hold.
func (d *protobufDecoder) parts(b []byte, parts *[5]int64) bool {
	for i := 0; i < len(b); {
		tag, next := d.varint(b, i)
		if next < 0 {
			return false
		}
		if number := tag >> 3; tag&7 == uint64(protowire.VarintType) && number > 0 && number < uint64(len(parts)) {
			var raw uint64
			raw, i = d.varint(b, next)
			parts[number] = int64(raw)
		} else {
			i = d.skip(b, next, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// decimal reads a confluent.type.Decimal: the unscaled value in two's complement,
// big endian, and the scale.
func (d *protobufDecoder) decimal(b []byte, v *column.Vector, row int) bool {
	var unscaled []byte
	scale := 0
	for i := 0; i < len(b); {
		tag, next := d.varint(b, i)
		if next < 0 {
			return false
		}
		switch tag {
		case 1<<3 | uint64(protowire.BytesType):
			var start int
			if start, i = d.content(b, next); i >= 0 {
				unscaled = b[start:i]
			}
		case 3<<3 | uint64(protowire.VarintType):
			var raw uint64
			raw, i = d.varint(b, next)
			scale = int(int32(raw))
		default:
			i = d.skip(b, next, tag)
		}
		if i < 0 {
			return false
		}
	}
	value, ok := decimalOfBytes(unscaled)
	if ok {
		var err error
		value, err = value.Rescale(scale, v.Type.Scale)
		ok = err == nil && value.Fits(v.Type.Precision)
	}
	if !ok {
		d.broken("the number does not fit " + v.Type.String() + " without rounding")
		return false
	}
	v.SetDecimal(row, value)
	return true
}

// date sets a DATE from year, month and day. None of them at all is no date,
// and so null.
func (d *protobufDecoder) date(parts [5]int64, v *column.Vector, row int) bool {
	year, month, day := int(int32(parts[1])), int(int32(parts[2])), int(int32(parts[3]))
	if year == 0 && month == 0 && day == 0 {
		v.SetNull(row)
		return true
	}
	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if month < 1 || month > 12 || day != midnight.Day() || midnight.Unix()/86400 > maxDay || midnight.Unix()/86400 < -maxDay {
		d.broken("year " + strconv.Itoa(year) + ", month " + strconv.Itoa(month) + " and day " + strconv.Itoa(day) + " are no date")
		return false
	}
	v.SetInt(row, midnight.Unix()/86400)
	return true
}

func (d *protobufDecoder) time(parts [5]int64, v *column.Vector, row int) bool {
	hours, minutes, seconds, nanos := int32(parts[1]), int32(parts[2]), int32(parts[3]), int32(parts[4])
	if hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 || nanos < 0 || nanos > 999_999_999 {
		d.broken("the hours, minutes, seconds and nanoseconds are no time of a day")
		return false
	}
	v.SetInt(row, (int64(hours)*3600+int64(minutes)*60+int64(seconds))*1000+int64(nanos)/1e6)
	return true
}

func (d *protobufDecoder) timestamp(parts [5]int64, v *column.Vector, row int) bool {
	seconds, nanos := parts[1], int64(int32(parts[2]))
	millis := nanos / 1e6
	const last, first = math.MaxInt64 / 1000, math.MinInt64/1000 - 1
	if nanos < 0 || nanos > 999_999_999 || seconds > last || seconds < first ||
		seconds == last && millis > math.MaxInt64%1000 || seconds == first && millis < 1000+math.MinInt64%1000 {
		d.broken("the seconds and nanoseconds are out of the range of " + v.Type.String())
		return false
	}
	v.SetInt(row, seconds*1000+millis)
	return true
}
