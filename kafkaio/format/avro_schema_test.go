package format

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/twmb/avro"
	"pgregory.net/rapid"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
)

// avroDrawer draws schemas of any types and bytes of their values.
type avroDrawer struct {
	t     *rapid.T
	names int
}

func (d *avroDrawer) name() string {
	d.names++
	return fmt.Sprintf("N%d", d.names)
}

// schema draws a type that nests at most depth levels. inUnion says that it is a
// branch, which is no union itself.
func (d *avroDrawer) schema(depth int, inUnion bool) string {
	kinds := []string{
		`"boolean"`, `"int"`, `"long"`, `"float"`, `"double"`, `"string"`, `"bytes"`, "enum", "fixed", "logical", "decimal",
	}
	if depth > 0 {
		kinds = append(kinds, "array", "map", "entries", avroRecord, avroRecord)
		if !inUnion {
			kinds = append(kinds, "optional", "optional", "union")
		}
	}
	switch kind := rapid.SampledFrom(kinds).Draw(d.t, "kind"); kind {
	case "enum":
		return fmt.Sprintf(`{"type":"enum","name":"%s","symbols":["A","B","C"]}`, d.name())
	case "fixed":
		return fmt.Sprintf(`{"type":"fixed","name":"%s","size":%d}`, d.name(), rapid.IntRange(0, 3).Draw(d.t, "size"))
	case "logical":
		return rapid.SampledFrom([]string{
			`{"type":"int","logicalType":"date"}`, `{"type":"long","logicalType":"timestamp-millis"}`,
			`{"type":"long","logicalType":"timestamp-micros"}`,
		}).Draw(d.t, "logical")
	case "decimal":
		return `{"type":"bytes","logicalType":"decimal","precision":20,"scale":3}`
	case "array":
		return fmt.Sprintf(`{"type":"array","items":%s}`, d.schema(depth-1, false))
	case "map":
		return fmt.Sprintf(`{"type":"map","values":%s}`, d.schema(depth-1, false))
	case "entries":
		return fmt.Sprintf(`{"type":"array","items":{"type":"record","name":"%s","connect.internal.type":"MapEntry","fields":[`+
			`{"name":"key","type":"string"},{"name":"value","type":%s}]}}`, d.name(), d.schema(depth-1, false))
	case avroRecord:
		return d.record(depth)
	case "optional":
		inner := d.schema(depth-1, true)
		if rapid.Bool().Draw(d.t, "null first") {
			return `["null",` + inner + "]"
		}
		return "[" + inner + `,"null"]`
	case "union":
		return `["string",` + d.record(depth) + `,"null",{"type":"array","items":` + d.schema(depth-1, false) + "}]"
	default:
		return kind
	}
}

func (d *avroDrawer) record(depth int) string {
	name := d.name()
	var fields []string
	for range rapid.IntRange(1, 4).Draw(d.t, "fields") {
		fields = append(fields, fmt.Sprintf(`{"name":"%s","type":%s}`, d.name(), d.schema(depth-1, false)))
	}
	return fmt.Sprintf(`{"type":"record","name":"%s","fields":[%s]}`, name, strings.Join(fields, ","))
}

// value appends a drawn value of t.
func (d *avroDrawer) value(dst []byte, t *avroType) []byte {
	switch t.kind {
	case avroBoolean:
		return append(dst, byte(rapid.IntRange(0, 1).Draw(d.t, "boolean")))
	case avroInt:
		return binary.AppendVarint(dst, int64(rapid.Int32().Draw(d.t, "int")))
	case avroLong:
		return binary.AppendVarint(dst, rapid.Int64().Draw(d.t, "long"))
	case avroFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(rapid.Float32().Draw(d.t, "float")))
	case avroDouble:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(rapid.Float64().Draw(d.t, "double")))
	case avroString:
		text := drawText(d.t)
		return append(binary.AppendVarint(dst, int64(len(text))), text...)
	case avroBytes:
		part := rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(d.t, "bytes")
		return append(binary.AppendVarint(dst, int64(len(part))), part...)
	case avroFixed:
		return append(dst, rapid.SliceOfN(rapid.Byte(), t.size, t.size).Draw(d.t, "fixed")...)
	case avroEnum:
		return binary.AppendVarint(dst, int64(rapid.IntRange(0, len(t.symbols)-1).Draw(d.t, "symbol")))
	case avroUnion:
		branch := rapid.IntRange(0, len(t.branches)-1).Draw(d.t, "branch")
		return d.value(binary.AppendVarint(dst, int64(branch)), t.branches[branch])
	case avroRecord:
		for _, field := range t.fields {
			dst = d.value(dst, field.kind)
		}
	case avroArray, avroMap:
		return d.blocks(dst, t)
	}
	return dst
}

// blocks appends some blocks, with their sizes or without.
func (d *avroDrawer) blocks(dst []byte, t *avroType) []byte {
	for range rapid.IntRange(0, 2).Draw(d.t, "blocks") {
		count := rapid.IntRange(1, 3).Draw(d.t, "count")
		var block []byte
		for range count {
			if t.kind == avroMap {
				key := drawText(d.t)
				block = append(binary.AppendVarint(block, int64(len(key))), key...)
			}
			block = d.value(block, t.elem)
		}
		if rapid.Bool().Draw(d.t, "sized") {
			dst = binary.AppendVarint(binary.AppendVarint(dst, int64(-count)), int64(len(block)))
		} else {
			dst = binary.AppendVarint(dst, int64(count))
		}
		dst = append(dst, block...)
	}
	return append(dst, 0)
}

// TestAvroAnySchema takes values of any schema: another implementation reads
// them too, they are read into the inferred columns and skipped, printed, and
// written with the schema again.
func TestAvroAnySchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := avroDrawer{t: t}
		text := d.record(3)
		schema := registry.Schema{Kind: registry.Avro, Text: text}
		spec := Spec{Name: "AVRO", Schema: &schema, SchemaID: 1, Schemas: avroSchemas{1: text}}
		root, err := parseAvro(schema)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		payload := d.value(appendSchemaHeader(nil, 1), root)
		var value any
		if rest, err := rawAvro(t, text).Decode(payload[schemaHeader:], &value); err != nil || len(rest) > 0 {
			t.Fatalf("%s: %x: %d bytes are left, %v", text, payload, len(rest), err)
		}
		fields, bare, err := avroFormat{}.Infer(spec, false, true)
		if err != nil || bare {
			t.Fatalf("%s: bare %t, %v", text, bare, err)
		}
		shown := decodeDrawn(t, spec, fields, nil, payload)
		decodeDrawn(t, spec, fields, make([]bool, len(fields)), payload)
		written := encodeDrawn(t, spec, fields, payload)
		if again := decodeDrawn(t, spec, fields, nil, written); again != shown {
			t.Fatalf("%s: %x is read as %s, written as %x and read as %s", text, payload, shown, written, again)
		}
		transcoder, err := avroFormat{}.NewTranscoder(spec, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if printed, err := transcoder.ToJSON(nil, payload); err != nil || !json.Valid(printed) {
			t.Fatalf("%s: %x is printed as %s, %v", text, payload, printed, err)
		}
	})
}

func decodeDrawn(t *rapid.T, spec Spec, fields []Field, wanted []bool, payload []byte) string {
	out := vectorsOf(fields, wanted, 1)
	avroFormat{}.NewDecoder(spec, fields, wanted).Decode([][]byte{payload}, []int32{0}, out, &column.Arena{},
		func(_ int32, err error) { t.Fatalf("%s: %x: %v", spec.Schema.Text, payload, err) })
	return rowText(out, 0)
}

func encodeDrawn(t *rapid.T, spec Spec, fields []Field, payload []byte) []byte {
	out := vectorsOf(fields, nil, 1)
	avroFormat{}.NewDecoder(spec, fields, nil).Decode([][]byte{payload}, []int32{0}, out, &column.Arena{},
		func(_ int32, err error) { t.Fatal(err) })
	written, _, err := avroFormat{}.NewEncoder(spec, fields).Append(nil, out, 0)
	if err != nil {
		t.Fatalf("%s: %x: %v", spec.Schema.Text, payload, err)
	}
	return written
}

// TestAvroInvalidDefaults reads by a schema whose defaults are of other types,
// and expects the defaults of no other schema to be lost.
func TestAvroInvalidDefaults(t *testing.T) {
	text := `{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"none"},{"name":"b","type":{"type":"array","items":` +
		`{"type":"record","name":"S","fields":[{"name":"default","type":["null","string"],"default":""}]}}}]}`
	if _, err := avro.Parse(text); err == nil {
		t.Fatal("the defaults are valid")
	}
	root, err := parseAvro(registry.Schema{Kind: registry.Avro, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if len(root.fields) != 2 || root.fields[0].hasDefault || root.fields[1].kind.elem.fields[0].name != "default" {
		t.Errorf("%+v", root.fields)
	}
	broken := `{"type":"record","name":"R","fields":[{"name":"a","type":"Unknown","default":"none"}]}`
	if _, err := parseAvro(registry.Schema{Kind: registry.Avro, Text: broken}); err == nil || !strings.Contains(err.Error(), "Unknown") {
		t.Errorf("%v", err)
	}
}

// TestAvroDoublingDefaults reads a schema whose defaults would be of billions of
// values, in one text and in several.
func TestAvroDoublingDefaults(t *testing.T) {
	text := `{"type":"record","name":"R0","fields":[{"name":"a","type":["null","int"],"default":null}]}`
	references := []registry.Reference{{Name: "R0", Text: text}}
	for i := 1; i < 40; i++ {
		fields := `{"type":"record","name":"R%d","fields":[{"name":"x","type":%s,"default":{}},{"name":"y","type":"R%d","default":{}}]}`
		text = fmt.Sprintf(fields, i, text, i-1)
		references = append(references, registry.Reference{Text: fmt.Sprintf(fields, i, fmt.Sprintf(`"R%d"`, i-1), i-1)})
	}
	for _, schema := range []registry.Schema{
		{Kind: registry.Avro, Text: text},
		{Kind: registry.Avro, Text: `"R39"`, References: references},
	} {
		root, err := parseAvro(schema)
		if err != nil || len(root.fields) != 2 || root.fields[0].hasDefault {
			t.Errorf("%v", err)
		}
	}
	maps := `{"name":"m%d","type":{"type":"map","values":"int"},"default":{}}`
	var fields []string
	for i := range 2 * maxDefaultRecords {
		fields = append(fields, fmt.Sprintf(maps, i))
	}
	root, err := parseAvro(registry.Schema{Kind: registry.Avro, Text: `{"type":"record","name":"M","fields":[` + strings.Join(fields, ",") + "]}"})
	if err != nil || !root.fields[0].hasDefault {
		t.Errorf("the defaults of maps are lost: %v", err)
	}
}

// TestAvroDeepUnions refuses a list whose last element is wrong, in the time that
// one look at each element takes.
func TestAvroDeepUnions(t *testing.T) {
	list := registry.Schema{Kind: registry.Avro, Text: `{"type":"record","name":"L","fields":[{"name":"next","type":["null","L","int"]}]}`}
	transcoder, err := avroFormat{}.NewTranscoder(Spec{Name: "AVRO", Schema: &list, SchemaID: 1}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	const depth = 100
	text := strings.Repeat(`{"next":`, depth) + `"x"` + strings.Repeat("}", depth)
	_, err = transcoder.FromJSON(nil, []byte(text))
	fault, ok := err.(*RecordError) //nolint:errorlint // bare only
	if !ok || fault.Path != strings.Repeat("next->", depth-1)+"next" {
		t.Errorf("%v", err)
	}
}

// TestAvroReferences finds the types of schemas that a schema refers to.
func TestAvroReferences(t *testing.T) {
	schema := registry.Schema{
		Kind: registry.Avro,
		Text: `{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"to","type":"geo.Address"},{"name":"from","type":["null","geo.Address"]},` +
			`{"name":"at","type":"geo.Point"}]}`,
		References: []registry.Reference{
			{Name: "geo.Point", Text: `{"type":"record","name":"Point","namespace":"geo","fields":[{"name":"x","type":"int"}]}`},
			{Name: "geo.Address", Text: `{"type":"record","name":"Address","namespace":"geo","fields":[{"name":"at","type":"Point"}]}`},
		},
	}
	fields, _, err := avroFormat{}.Infer(Spec{Schema: &schema}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, field := range fields {
		fmt.Fprintln(&text, field.Name, field.Type)
	}
	expected := "TO STRUCT<`AT` STRUCT<`X` INTEGER>>\nFROM STRUCT<`AT` STRUCT<`X` INTEGER>>\nAT STRUCT<`X` INTEGER>\n"
	if text.String() != expected {
		t.Errorf("%s", text.String())
	}
}
