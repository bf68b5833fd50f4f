package format

import (
	"strconv"

	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// Names of Kafka Connect's types that JSON has not: a schema's title.
const (
	connectDecimal   = connectTypes + "Decimal"
	connectDate      = connectTypes + "Date"
	connectTime      = connectTypes + "Time"
	connectTimestamp = connectTypes + "Timestamp"
)

// Derive implements SchemaFormat. Every field may be null and stands under the
// number of its column. A MAP is an object, as the JSON format writes it.
func (f jsonSchemaFormat) Derive(spec Spec, key bool, fields []Field) (registry.Schema, error) {
	if err := f.Check(spec, key, fields); err != nil {
		return registry.Schema{}, err
	}
	var text []byte
	if spec.Unwrapped && len(fields) == 1 {
		text = appendNullableSchema([]byte{'{'}, fields[0].Type)
	} else {
		text = append(text, '{')
		if spec.SchemaName != "" {
			text = append(appendJSONText(append(text, `"title":`...), spec.SchemaName), ',')
		}
		text = appendTypeSchema(text, rowStruct(fields))
	}
	return registry.Schema{Kind: registry.JSON, Text: string(append(text, '}'))}, nil
}

// appendNullableSchema appends the members of the schema of a type or null.
func appendNullableSchema(dst []byte, t *types.Type) []byte {
	dst = append(dst, `"oneOf":[{"type":"null"},{`...)
	return append(appendTypeSchema(dst, t), "}]"...)
}

// appendTypeSchema appends the members of the schema of a type.
func appendTypeSchema(dst []byte, t *types.Type) []byte {
	switch t.Kind {
	case types.KindBoolean:
		return append(dst, `"type":"boolean"`...)
	case types.KindInteger:
		return append(dst, `"type":"integer","connect.type":"int32"`...)
	case types.KindBigint:
		return append(dst, `"type":"integer","connect.type":"int64"`...)
	case types.KindDouble:
		return append(dst, `"type":"number","connect.type":"float64"`...)
	case types.KindBytes:
		return append(dst, `"type":"string","connect.type":"bytes"`...)
	case types.KindDate:
		return appendNamedSchema(dst, "integer", "int32", connectDate)
	case types.KindTime:
		return appendNamedSchema(dst, "integer", "int32", connectTime)
	case types.KindTimestamp:
		return appendNamedSchema(dst, "integer", "int64", connectTimestamp)
	case types.KindDecimal:
		dst = appendNamedSchema(dst, "number", "bytes", connectDecimal)
		dst = append(dst, `,"connect.parameters":{"scale":"`...)
		dst = strconv.AppendInt(dst, int64(t.Scale), 10)
		dst = append(dst, `","connect.decimal.precision":"`...)
		return append(strconv.AppendInt(dst, int64(t.Precision), 10), `"}`...)
	case types.KindArray:
		dst = append(dst, `"type":"array","items":{`...)
		return append(appendNullableSchema(dst, t.Elem), '}')
	case types.KindMap:
		dst = append(dst, `"type":"object","connect.type":"map","additionalProperties":{`...)
		return append(appendNullableSchema(dst, t.Elem), '}')
	case types.KindStruct:
		return appendStructSchema(dst, t)
	}
	return append(dst, `"type":"string"`...)
}

func appendNamedSchema(dst []byte, jsonType, connectType, title string) []byte {
	dst = append(append(append(dst, `"type":"`...), jsonType...), `","title":"`...)
	dst = append(append(append(dst, title...), `","connect.type":"`...), connectType...)
	return append(dst, `","connect.version":1`...)
}

func appendStructSchema(dst []byte, t *types.Type) []byte {
	dst = append(dst, `"type":"object","properties":{`...)
	for i, field := range t.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONText(dst, field.Name), `:{"connect.index":`...)
		dst = append(strconv.AppendInt(dst, int64(i), 10), ',')
		dst = append(appendNullableSchema(dst, field.Type), '}')
	}
	return append(dst, '}')
}
