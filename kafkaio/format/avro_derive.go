package format

import (
	"strconv"
	"strings"

	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

const (
	// defaultAvroName is ksqlDB's name for records that are named by no one.
	defaultAvroName = "io.confluent.ksql.avro_schemas.KsqlDataSourceSchema"
	connectTypes    = "org.apache.kafka.connect.data."
)

// Derive implements SchemaFormat. Every field may be null, records are named by
// the path to them, and each name of a Connect type stands beside the logical
// type that says the same.
func (avroFormat) Derive(spec Spec, key bool, fields []Field) (registry.Schema, error) {
	if err := (avroFormat{}).Check(spec, key, fields); err != nil {
		return registry.Schema{}, err
	}
	w := avroSchemaWriter{names: map[string]bool{}}
	name := spec.SchemaName
	if name == "" {
		name = defaultAvroName
	}
	at := strings.LastIndexByte(name, '.')
	if at >= 0 {
		w.namespace, name = name[:at], name[at+1:]
	}
	switch {
	case !spec.Unwrapped || len(fields) != 1:
		w.record(structFields(fields), name, true)
	case key:
		w.kind(fields[0].Type, name, true)
	default:
		w.nullable(fields[0].Type, name, true)
	}
	return registry.Schema{Kind: registry.Avro, Text: string(w.text)}, nil
}

// avroSchemaWriter writes the JSON text of a schema. root says that the record
// is the first one, which tells its namespace.
type avroSchemaWriter struct {
	text      []byte
	namespace string
	names     map[string]bool // of the records so far
}

func (w *avroSchemaWriter) write(parts ...string) {
	for _, part := range parts {
		w.text = append(w.text, part...)
	}
}

func (w *avroSchemaWriter) nullable(t *types.Type, name string, root bool) {
	w.write(`["null",`)
	w.kind(t, name, root)
	w.write("]")
}

func (w *avroSchemaWriter) kind(t *types.Type, name string, root bool) {
	switch t.Kind {
	case types.KindBoolean:
		w.write(`"boolean"`)
	case types.KindInteger:
		w.write(`"int"`)
	case types.KindBigint:
		w.write(`"long"`)
	case types.KindDouble:
		w.write(`"double"`)
	case types.KindBytes:
		w.write(`"bytes"`)
	case types.KindDecimal:
		precision, scale := strconv.Itoa(t.Precision), strconv.Itoa(t.Scale)
		w.write(`{"type":"bytes","scale":`, scale, `,"precision":`, precision, `,"connect.version":1,"connect.parameters":{"scale":"`,
			scale, `","connect.decimal.precision":"`, precision, `"},"connect.name":"`, connectTypes, `Decimal","logicalType":"decimal"}`)
	case types.KindDate:
		w.logical(avroInt, "Date", logicalDate)
	case types.KindTime:
		w.logical(avroInt, "Time", logicalTimeMillis)
	case types.KindTimestamp:
		w.logical(avroLong, "Timestamp", logicalTimestampMillis)
	case types.KindArray:
		w.write(`{"type":"array","items":`)
		w.nullable(t.Elem, name, root)
		w.write("}")
	case types.KindMap:
		w.entries(t, name, root)
	case types.KindStruct:
		w.record(t.Fields, name, root)
	default:
		w.write(`"string"`)
	}
}

// entries writes a MAP as Connect does where its keys could be null, which is
// what ksqlDB's topics have: an array of keys with their values.
func (w *avroSchemaWriter) entries(t *types.Type, name string, root bool) {
	name = w.unused(name)
	w.write(`{"type":"array","items":{"type":"record","name":"`, name, `"`)
	if root && w.namespace != "" {
		w.write(`,"namespace":"`, w.namespace, `"`)
	}
	w.write(`,"fields":[{"name":"key","type":["null","string"],"default":null},{"name":"value","type":`)
	w.nullable(t.Elem, name+"_value", false)
	w.write(`,"default":null}],"connect.internal.type":"MapEntry"},"connect.internal.type":"MapEntry"}`)
}

func (w *avroSchemaWriter) logical(kind, connectName, logical string) {
	w.write(`{"type":"`, kind, `","connect.version":1,"connect.name":"`, connectTypes, connectName, `","logicalType":"`, logical, `"}`)
}

func (w *avroSchemaWriter) record(fields []types.Field, name string, root bool) {
	name = w.unused(name)
	full := name
	w.write(`{"type":"record","name":"`, name, `"`)
	if w.namespace != "" {
		full = w.namespace + "." + name
		if root {
			w.write(`,"namespace":"`, w.namespace, `"`)
		}
	}
	w.write(`,"fields":[`)
	for i, field := range fields {
		if i > 0 {
			w.write(",")
		}
		w.write(`{"name":"`, field.Name, `","type":`)
		w.nullable(field.Type, name+"_"+field.Name, false)
		w.write(`,"default":null}`)
	}
	w.write(`],"connect.name":"`, full, `"}`)
}

// unused is name, or name with a number where an earlier record has it: the
// paths A_B and A of which B is a field are written alike.
func (w *avroSchemaWriter) unused(name string) string {
	unused := name
	for n := 2; w.names[unused]; n++ {
		unused = name + "_" + strconv.Itoa(n)
	}
	w.names[unused] = true
	return unused
}
