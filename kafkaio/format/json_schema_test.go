package format

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// jsonSchemaCase is the state of a file of testdata/json_schema.
type jsonSchemaCase struct {
	schema registry.Schema
	fields []Field
}

// TestGoldenJSONSchema runs the files of testdata/json_schema. A file sets a
// schema with "schema", adds what it refers to with "reference name=NAME", and
// declares columns with "fields", one "NAME TYPE" a line. Then "infer" gives the
// columns of the schema, "derive" the schema of the columns, "fits" asks whether
// they fit, "encode" writes rows (given as JSON) by the schema and "write" by
// the columns, "decode" reads JSON texts as payloads, and "from" and "to" turn
// texts into payloads and back. Payloads are shown without their header.
// Arguments: key, bare, exact, name.
func TestGoldenJSONSchema(t *testing.T) {
	datadriven.Walk(t, "testdata/json_schema", func(t *testing.T, path string) {
		var c jsonSchemaCase
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			spec := Spec{Name: "JSON_SR", SchemaID: 7, Unwrapped: d.HasArg("bare")}
			if d.Cmd != "derive" && d.Cmd != "write" {
				spec.Schema = &c.schema
			}
			switch d.Cmd {
			case "schema":
				c.schema = registry.Schema{Kind: registry.JSON, Text: d.Input}
				return "ok"
			case "reference":
				var name string
				d.ScanArgs(t, "name", &name)
				c.schema.References = append(c.schema.References, registry.Reference{Name: name, Text: d.Input})
				return "ok"
			case "fields":
				c.fields = parseFields(t, d.Input)
				return "ok"
			case "infer":
				return goldenInfer(t, spec, d.HasArg("key"), d.HasArg("exact"))
			case "derive":
				if d.HasArg("name") {
					d.ScanArgs(t, "name", &spec.SchemaName)
				}
				schema, err := jsonSchemaFormat{}.Derive(spec, d.HasArg("key"), c.fields)
				return resultText(t, schema.Text, err)
			case "fits":
				return resultText(t, "ok", jsonSchemaFormat{}.Fits(spec, d.HasArg("key"), c.fields))
			case "encode", "write":
				return goldenJSONSchemaEncode(t, d, spec, c.fields)
			case "decode":
				return goldenJSONSchemaDecode(spec, c.fields, strings.Split(d.Input, "\n"))
			case "from", "to":
				return goldenTranscode(t, d, spec, c.fields)
			}
			t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
			return ""
		})
	})
}

// resultText is text, or the error, which must be one for users.
func resultText(t *testing.T, text string, err error) string {
	if err == nil {
		return text
	}
	refusal, ok := err.(*types.Error) //nolint:errorlint // bare only
	if !ok {
		t.Fatalf("%T is no *types.Error: %v", err, err)
	}
	return fmt.Sprintf("%s: %v", refusal.Code, refusal)
}

func goldenInfer(t *testing.T, spec Spec, key, exact bool) string {
	fields, bare, err := jsonSchemaFormat{}.Infer(spec, key, exact)
	var lines strings.Builder
	for _, field := range fields {
		fmt.Fprintf(&lines, "%s %s\n", types.QuoteName(field.Name), field.Type)
	}
	if bare {
		lines.WriteString("bare\n")
	}
	return resultText(t, lines.String(), err)
}

// rowsFromJSON reads rows in the JSON format, a line each.
func rowsFromJSON(t *testing.T, fields []Field, text string) (rows []*column.Vector, count int) {
	var payloads [][]byte
	for line := range strings.SplitSeq(text, "\n") {
		payloads = append(payloads, []byte(line))
	}
	rows = vectorsOf(fields, nil, len(payloads))
	jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, fields, nil).Decode(payloads, allRows(len(payloads)), rows,
		&column.Arena{}, func(row int32, err error) { t.Fatalf("%s: %v", payloads[row], err) })
	return rows, len(payloads)
}

func goldenJSONSchemaEncode(t *testing.T, d *datadriven.TestData, spec Spec, fields []Field) string {
	rows, count := rowsFromJSON(t, fields, d.Input)
	encoder := jsonSchemaFormat{}.NewEncoder(spec, fields)
	var lines strings.Builder
	for i := range count {
		before := []byte("kept")
		payload, null, err := encoder.Append(before, rows, i)
		if !strings.HasPrefix(string(payload), "kept") {
			t.Fatalf("%s: the buffer is lost: %q", d.Pos, payload)
		}
		switch {
		case err != nil:
			fmt.Fprintf(&lines, "error: %v\n", err)
		case null && len(payload) != len(before):
			t.Fatalf("%s: a null payload of %q", d.Pos, payload)
		case null:
			lines.WriteString("null payload\n")
		default:
			lines.WriteString(behindHeader(t, payload[len(before):]) + "\n")
		}
	}
	return lines.String()
}

func behindHeader(t *testing.T, payload []byte) string {
	if id, reason := schemaID(payload); id != 7 || reason != "" {
		t.Fatalf("header of %q: id %d, %s", payload, id, reason)
	}
	return string(payload[schemaHeader:])
}

func goldenJSONSchemaDecode(spec Spec, fields []Field, lines []string) string {
	payloads := make([][]byte, len(lines))
	for i, line := range lines {
		payloads[i] = append(appendSchemaHeader(nil, 7), line...)
	}
	out := vectorsOf(fields, nil, len(payloads))
	failed := make([]error, len(payloads))
	jsonSchemaFormat{}.NewDecoder(spec, fields, nil).Decode(payloads, allRows(len(payloads)), out, &column.Arena{},
		func(row int32, err error) { failed[row] = err })
	var text strings.Builder
	for i := range payloads {
		if failed[i] != nil {
			fmt.Fprintf(&text, "error: %v\n", failed[i])
			continue
		}
		text.WriteString(rowText(out, i) + "\n")
	}
	return text.String()
}

func goldenTranscode(t *testing.T, d *datadriven.TestData, spec Spec, fields []Field) string {
	transcoder, err := jsonSchemaFormat{}.NewTranscoder(spec, d.HasArg("key"), fields)
	if err != nil {
		return resultText(t, "", err)
	}
	var lines strings.Builder
	for line := range strings.SplitSeq(d.Input, "\n") {
		var out []byte
		if d.Cmd == "from" {
			out, err = transcoder.FromJSON(nil, []byte(line))
		} else {
			out, err = transcoder.ToJSON(nil, append(appendSchemaHeader(nil, 7), line...))
		}
		switch {
		case err != nil:
			fmt.Fprintf(&lines, "error: %v\n", err)
		case d.Cmd == "from":
			lines.WriteString(behindHeader(t, out) + "\n")
		default:
			lines.WriteString(string(out) + "\n")
		}
	}
	return lines.String()
}

func TestJSONSchemaHeader(t *testing.T) {
	fields := []Field{{"A", types.String}}
	for payload, expected := range map[string]string{
		"":                          "too short",
		"\x00\x00\x00\x00":          "too short",
		`{"A":"x"}`:                 "does not start with a zero byte",
		"\x00\x00\x00\x00\x01":      "the payload is empty",
		"\x00\x00\x00\x00\x01{}":    "",
		"\x00\xff\xff\xff\xff{}":    "",
		"\x00\x00\x00\x00\x01\x00a": "starts with a zero byte",
	} {
		var fault error
		f, _ := Lookup("JSON_SR")
		f.NewDecoder(Spec{Name: "JSON_SR"}, fields, nil).Decode([][]byte{nil, []byte(payload)}, []int32{1},
			vectorsOf(fields, nil, 2), &column.Arena{}, func(row int32, err error) {
				if _, ok := err.(*RecordError); !ok || row != 1 { //nolint:errorlint // bare only
					t.Errorf("%q: row %d, %T", payload, row, err)
				}
				fault = err
			})
		if (fault == nil) != (expected == "") || fault != nil && !strings.Contains(fault.Error(), expected) {
			t.Errorf("%q: %v; expected %q", payload, fault, expected)
		}
	}
}

// schemaMap finds schemas in a map.
type schemaMap map[int32]registry.Schema

func (m schemaMap) Schema(id int32) (registry.Schema, error) {
	if schema, ok := m[id]; ok {
		return schema, nil
	}
	return registry.Schema{}, fmt.Errorf("schema id %d: %w", id, registry.ErrUnknown)
}

func TestJSONTranscoderTakesThePayloadsSchema(t *testing.T) {
	schemas := schemaMap{
		1: {Kind: registry.JSON, Text: `{"type":"object","properties":{"a":{"type":"string"}}}`},
		2: {Kind: registry.JSON, Text: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		3: {Kind: registry.Avro, Text: `"string"`},
	}
	latest := schemas[1]
	spec := Spec{Name: "JSON_SR", SchemaID: 1, Schema: &latest, Schemas: schemas}
	transcoder, err := jsonSchemaFormat{}.NewTranscoder(spec, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for payload, expected := range map[string]string{
		"\x00\x00\x00\x00\x01{}":            `{"a":null}`,
		"\x00\x00\x00\x00\x02{\"B\":\"x\"}": `{"a":null,"b":"x"}`,
	} {
		for range 2 {
			if out, err := transcoder.ToJSON([]byte("> "), []byte(payload)); err != nil || string(out) != "> "+expected {
				t.Errorf("%q: %s, %v", payload, out, err)
			}
		}
	}
	if _, err := transcoder.ToJSON(nil, []byte("\x00\x00\x00\x00\x03{}")); err == nil || !strings.Contains(err.Error(), "schema id 3") {
		t.Error("a schema of another kind:", err)
	}
	if _, err := transcoder.ToJSON(nil, []byte("\x00\x00\x00\x00\x04{}")); !errors.Is(err, registry.ErrUnknown) {
		t.Error("an unknown schema:", err)
	}
	if _, err := transcoder.ToJSON(nil, []byte(`{}`)); err == nil {
		t.Error("a payload without a header is taken")
	}
}

func TestJSONSchemaSpecs(t *testing.T) {
	avro := registry.Schema{Kind: registry.Avro, Text: `"string"`}
	for _, spec := range []Spec{{Name: "JSON_SR"}, {Name: "JSON_SR", Schema: &avro}} {
		if _, _, err := (jsonSchemaFormat{}).Infer(spec, false, false); err == nil {
			t.Errorf("%+v: inferred", spec.Schema)
		}
		if err := (jsonSchemaFormat{}).Fits(spec, false, nil); err == nil {
			t.Errorf("%+v: fits", spec.Schema)
		}
	}
	encoder := jsonSchemaFormat{}.NewEncoder(Spec{Name: "JSON_SR", Schema: &avro}, []Field{{"A", types.String}})
	if out, _, err := encoder.Append([]byte("kept"), vectorsOf([]Field{{"A", types.String}}, nil, 1), 0); err == nil || string(out) != "kept" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestRoundTripJSONSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, Spec{Name: "JSON_SR", SchemaID: 1}, drawFields(t, 3, 4), drawValue)
	})
}

func TestRoundTripBareJSONSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, Spec{Name: "JSON_SR", SchemaID: 1, Unwrapped: true}, drawFields(t, 3, 1), drawValue)
	})
}

// TestDerivedJSONSchema infers from the derived schema what it was derived from,
// and writes by it what is written without it.
func TestDerivedJSONSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := Spec{Name: "JSON_SR", SchemaID: 1, Unwrapped: rapid.Bool().Draw(t, "bare")}
		most := 4
		if spec.Unwrapped {
			most = 1
		}
		fields := drawFields(t, 3, most)
		schema, err := jsonSchemaFormat{}.Derive(spec, false, fields)
		if err != nil {
			t.Fatal(err)
		}
		by := spec
		by.Schema = &schema
		inferred, bare, err := jsonSchemaFormat{}.Infer(by, false, true)
		if err != nil || bare != spec.Unwrapped || len(inferred) != len(fields) {
			t.Fatalf("%s: %v, %t, %v", schema.Text, inferred, bare, err)
		}
		for i, field := range fields {
			if !types.Equal(inferred[i].Type, field.Type) || inferred[i].Name != field.Name && !bare {
				t.Fatalf("%s: %v became %v", schema.Text, field, inferred[i])
			}
		}
		roundTrip(t, by, fields, drawValue)
		rows := vectorsOf(fields, nil, 1)
		for _, v := range rows {
			drawValue(t, v, 0)
		}
		plain, nullPlain, err := jsonSchemaFormat{}.NewEncoder(spec, fields).Append(nil, rows, 0)
		shaped, nullShaped, fault := jsonSchemaFormat{}.NewEncoder(by, fields).Append(nil, rows, 0)
		if string(plain) != string(shaped) || nullPlain != nullShaped || err != nil || fault != nil {
			t.Fatalf("by the columns %q, %v; by the schema %q, %v", plain, err, shaped, fault)
		}
		if nullPlain {
			return
		}
		transcoder, err := jsonSchemaFormat{}.NewTranscoder(spec, false, fields)
		if err != nil {
			t.Fatal(err)
		}
		text, err := transcoder.ToJSON(nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := transcoder.FromJSON(nil, text); err != nil || string(again) != string(plain) {
			t.Fatalf("%q became %s and %q, %v", plain, text, again, err)
		}
	})
}

func FuzzJSONSchemaInfer(f *testing.F) {
	for _, text := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#"}}}`,
		`{"$id":"http://a/b","allOf":[{"$ref":"c#/x"},{"$anchor":"y"}],"oneOf":[{"type":"null"}]}`,
		`{"type":"array","connect.type":"map","items":{"properties":{"key":{"type":"string"},"value":{"type":["null","integer"]}}}}`,
		`{"title":"org.apache.kafka.connect.data.Decimal","type":"number","connect.parameters":{"scale":"2","connect.decimal.precision":"99"}}`,
		`{"type":"object","required":["a"],"properties":{"a":{"default":1},"A":{"connect.index":0,"enum":[null,"x"]}},"additionalProperties":true}`,
	} {
		f.Add(text, `{"type":"object","properties":{"c":{"$ref":"#/definitions/d%20e"}},"definitions":{"d e":true}}`)
	}
	f.Fuzz(func(t *testing.T, text, reference string) {
		schema := registry.Schema{Kind: registry.JSON, Text: text, References: []registry.Reference{{Name: "c", Text: reference}}}
		spec := Spec{Name: "JSON_SR", Schema: &schema}
		for _, exact := range []bool{true, false} {
			fields, bare, err := jsonSchemaFormat{}.Infer(spec, false, exact)
			if err != nil {
				if _, ok := err.(*types.Error); !ok { //nolint:errorlint // bare only
					t.Fatalf("%T is no *types.Error", err)
				}
				continue
			}
			by := spec
			by.Unwrapped = bare
			if err := (jsonSchemaFormat{}).Fits(by, false, fields); exact && err != nil {
				t.Errorf("what was inferred does not fit: %v", err)
			}
			_, _, _ = jsonSchemaFormat{}.NewEncoder(by, fields).Append(nil, vectorsOf(fields, nil, 1), 0)
		}
	})
}

func FuzzJSONSchemaDecode(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x01"))
	f.Add([]byte(`{"M":[{"key":"a","value":1},{"value":[],"key":"b"}]}`))
	f.Add([]byte(`{"M":[{"key":1}],"N":[{"key":"a","value":[{"key":"b","value":null}]}],"S":{"F":"x"}}`))
	fields := []Field{
		{"M", types.MapOf(types.String, types.Bigint)},
		{"N", types.MapOf(types.String, types.MapOf(types.String, types.String))},
		{"S", types.StructOf(types.Field{Name: "F", Type: types.ArrayOf(types.Double)})},
	}
	format, _ := LookupSchema("JSON_SR")
	schema, err := format.Derive(Spec{Name: "JSON_SR"}, false, fields)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = decodeOne(t, format.NewDecoder(Spec{Name: "JSON_SR"}, fields, nil), fields, nil, text)
		payload := append(appendSchemaHeader(nil, 7), text...)
		row, err := decodeOne(t, format.NewDecoder(Spec{Name: "JSON_SR"}, fields, nil), fields, nil, payload)
		transcoder, fault := format.NewTranscoder(Spec{Name: "JSON_SR", SchemaID: 7, Schema: &schema}, false, fields)
		if fault != nil {
			t.Fatal(fault)
		}
		shown, fault := transcoder.ToJSON(nil, payload)
		if err != nil {
			return
		}
		if fault != nil {
			t.Fatalf("decoded to %s, but not shown: %v", row, fault)
		}
		again := append(appendSchemaHeader(nil, 7), shown...)
		if other, err := decodeOne(t, format.NewDecoder(Spec{Name: "JSON_SR"}, fields, nil), fields, nil, again); err != nil || other != row {
			t.Errorf("%q is %s; shown as %s it is %s, %v", text, row, shown, other, err)
		}
	})
}

func BenchmarkJSONSchemaDecode8Of8(b *testing.B) {
	payloads, rows := orders(), allRows(benchmarkRows)
	for i, payload := range payloads {
		payloads[i] = append(appendSchemaHeader(nil, 7), payload...)
	}
	out := vectorsOf(orderFields, nil, benchmarkRows)
	decoder := jsonSchemaFormat{}.NewDecoder(Spec{Name: "JSON_SR"}, orderFields, nil)
	var arena column.Arena
	b.ReportAllocs()
	for b.Loop() {
		arena.Reset()
		for _, v := range out {
			v.Reset(benchmarkRows)
		}
		decoder.Decode(payloads, rows, out, &arena, func(_ int32, err error) { b.Fatal(err) })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkRows, "ns/row")
}

func benchmarkJSONSchemaEncode(b *testing.B, schema *registry.Schema) {
	payloads := orders()
	out := vectorsOf(orderFields, nil, benchmarkRows)
	jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, orderFields, nil).
		Decode(payloads, allRows(benchmarkRows), out, &column.Arena{}, func(_ int32, err error) { b.Fatal(err) })
	encoder := jsonSchemaFormat{}.NewEncoder(Spec{Name: "JSON_SR", Schema: schema}, orderFields)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for i := range benchmarkRows {
			buf, _, _ = encoder.Append(buf, out, i)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkRows, "ns/row")
}

func BenchmarkJSONSchemaEncode8(b *testing.B) { benchmarkJSONSchemaEncode(b, nil) }

func BenchmarkJSONSchemaEncode8BySchema(b *testing.B) {
	schema, err := jsonSchemaFormat{}.Derive(Spec{Name: "JSON_SR"}, false, orderFields)
	if err != nil {
		b.Fatal(err)
	}
	benchmarkJSONSchemaEncode(b, &schema)
}
