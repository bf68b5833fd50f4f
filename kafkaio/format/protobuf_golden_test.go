package format

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// protobufGolden is the state of a file of testdata/protobuf: columns and the
// schema with id 5.
type protobufGolden struct {
	fields  []Field
	schema  registry.Schema
	schemas schemaTable
}

// TestGoldenProtobuf runs the files of testdata/protobuf. A file declares columns with
// "fields" and a schema with "schema", whose references are given with
// "reference name=PATH" before it. "derive", "infer", "fits" and "check" ask the
// format; "encode" writes rows given as JSON, with the schema if it is asked to;
// "decode" reads payloads, either hexadecimal messages or the JSON that stands
// for a record of the schema. Arguments: format, nullable, name, key, exact.
func TestGoldenProtobuf(t *testing.T) {
	datadriven.Walk(t, "testdata/protobuf", func(t *testing.T, path string) {
		g := &protobufGolden{schemas: schemaTable{}}
		datadriven.RunTest(t, path, g.run)
	})
}

func (g *protobufGolden) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "fields":
		g.fields = parseFields(t, d.Input)
		return "ok"
	case "reference":
		reference := registry.Reference{Text: d.Input}
		d.ScanArgs(t, "name", &reference.Name)
		g.schema.References = append(g.schema.References, reference)
		return "ok"
	case "schema":
		g.schema = registry.Schema{Kind: registry.Protobuf, Text: d.Input, References: g.schema.References}
		g.schemas[5] = g.schema
		if _, err := parseProtobuf(g.schema); err != nil {
			return "error: " + err.Error()
		}
		return "ok"
	}
	f, spec := g.spec(t, d)
	key := d.HasArg("key")
	switch d.Cmd {
	case "derive":
		schema, err := f.Derive(spec, key, g.fields)
		if err != nil {
			return goldenError(t, d, err)
		}
		return schema.Text
	case "check":
		return goldenError(t, d, f.Check(spec, key, g.fields))
	case "infer":
		spec.Schema = &g.schema
		fields, bare, err := f.Infer(spec, key, d.HasArg("exact"))
		if err != nil {
			return goldenError(t, d, err)
		}
		var lines strings.Builder
		for _, field := range fields {
			fmt.Fprintf(&lines, "%s %s\n", field.Name, field.Type)
		}
		if bare {
			lines.WriteString("bare\n")
		}
		return lines.String()
	case "fits":
		spec.Schema = &g.schema
		return goldenError(t, d, f.Fits(spec, key, g.fields))
	case "encode":
		return g.encode(t, d, f, spec)
	case "decode":
		return g.decode(t, d, f, spec)
	}
	t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	return ""
}

func (g *protobufGolden) spec(t *testing.T, d *datadriven.TestData) (SchemaFormat, Spec) {
	spec := Spec{Name: "PROTOBUF", SchemaID: 5, Schemas: g.schemas}
	for argument, into := range map[string]*string{"format": &spec.Name, "nullable": &spec.Nullable, "name": &spec.SchemaName} {
		if d.HasArg(argument) {
			d.ScanArgs(t, argument, into)
		}
	}
	f, ok := LookupSchema(spec.Name)
	if !ok {
		t.Fatalf("%s: no format %s", d.Pos, spec.Name)
	}
	return f, spec
}

func goldenError(t *testing.T, d *datadriven.TestData, err error) string {
	if err == nil {
		return "ok"
	}
	refusal, ok := err.(*types.Error)
	if !ok {
		t.Fatalf("%s: %T is no *types.Error: %v", d.Pos, err, err)
	}
	return fmt.Sprintf("%s: %v", refusal.Code, refusal)
}

// encode shows each payload with the JSON that Google's library reads from it.
func (g *protobufGolden) encode(t *testing.T, d *datadriven.TestData, f SchemaFormat, spec Spec) string {
	if d.HasArg("schema") {
		spec.Schema = &g.schema
	} else if schema, err := f.Derive(spec, false, g.fields); err == nil {
		spec.Schemas = schemaTable{5: schema}
	}
	var lines strings.Builder
	encoder := f.NewEncoder(spec, g.fields)
	for line := range strings.SplitSeq(d.Input, "\n") {
		row := vectorsOf(g.fields, nil, 1)
		jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, g.fields, nil).Decode([][]byte{[]byte(line)}, allRows(1), row,
			&column.Arena{}, func(_ int32, err error) { t.Fatalf("%s: %v", d.Pos, err) })
		payload, _, err := encoder.Append(nil, row, 0)
		if err != nil {
			fmt.Fprintf(&lines, "error: %v\n", err)
			continue
		}
		transcoder, err := f.NewTranscoder(spec, false, g.fields)
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		shown, err := transcoder.ToJSON(nil, payload)
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		fmt.Fprintf(&lines, "%x\n  %s\n", payload, shown)
	}
	return lines.String()
}

func (g *protobufGolden) decode(t *testing.T, d *datadriven.TestData, f SchemaFormat, spec Spec) string {
	var payloads [][]byte
	var shown []string
	spec.Schema = &g.schema
	transcoder, err := f.NewTranscoder(spec, false, g.fields)
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	for line := range strings.SplitSeq(d.Input, "\n") {
		text, encoded := strings.CutPrefix(line, "hex:")
		payload, err := hex.DecodeString(text)
		if !encoded {
			payload, err = transcoder.FromJSON(nil, []byte(line))
			text = hex.EncodeToString(payload) + "\n  "
		} else {
			text = ""
		}
		if err != nil {
			text = "error: " + err.Error()
			payload = nil
		}
		payloads, shown = append(payloads, payload), append(shown, text)
	}
	out := vectorsOf(g.fields, nil, len(payloads))
	decoder := f.NewDecoder(spec, g.fields, nil)
	for i := range payloads {
		if strings.HasPrefix(shown[i], "error") {
			continue
		}
		fault := error(nil)
		decoder.Decode(payloads, []int32{int32(i)}, out, &column.Arena{}, func(_ int32, err error) { fault = err })
		if fault != nil {
			shown[i] += "error: " + fault.Error()
			continue
		}
		shown[i] += rowText(out, i)
	}
	return strings.Join(shown, "\n")
}
