package format

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// fuzzedProtobuf has what both its decoders read alike: no messages that hold
// dates or times, which Google's library does not check, and no unsigned numbers
// that BIGINT lacks.
const fuzzedProtobuf = `syntax = "proto3";
import "google/protobuf/wrappers.proto";
message Row {
  bool b = 1;
  int32 i = 2;
  sint64 l = 3;
  float f = 4;
  double d = 5;
  string s = 6;
  bytes x = 7;
  E e = 8;
  optional sint32 o = 9;
  google.protobuf.Int64Value w = 10;
  repeated int64 packed = 11;
  repeated fixed32 loose = 12 [packed = false];
  repeated string texts = 13;
  map<string, In> m = 14;
  repeated KEntry k = 15;
  In in = 16;
  repeated In ins = 300;
  oneof one { string p = 17; In q = 18; int32 r = 19; }
  enum E { ZERO = 0; ONE = 1; }
  message In { int32 a = 1; repeated sfixed64 b = 2; map<string, double> c = 3; In2 d = 4; }
  message In2 { optional string x = 1; bytes y = 2; }
  message KEntry { string key = 1; repeated In2 value = 2; }
}
`

// FuzzProtobuf compares what is accepted, and the values, with Google's library.
func FuzzProtobuf(f *testing.F) {
	schema := registry.Schema{Kind: registry.Protobuf, Text: fuzzedProtobuf}
	spec := Spec{Name: "PROTOBUF", SchemaID: 1, Schema: &schema, Schemas: schemaTable{1: schema}}
	protobuf := protobufFormat{registered: true}
	fields, _, err := protobuf.Infer(spec, false, true)
	if err != nil {
		f.Fatal(err)
	}
	message, err := protobuf.messageFor(spec, false, nil)
	if err != nil {
		f.Fatal(err)
	}
	for seed := range 50 {
		row := vectorsOf(fields, nil, 1)
		drawn := rapid.Custom(func(t *rapid.T) bool {
			for _, v := range row {
				drawFitting(t, v, 0)
			}
			return true
		}).Example(seed)
		if payload, _, err := protobuf.NewEncoder(spec, fields).Append(nil, row, 0); drawn && err == nil {
			f.Add(payload[schemaHeader+1:])
		}
	}
	decoder := protobuf.NewDecoder(spec, fields, nil)
	transcoder, err := protobuf.NewTranscoder(spec, false, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		payload := append(appendProtobufHeader(nil, 1, message), encoded...)
		valid := unmarshalProtobuf(encoded, dynamicpb.NewMessage(message))
		if errors.Is(valid, errUnmarshal) {
			return
		}
		_, err := decodeOne(t, decoder, fields, nil, payload)
		if (err == nil) != (valid == nil) {
			t.Fatalf("%x: %v, but Google's library says %v", encoded, err, valid)
		}
		if err == nil {
			compareProtobuf(t, decoder, transcoder, fields, payload)
		}
	})
}

func compareProtobuf(t *testing.T, decoder Decoder, transcoder Transcoder, fields []Field, payload []byte) {
	out := vectorsOf(fields, nil, 1)
	decoder.Decode([][]byte{payload}, allRows(1), out, &column.Arena{}, func(_ int32, err error) { t.Fatal(err) })
	for _, v := range out {
		if v.Type.Kind == types.KindBytes && v.Texts[0] == "" {
			v.SetNull(0)
		}
	}
	row, _, err := jsonFormat{}.NewEncoder(Spec{Name: "JSON"}, fields).Append(nil, out, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := transcoder.ToJSON(nil, payload)
	if err != nil {
		t.Fatalf("%x: %v", payload, err)
	}
	if !sameJSON(t, shown, row) {
		t.Fatalf("%x is\n%s, but the decoder reads\n%s", payload, shown, row)
	}
}

// FuzzProtobufPayload reads payloads of a schema with all types into columns of
// other types.
func FuzzProtobufPayload(f *testing.F) {
	spec := Spec{Name: "PROTOBUF"}
	fields := protobufTypesOf(fuzzedTypes)
	schema, err := protobufFormat{}.Derive(spec, false, fields)
	if err != nil {
		f.Fatal(err)
	}
	spec.Schemas = schemaTable{1: schema}
	decoder := protobufFormat{registered: true}.NewDecoder(spec, fields, nil)
	wanted := make([]bool, len(fields))
	for i := range wanted {
		wanted[i] = i%3 > 0
	}
	some := protobufFormat{registered: true}.NewDecoder(spec, fields, wanted)
	transcoder, err := protobufFormat{registered: true}.NewTranscoder(spec, false, fields)
	if err != nil {
		f.Fatal(err)
	}
	for seed := range 50 {
		f.Add(rapid.Custom(func(t *rapid.T) []byte {
			row := vectorsOf(fields, nil, 1)
			for _, v := range row {
				drawValue(t, v, 0)
			}
			spec.SchemaID = 1
			payload, _, err := protobufFormat{registered: true}.NewEncoder(spec, fields).Append(nil, row, 0)
			if err != nil {
				t.Fatal(err)
			}
			return payload
		}).Example(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if _, err := decodeOne(t, decoder, fields, nil, payload); err == nil {
			if _, err := decodeOne(t, some, fields, wanted, payload); err != nil {
				t.Fatalf("%x: all columns are read, but of some %v", payload, err)
			}
		}
		_, _ = transcoder.ToJSON(nil, payload)
	})
}

// protobufTypesOf changes the types of columns to ones that Protobuf has.
func protobufTypesOf(fields []Field) []Field {
	var changed []Field
	for _, field := range fields {
		changed = append(changed, Field{field.Name, protobufType(field.Type)})
	}
	return changed
}

// FuzzProtobufSchema takes columns from any text, and writes and reads with it
// where that gives some.
func FuzzProtobufSchema(f *testing.F) {
	f.Add(fuzzedProtobuf)
	for seed := range 20 {
		f.Add(rapid.Custom(drawProtobufSchema).Example(seed))
	}
	f.Add(strings.Replace(fuzzedProtobuf, "int32 a = 1", "repeated Row a = 1", 1))
	f.Add(`syntax = "proto2"; message A { required group G = 1 { optional int32 a = 1 [default = 5]; } extensions 100 to max; }`)
	f.Add(`edition = "2023"; message A { int32 a = 1 [features.field_presence = IMPLICIT]; }`)
	f.Add(`syntax = "proto3"; import "confluent/meta.proto"; import "confluent/type/decimal.proto";
message A { confluent.type.Decimal n = 1 [(confluent.field_meta).params = { key: "precision" value: "9" }]; }`)
	f.Fuzz(func(t *testing.T, text string) {
		schema := registry.Schema{Kind: registry.Protobuf, Text: text}
		spec := Spec{Name: "PROTOBUF", SchemaID: 1, Schema: &schema, Schemas: schemaTable{1: schema}}
		protobuf := protobufFormat{registered: true}
		fields, _, err := protobuf.Infer(spec, false, true)
		if err != nil {
			if _, ok := err.(*types.Error); !ok {
				t.Fatalf("%T is no *types.Error", err)
			}
			return
		}
		row := vectorsOf(fields, nil, 1)
		payload, _, err := protobuf.NewEncoder(spec, fields).Append(nil, row, 0)
		if err != nil {
			return // a field that is required
		}
		if _, err := decodeOne(t, protobuf.NewDecoder(spec, fields, nil), fields, nil, payload); err != nil {
			t.Fatalf("%s: %x: %v", text, payload, err)
		}
		transcoder, err := protobuf.NewTranscoder(spec, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transcoder.ToJSON(nil, payload); err != nil {
			t.Fatalf("%s: %x: %v", text, payload, err)
		}
	})
}
