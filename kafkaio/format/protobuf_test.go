package format

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// failingSchemas fails while err is set, and counts how often it is asked.
type failingSchemas struct {
	schemaTable
	err   error
	asked int
}

func (s *failingSchemas) Schema(id int32) (registry.Schema, error) {
	s.asked++
	if s.err != nil {
		return registry.Schema{}, s.err
	}
	return s.schemaTable.Schema(id)
}

func protobufText(text string) registry.Schema {
	return registry.Schema{Kind: registry.Protobuf, Text: "syntax = \"proto3\";\n" + text}
}

func TestProtobufSchemasOfPayloads(t *testing.T) {
	schemas := &failingSchemas{schemaTable: schemaTable{
		1: protobufText("message A { int32 n = 1; }"),
		2: protobufText("message A { string s = 1; sint64 n = 2; }"),
		3: {Kind: registry.Avro, Text: `"int"`},
	}}
	fields := []Field{{"N", types.Bigint}}
	decoder := protobufFormat{registered: true}.NewDecoder(Spec{Name: "PROTOBUF", Schemas: schemas}, fields, nil)
	payloads := [][]byte{
		[]byte("\x00\x00\x00\x00\x01\x00\x08\x05"),
		[]byte("\x00\x00\x00\x00\x02\x00\x10\x05"),
		[]byte("\x00\x00\x00\x00\x01\x00\x08\x07"),
		[]byte("\x00\x00\x00\x00\x02\x02\x00\x10\x07"), // the path in full
		[]byte("\x00\x00\x00\x00\x03\x00\x05"),
		[]byte("\x00\x00\x00\x00\x04\x00\x05"),
	}
	decode := func() ([]*column.Vector, []error) {
		out, failed := vectorsOf(fields, nil, len(payloads)), make([]error, len(payloads))
		decoder.Decode(payloads, allRows(len(payloads)), out, &column.Arena{}, func(row int32, err error) { failed[row] = err })
		return out, failed
	}

	schemas.err = fmt.Errorf("no answer: %w", registry.ErrUnavailable)
	_, failed := decode()
	for row, err := range failed {
		if !errors.Is(err, registry.ErrUnavailable) {
			t.Errorf("row %d: %v", row, err)
		}
	}
	if schemas.asked != 1 {
		t.Errorf("a registry that does not answer was asked %d times for one batch", schemas.asked)
	}

	schemas.err = nil
	for range 2 {
		out, failed := decode()
		for row, want := range []int64{5, -3, 7, -4} {
			if failed[row] != nil || out[0].Null(row) || out[0].Ints[row] != want {
				t.Errorf("row %d: %s, %v", row, valueText(out[0], row), failed[row])
			}
		}
		for row, want := range map[int]string{4: "is AVRO, not PROTOBUF", 5: "no schema of id 4"} {
			if _, ok := failed[row].(*RecordError); !ok || !strings.Contains(failed[row].Error(), want) {
				t.Errorf("row %d: %v", row, failed[row])
			}
		}
	}
	// Once for each of the five writers, again for the one that is unknown.
	if schemas.asked != 1+5+1 {
		t.Errorf("the registry was asked %d times", schemas.asked)
	}
}

// TestProtobufKeepsOrderOfEntries writes the members of an object as repeated
// entries, which have an order.
func TestProtobufKeepsOrderOfEntries(t *testing.T) {
	schema := protobufText("message A { repeated MEntry m = 1; message MEntry { string key = 1; optional int32 value = 2; } }")
	spec := Spec{Name: "PROTOBUF", SchemaID: 1, Schema: &schema, Schemas: schemaTable{1: schema}}
	transcoder, err := protobufFormat{registered: true}.NewTranscoder(spec, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"m":{"z":1,"a":null,"k":3}}`
	payload, err := transcoder.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := transcoder.ToJSON(nil, payload); err != nil || string(shown) != text {
		t.Errorf("%s, %v", shown, err)
	}
}

func TestProtobufNestsWithinLimits(t *testing.T) {
	deep := func(n int) []Field {
		of := types.Integer
		for range n {
			of = types.StructOf(types.Field{Name: "F", Type: of})
		}
		return []Field{{"C", of}}
	}
	f := protobufFormat{}
	if err := f.Check(Spec{Name: "PROTOBUF_NOSR"}, false, deep(maxProtobufDepth)); err == nil {
		t.Errorf("%d nested messages are accepted", maxProtobufDepth+1)
	}
	fields := deep(maxProtobufDepth - 1)
	row := vectorsOf(fields, nil, 1)
	if _, _, err := f.NewEncoder(Spec{Name: "PROTOBUF_NOSR"}, fields).Append(nil, row, 0); err != nil {
		t.Errorf("%d nested messages: %v", maxProtobufDepth, err)
	}
}

func TestProtobufInfersWithinLimits(t *testing.T) {
	var wide, chain strings.Builder
	for i := range 30 {
		fmt.Fprintf(&wide, "message M%d { M%d a = 1; M%d b = 2; }\n", i, i+1, i+1)
	}
	for i := range 2 * maxInferredDepth {
		fmt.Fprintf(&chain, "message M%d { M%d a = 1; }\n", i, i+1)
	}
	for name, text := range map[string]string{
		"multiplying": wide.String() + "message M30 { int32 a = 1; }",
		"deep":        chain.String() + fmt.Sprintf("message M%d { int32 a = 1; }", 2*maxInferredDepth),
		"long":        strings.Repeat(" ", maxProtobufText) + "message A { int32 a = 1; }",
	} {
		schema := protobufText(text)
		_, _, err := protobufFormat{registered: true}.Infer(Spec{Name: "PROTOBUF", Schema: &schema}, false, false)
		if _, ok := err.(*types.Error); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
