package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

// kafkaFormat is the form of Kafka's own serializers: one value, INTEGER in 4
// bytes, BIGINT and DOUBLE in 8, big-endian, STRING in UTF-8, BYTES as it is.
type kafkaFormat struct{}

func (kafkaFormat) Check(spec Spec, key bool, fields []Field) error {
	if err := checkKeyMaps(key, fields); err != nil {
		return err
	}
	if len(fields) > 1 {
		return types.Errorf(typeCode(key), "the KAFKA format holds one column, and column %s is one too many",
			types.QuoteName(fields[1].Name)).WithHint("choose another %s, such as JSON", property(key))
	}
	for _, field := range fields {
		switch field.Type.Kind {
		case types.KindInteger, types.KindBigint, types.KindDouble, types.KindString, types.KindBytes:
		default:
			return unsupportedType(spec, key, field, field.Type)
		}
	}
	return checkNoDelimiter(spec, key)
}

func (kafkaFormat) Wraps() bool { return false }

func (kafkaFormat) NewDecoder(_ Spec, fields []Field, _ []bool) Decoder {
	return &kafkaCodec{fields: fields}
}

func (kafkaFormat) NewEncoder(_ Spec, fields []Field) Encoder { return &kafkaCodec{fields: fields} }

type kafkaCodec struct{ fields []Field }

func (c *kafkaCodec) Decode(
	payloads [][]byte, rows []int32, out []*column.Vector, _ *column.Arena, bad func(int32, error),
) {
	if len(c.fields) == 0 || out[0] == nil {
		return
	}
	for _, row := range rows {
		if reason := setBinary(out[0], int(row), payloads[row]); reason != "" {
			bad(row, &RecordError{Path: c.fields[0].Name, Reason: reason})
		}
	}
}

// setBinary sets row i of v from a payload, or says why it cannot.
func setBinary(v *column.Vector, i int, payload []byte) string {
	size := 8
	switch v.Type.Kind {
	case types.KindString:
		if !utf8.Valid(payload) {
			return "the text is not valid UTF-8"
		}
		v.SetText(i, column.View(payload))
		return ""
	case types.KindBytes:
		v.SetText(i, column.View(payload))
		return ""
	case types.KindInteger:
		size = 4
	}
	if len(payload) != size {
		return fmt.Sprintf("%s takes %d bytes, but the payload has %d", v.Type, size, len(payload))
	}
	switch v.Type.Kind {
	case types.KindInteger:
		v.SetInt(i, int64(int32(binary.BigEndian.Uint32(payload))))
	case types.KindBigint:
		v.SetInt(i, int64(binary.BigEndian.Uint64(payload)))
	default:
		v.SetDouble(i, math.Float64frombits(binary.BigEndian.Uint64(payload)))
	}
	return ""
}

func (c *kafkaCodec) Append(dst []byte, columns []*column.Vector, i int) ([]byte, bool, error) {
	if len(columns) == 0 || columns[0].Null(i) {
		return dst, true, nil
	}
	v := columns[0]
	switch v.Type.Kind {
	case types.KindInteger:
		return binary.BigEndian.AppendUint32(dst, uint32(v.Ints[i])), false, nil
	case types.KindBigint:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Ints[i])), false, nil
	case types.KindDouble:
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Doubles[i])), false, nil
	}
	return append(dst, v.Texts[i]...), false, nil
}
