package format

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/twmb/avro"
	"pgregory.net/rapid"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// avroSchemas are the texts of schemas by their ids. Id 500 cannot be asked for.
type avroSchemas map[int32]string

func (s avroSchemas) Schema(id int32) (registry.Schema, error) {
	if id == 500 {
		return registry.Schema{}, fmt.Errorf("schema id %d: %w", id, registry.ErrUnavailable)
	}
	text, ok := s[id]
	if !ok {
		return registry.Schema{}, fmt.Errorf("schema id %d: %w", id, registry.ErrUnknown)
	}
	return registry.Schema{Kind: registry.Avro, Text: text}, nil
}

// TestAvroGolden runs the files of testdata/avro. "schema" names the schema that
// follows by its id, which is the writer's in "json", where JSON texts become
// payloads in hexadecimal, and in "decode", where payloads of JSON texts, or hex:
// payloads, become rows of the "fields". "encode" writes rows given as JSON, with
// the schema if it is named, else with the one of the fields; "infer", "derive",
// "check" and "fits" are the methods of SchemaFormat.
func TestAvroGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/avro", func(t *testing.T, path string) {
		g := avroGolden{schemas: avroSchemas{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return g.run(t, d)
		})
	})
}

type avroGolden struct {
	fields  []Field
	schemas avroSchemas
}

func (g *avroGolden) run(t *testing.T, d *datadriven.TestData) string {
	spec := Spec{Name: "AVRO", Unwrapped: d.HasArg("bare"), Schemas: g.schemas}
	if d.HasArg("delimiter") {
		d.ScanArgs(t, "delimiter", &spec.Delimiter)
	}
	if d.HasArg("name") {
		d.ScanArgs(t, "name", &spec.SchemaName)
	}
	id := 0
	if d.HasArg("id") {
		d.ScanArgs(t, "id", &id)
		schema := registry.Schema{Kind: registry.Avro, Text: g.schemas[int32(id)]}
		spec.Schema, spec.SchemaID = &schema, int32(id)
	}
	switch d.Cmd {
	case "schema":
		g.schemas[int32(id)] = d.Input
		return "ok"
	case "fields":
		g.fields = parseFields(t, d.Input)
		return "ok"
	case "infer":
		fields, bare, err := avroFormat{}.Infer(spec, d.HasArg("key"), d.HasArg("exact"))
		if err != nil {
			return refusalText(t, err)
		}
		var lines strings.Builder
		for _, field := range fields {
			fmt.Fprintf(&lines, "%s %s\n", types.QuoteName(field.Name), field.Type)
		}
		return lines.String() + fmt.Sprintf("bare %t", bare)
	case "derive":
		schema, err := avroFormat{}.Derive(spec, d.HasArg("key"), g.fields)
		if err != nil {
			return refusalText(t, err)
		}
		if _, err := avro.Parse(schema.Text); err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		return schema.Text
	case "check":
		return refusalText(t, avroFormat{}.Check(spec, d.HasArg("key"), g.fields))
	case "fits":
		return refusalText(t, avroFormat{}.Fits(spec, d.HasArg("key"), g.fields))
	case "json":
		return g.transcode(t, d, spec)
	case "decode":
		return g.decode(t, d, spec)
	case "encode":
		return g.encode(t, d, spec)
	}
	t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	return ""
}

func refusalText(t *testing.T, err error) string {
	if err == nil {
		return "ok"
	}
	refusal, ok := err.(*types.Error)
	if !ok {
		t.Fatalf("%T, %v, is no *types.Error", err, err)
	}
	return fmt.Sprintf("%s: %v", refusal.Code, refusal)
}

func (g *avroGolden) transcoder(t *testing.T, d *datadriven.TestData, spec Spec) Transcoder {
	transcoder, err := avroFormat{}.NewTranscoder(spec, d.HasArg("key"), g.fields)
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	return transcoder
}

// transcode makes payloads of texts and shows them with the texts they give.
func (g *avroGolden) transcode(t *testing.T, d *datadriven.TestData, spec Spec) string {
	transcoder := g.transcoder(t, d, spec)
	var lines strings.Builder
	for line := range strings.SplitSeq(d.Input, "\n") {
		payload, err := transcoder.FromJSON(nil, []byte(line))
		if err != nil {
			fmt.Fprintf(&lines, "error: %v\n", err)
			continue
		}
		text, err := transcoder.ToJSON(nil, payload)
		if err != nil {
			t.Fatalf("%s: %x: %v", d.Pos, payload, err)
		}
		fmt.Fprintf(&lines, "%x %s\n", payload[schemaHeader:], text)
	}
	return lines.String()
}

func (g *avroGolden) decode(t *testing.T, d *datadriven.TestData, spec Spec) string {
	var wanted []bool
	if arg, ok := d.Arg("unwanted"); ok {
		for _, field := range g.fields {
			wanted = append(wanted, !strings.Contains(","+strings.Join(arg.Vals, ",")+",", ","+field.Name+","))
		}
	}
	transcoder := g.transcoder(t, d, spec)
	decoder := avroFormat{}.NewDecoder(spec, g.fields, wanted)
	var lines strings.Builder
	for line := range strings.SplitSeq(d.Input, "\n") {
		payload := parsePayload(t, line)
		if !strings.HasPrefix(line, "hex:") {
			var err error
			if payload, err = transcoder.FromJSON(nil, payload); err != nil {
				t.Fatalf("%s: %s: %v", d.Pos, line, err)
			}
		}
		out := vectorsOf(g.fields, wanted, 1)
		var failed error
		decoder.Decode([][]byte{payload}, []int32{0}, out, &column.Arena{}, func(_ int32, err error) { failed = err })
		if failed != nil {
			fmt.Fprintf(&lines, "error: %v\n", failed)
			continue
		}
		lines.WriteString(rowText(out, 0) + "\n")
	}
	return lines.String()
}

func (g *avroGolden) encode(t *testing.T, d *datadriven.TestData, spec Spec) string {
	if spec.Schema == nil {
		spec.Schemas = nil
	}
	transcoder := g.transcoder(t, d, spec)
	encoder := avroFormat{}.NewEncoder(spec, g.fields)
	var lines strings.Builder
	for line := range strings.SplitSeq(d.Input, "\n") {
		rows := vectorsOf(g.fields, nil, 1)
		jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, g.fields, nil).Decode([][]byte{[]byte(line)}, []int32{0}, rows,
			&column.Arena{}, func(_ int32, err error) { t.Fatalf("%s: %s: %v", d.Pos, line, err) })
		payload, null, err := encoder.Append(nil, rows, 0)
		switch {
		case err != nil:
			fmt.Fprintf(&lines, "error: %v\n", err)
		case null:
			lines.WriteString("null payload\n")
		default:
			text, err := transcoder.ToJSON(nil, payload)
			if err != nil {
				text = fmt.Append(nil, err)
			}
			fmt.Fprintf(&lines, "%x %s\n", payload[schemaHeader:], text)
		}
	}
	return lines.String()
}

// derivedAvro registers the schema of the fields with id 7.
func derivedAvro(t interface{ Fatal(...any) }, fields []Field, bare bool) Spec {
	spec := Spec{Name: "AVRO", Unwrapped: bare, SchemaID: 7}
	schema, err := avroFormat{}.Derive(spec, false, fields)
	if err != nil {
		t.Fatal(err)
	}
	spec.Schema, spec.Schemas = &schema, avroSchemas{7: schema.Text}
	return spec
}

// drawAvroValue draws dates in 32 bits only: Avro has no others.
func drawAvroValue(t *rapid.T, v *column.Vector, i int) {
	drawValue(t, v, i)
	narrowDates(v)
}

func narrowDates(v *column.Vector) {
	if v.Type.Kind == types.KindDate {
		for i, day := range v.Ints {
			v.Ints[i] = int64(int32(day))
		}
	}
	for _, child := range v.Children {
		narrowDates(child)
	}
}

func TestRoundTripAvro(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, 3, 4)
		roundTrip(t, derivedAvro(t, fields, false), fields, drawAvroValue)
	})
}

func TestRoundTripBareAvro(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, 3, 1)
		roundTrip(t, derivedAvro(t, fields, true), fields, drawAvroValue)
	})
}

// rawAvro parses a schema so that values of logical types stay as they are.
func rawAvro(t *rapid.T, text string) *avro.Schema {
	var options []avro.SchemaOpt
	for _, logical := range []string{logicalDecimal, logicalDate, logicalTimeMillis, logicalTimestampMillis} {
		options = append(options, avro.CustomType{LogicalType: logical})
	}
	schema, err := avro.Parse(text, options...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return schema
}

// TestAvroAgreesWithTheLibrary has what is written read and written again by
// another implementation, and expects to read the same rows from that.
func TestAvroAgreesWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, 3, 4)
		spec := derivedAvro(t, fields, false)
		in := vectorsOf(fields, nil, 1)
		for _, v := range in {
			drawAvroValue(t, v, 0)
		}
		payload, _, err := avroFormat{}.NewEncoder(spec, fields).Append(nil, in, 0)
		if err != nil {
			t.Fatal(err)
		}
		schema := rawAvro(t, spec.Schema.Text)
		var value any
		rest, err := schema.Decode(payload[schemaHeader:], &value)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%x: %d bytes are left, %v", payload, len(rest), err)
		}
		again, err := schema.AppendEncode(bytes.Clone(payload[:schemaHeader]), value)
		if err != nil {
			t.Fatal(err)
		}
		out := vectorsOf(fields, nil, 1)
		avroFormat{}.NewDecoder(spec, fields, nil).Decode([][]byte{again}, []int32{0}, out, &column.Arena{},
			func(_ int32, err error) { t.Fatalf("%x: %v", again, err) })
		for c := range fields {
			if !column.EqualRows(in[c], 0, out[c], 0) {
				t.Fatalf("wrote %s, read %s", valueText(in[c], 0), valueText(out[c], 0))
			}
		}
	})
}

// TestAvroSchemasKeepTypes expects of the schema of any columns that it gives
// these columns.
func TestAvroSchemasKeepTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, 3, 4)
		spec := derivedAvro(t, fields, false)
		for _, exact := range []bool{false, true} {
			again, bare, err := avroFormat{}.Infer(spec, false, exact)
			if err != nil || bare || len(again) != len(fields) {
				t.Fatalf("%v, bare %t, %v", again, bare, err)
			}
			for i := range fields {
				if again[i].Name != fields[i].Name || !types.Equal(again[i].Type, fields[i].Type) {
					t.Fatalf("%s became %s %s", fields[i].Type, again[i].Name, again[i].Type)
				}
			}
		}
		if err := (avroFormat{}).Fits(spec, false, fields); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAvroTranscoderKeepsPayloads expects of the text of any payload that it
// gives the payload again.
func TestAvroTranscoderKeepsPayloads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, 3, 4)
		spec := derivedAvro(t, fields, false)
		in := vectorsOf(fields, nil, 1)
		for _, v := range in {
			drawAvroValue(t, v, 0)
		}
		payload, _, err := avroFormat{}.NewEncoder(spec, fields).Append(nil, in, 0)
		if err != nil {
			t.Fatal(err)
		}
		transcoder, err := avroFormat{}.NewTranscoder(spec, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := transcoder.ToJSON(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		again, err := transcoder.FromJSON(nil, text)
		if err != nil || !bytes.Equal(again, payload) {
			t.Fatalf("%s: %x became %x, %v", text, payload, again, err)
		}
	})
}

// TestAvroEveryPrefix cuts a payload at every byte: no part of a value is one.
func TestAvroEveryPrefix(t *testing.T) {
	spec, payload := fuzzedAvro(t)
	for _, wanted := range [][]bool{nil, make([]bool, len(fuzzedTypes))} {
		decoder := avroFormat{}.NewDecoder(spec, fuzzedTypes, wanted)
		if _, err := decodeOne(t, decoder, fuzzedTypes, wanted, payload); err != nil {
			t.Fatal(err)
		}
		for n := range len(payload) {
			if shown, err := decodeOne(t, decoder, fuzzedTypes, wanted, payload[:n]); err == nil {
				t.Errorf("%x is read as %s", payload[:n], shown)
			}
		}
		if _, err := decodeOne(t, decoder, fuzzedTypes, wanted, append(bytes.Clone(payload), 0)); err == nil {
			t.Error("a byte behind the value is accepted")
		}
	}
}

// fuzzedAvro is a payload of the derived schema of fuzzedTypes.
func fuzzedAvro(t testing.TB) (Spec, []byte) {
	spec := derivedAvro(t, fuzzedTypes, false)
	transcoder, err := avroFormat{}.NewTranscoder(spec, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := transcoder.FromJSON(nil, []byte(`{"s":"text","i":-1,"l":15000000000,"d":-0.25,"b":true,"n":"1.5","x":"AQID","t":1,`+
		`"a":[[1,2],null],"m":{"k":{"v":"w"}},"c":{"x":1e-3,"y":["z"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	return spec, payload
}

// TestAvroHostileBytes decodes payloads that claim more than they hold.
func TestAvroHostileBytes(t *testing.T) {
	list := `{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]},{"name":"empty","type":{"type":"array","items":"null"}},` +
		`{"name":"text","type":{"type":"array","items":"string"}},{"name":"records","type":{"type":"array","items":{"type":"record","name":"E","fields":[]}}}]}`
	spec := Spec{Schemas: avroSchemas{
		1: list,
		2: `{"type":"record","name":"R","fields":[{"name":"next","type":"R"}]}`,
		3: `{"type":"fixed","name":"F","size":1000000000000}`,
		4: `{"type":"array","items":{"type":"fixed","name":"F","size":0}}`,
	}}
	fields := []Field{
		{"NEXT", types.StructOf(types.Field{Name: "NEXT", Type: types.StructOf(types.Field{Name: "TEXT", Type: types.ArrayOf(types.String)})})},
		{"EMPTY", types.ArrayOf(types.Integer)},
		{"TEXT", types.ArrayOf(types.String)},
		{"RECORDS", types.ArrayOf(types.StructOf(types.Field{Name: "A", Type: types.String}))},
	}
	payloads := map[string]string{
		"a chain of records":         "0000000001" + strings.Repeat("02", 100_000),
		"a record of itself":         "0000000002",
		"a huge fixed":               "0000000003",
		"empty elements":             "0000000001" + "00" + "feffffffffffffffff01" + "00",
		"empty elements, many times": "0000000001" + "00" + strings.Repeat("feff03", 3) + "00",
		"empty fixed":                "0000000004" + "feffffffffffffffff01" + "00",
		"empty records":              "0000000001" + "0000" + "00" + "feffffffffffffffff01" + "00",
		"more texts than bytes":      "0000000001" + "0000" + "feffffff0f" + "00",
		"the least count":            "0000000001" + "0000" + "ffffffffffffffffff01" + "00",
		"a negative length":          "0000000001" + "0000" + "0201",
		"a block beyond the end":     "0000000001" + "0001" + "feff03",
		"a number without end":       "0000000001" + strings.Repeat("ff", 100),
	}
	for name, text := range payloads {
		t.Run(name, func(t *testing.T) {
			payload, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, wanted := range [][]bool{nil, make([]bool, len(fields))} {
				shown, err := decodeOne(t, avroFormat{}.NewDecoder(spec, fields, wanted), fields, wanted, payload)
				if err == nil {
					t.Errorf("it is read as %s", shown)
				}
			}
		})
	}
}

// TestAvroUnavailable expects that the decoder stops and passes the error on,
// and that it asks again for what was unknown.
func TestAvroUnavailable(t *testing.T) {
	schemas := avroSchemas{}
	fields := []Field{{"A", types.Integer}}
	decoder := avroFormat{}.NewDecoder(Spec{Unwrapped: true, Schemas: schemas}, fields, nil)
	out := vectorsOf(fields, nil, 3)
	var failed []error
	decode := func(payloads ...[]byte) {
		failed = nil
		decoder.Decode(payloads, allRows(len(payloads)), out, &column.Arena{}, func(_ int32, err error) { failed = append(failed, err) })
	}
	away := []byte{0, 0, 0, 1, 244, 2}
	decode(away, away)
	if len(failed) != 1 || !errors.Is(failed[0], registry.ErrUnavailable) {
		t.Errorf("%v", failed)
	}
	known := []byte{0, 0, 0, 0, 1, 2}
	decode(known)
	if len(failed) != 1 || failed[0].Error() != "the payload's schema: schema id 1: unknown schema" {
		t.Errorf("%v", failed)
	}
	schemas[1] = `"int"`
	decode(known)
	if len(failed) != 0 || out[0].Ints[0] != 1 {
		t.Errorf("%v, %d", failed, out[0].Ints[0])
	}
}
