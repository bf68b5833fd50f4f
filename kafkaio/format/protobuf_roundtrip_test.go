package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// schemaTable finds schemas in a table.
type schemaTable map[int32]registry.Schema

func (s schemaTable) Schema(id int32) (registry.Schema, error) {
	schema, ok := s[id]
	if !ok {
		return schema, fmt.Errorf("schema %d: %w", id, registry.ErrUnknown)
	}
	return schema, nil
}

// protobufType changes a drawn type to one that Protobuf has.
func protobufType(t *types.Type) *types.Type {
	switch t.Kind {
	case types.KindArray:
		elem := protobufType(t.Elem)
		if elem.Kind == types.KindArray || elem.Kind == types.KindMap {
			elem = types.StructOf(types.Field{Name: "E", Type: elem})
		}
		return types.ArrayOf(elem)
	case types.KindMap:
		return types.MapOf(t.Key, protobufType(t.Elem))
	case types.KindStruct:
		var fields []types.Field
		for _, field := range t.Fields {
			fields = append(fields, types.Field{Name: field.Name, Type: protobufType(field.Type)})
		}
		return types.StructOf(fields...)
	}
	return t
}

func drawProtobufFields(t *rapid.T) []Field {
	fields := drawFields(t, 3, 6)
	for i := range fields {
		fields[i].Type = protobufType(fields[i].Type)
	}
	return fields
}

// place is where a value stands, which decides whether it can be null.
type place int

const (
	inMessage place = iota
	inArray
	inMapField // map<..>
	inEntry
)

// readBack makes row i what a reader sees of it: null is a default where
// Protobuf has no null.
func readBack(v *column.Vector, i int, at place, nullable string) {
	if v.Null(i) {
		setReadNull(v, i, at, nullable)
	}
	if v.Null(i) {
		return
	}
	switch v.Type.Kind {
	case types.KindStruct:
		for _, child := range v.Children {
			readBack(child, i, inMessage, nullable)
		}
	case types.KindArray:
		for n := range v.Spans[i].Len {
			readBack(v.Children[0], int(v.Spans[i].Start+n), inArray, nullable)
		}
	case types.KindMap:
		values := inMapField
		if nullable != "" || v.Type.Elem.Kind == types.KindArray || v.Type.Elem.Kind == types.KindMap {
			values = inEntry
		}
		for n := range v.Spans[i].Len {
			readBack(v.Children[1], int(v.Spans[i].Start+n), values, nullable)
		}
	}
}

func setReadNull(v *column.Vector, i int, at place, nullable string) {
	own := at == inMessage || at == inEntry // a field that may be missing
	switch v.Type.Kind {
	case types.KindArray, types.KindMap:
		v.SetSpan(i, 0, 0)
	case types.KindStruct:
		if own {
			return
		}
		for _, child := range v.Children {
			child.SetNull(i)
		}
		v.Valid.Set(i)
	case types.KindDate:
	case types.KindTime, types.KindTimestamp:
		if !own {
			v.SetInt(i, 0)
		}
	case types.KindDecimal:
		if !own {
			v.SetDecimal(i, types.Decimal{})
		}
	default:
		if own && nullable != "" {
			return
		}
		v.CopyRow(i, zeroOf(v.Type), 0)
	}
}

func zeroOf(t *types.Type) *column.Vector {
	v := column.New(t, 1)
	switch t.Kind {
	case types.KindBoolean:
		v.SetBool(0, false)
	case types.KindDouble:
		v.SetDouble(0, 0)
	case types.KindString, types.KindBytes:
		v.SetText(0, "")
	default:
		v.SetInt(0, 0)
	}
	return v
}

// TestRoundTripProtobuf writes drawn rows, reads them back, and lets Google's
// library read and write them in between.
func TestRoundTripProtobuf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawProtobufFields(t)
		spec := Spec{
			Name: "PROTOBUF", SchemaID: 7,
			Nullable:   rapid.SampledFrom([]string{"", "OPTIONAL", "WRAPPER"}).Draw(t, "nullable"),
			SchemaName: rapid.SampledFrom([]string{"", "Row", "a.google.Row"}).Draw(t, "name"),
		}
		f := protobufFormat{registered: rapid.Bool().Draw(t, "registered")}
		schema, err := f.Derive(spec, false, fields)
		if err != nil {
			t.Fatal(err)
		}
		spec.Schemas = schemaTable{7: schema}
		in := vectorsOf(fields, nil, 1)
		for _, v := range in {
			drawValue(t, v, 0)
		}
		payload, null, err := f.NewEncoder(spec, fields).Append(nil, in, 0)
		if err != nil || null {
			t.Fatalf("%s: null %t, %v", schema.Text, null, err)
		}
		for _, v := range in {
			readBack(v, 0, inMessage, spec.Nullable)
		}
		header := 0
		if f.registered {
			header = schemaHeader + 1
		}
		message, err := f.messageFor(spec, false, fields)
		if err != nil {
			t.Fatal(err)
		}
		dynamic := dynamicpb.NewMessage(message)
		if err := proto.Unmarshal(payload[header:], dynamic); err != nil {
			t.Fatalf("%s: %x: %v", schema.Text, payload, err)
		}
		again, err := proto.MarshalOptions{}.MarshalAppend(payload[:header:header], dynamic)
		if err != nil {
			t.Fatal(err)
		}
		out := vectorsOf(fields, nil, 2)
		f.NewDecoder(spec, fields, nil).Decode([][]byte{payload, again}, allRows(2), out, &column.Arena{},
			func(row int32, err error) { t.Fatalf("%s: row %d, %x: %v", schema.Text, row, payload, err) })
		for c := range fields {
			for row := range 2 {
				if !column.EqualRows(in[c], 0, out[c], row) {
					t.Fatalf("%s: %x: wrote %s, read %s in row %d", schema.Text, payload, valueText(in[c], 0), valueText(out[c], row), row)
				}
			}
		}
	})
}

// TestDerivedProtobufIsInferred expects the columns back from the schema that
// they give.
func TestDerivedProtobufIsInferred(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawProtobufFields(t)
		f := protobufFormat{registered: true}
		spec := Spec{Name: "PROTOBUF", Nullable: rapid.SampledFrom([]string{"", "OPTIONAL", "WRAPPER"}).Draw(t, "nullable")}
		schema, err := f.Derive(spec, false, fields)
		if err != nil {
			t.Fatal(err)
		}
		spec.Schema = &schema
		inferred, bare, err := f.Infer(spec, false, true)
		if err != nil || bare || len(inferred) != len(fields) {
			t.Fatalf("%s: %v, %v", schema.Text, inferred, err)
		}
		for i, field := range fields {
			if inferred[i].Name != field.Name || !types.Equal(inferred[i].Type, field.Type) {
				t.Fatalf("%s: %s %s becomes %s %s", schema.Text, field.Name, field.Type, inferred[i].Name, inferred[i].Type)
			}
		}
		if err := f.Fits(spec, false, fields); err != nil {
			t.Fatalf("%s: %v", schema.Text, err)
		}
	})
}

var scalarKinds = []string{
	"bool", "int32", "sint32", "uint32", "fixed32", "sfixed32", "int64", "sint64", "uint64", "fixed64", "sfixed64",
	"float", "double", "string", "bytes", "E", "google.protobuf.Int32Value", "google.protobuf.UInt64Value",
	"google.protobuf.StringValue", "google.protobuf.Timestamp", "google.type.Date", "google.type.TimeOfDay",
}

// drawProtobufSchema draws the text of a message with fields of all kinds.
func drawProtobufSchema(t *rapid.T) string {
	var text strings.Builder
	text.WriteString(`syntax = "proto3";
import "google/protobuf/wrappers.proto";
import "google/protobuf/timestamp.proto";
import "google/type/date.proto";
import "google/type/timeofday.proto";
message Row {
  enum E { ZERO = 0; ONE = 1; MINUS = -1; }
`)
	number := 0
	var body func(indent string, depth int)
	body = func(indent string, depth int) {
		number++
		fmt.Fprintf(&text, "%sstring s%d = %d;\n", indent, number, number)
		for range rapid.IntRange(1, 4).Draw(t, "fields") {
			number += rapid.SampledFrom([]int{1, 1, 1, 20, 300}).Draw(t, "step")
			kind := rapid.SampledFrom(scalarKinds).Draw(t, "kind")
			if depth > 0 && rapid.IntRange(0, 3).Draw(t, "message") == 0 {
				kind = fmt.Sprintf("M%d", number)
				text.WriteString(indent + "message " + kind + " {\n")
				outer := number
				body(indent+"  ", depth-1)
				number = outer
				text.WriteString(indent + "}\n")
			}
			switch rapid.IntRange(0, 5).Draw(t, "label") {
			case 0:
				fmt.Fprintf(&text, "%srepeated %s f%d = %d;\n", indent, kind, number, number)
			case 1:
				if kind != "string" && kind != "bytes" && !strings.ContainsAny(kind, ".M") {
					fmt.Fprintf(&text, "%srepeated %s f%d = %d [packed = false];\n", indent, kind, number, number)
				}
			case 2:
				fmt.Fprintf(&text, "%smap<string, %s> f%d = %d;\n", indent, kind, number, number)
			case 3:
				fmt.Fprintf(&text, "%soneof o%d { %s f%d = %d; string g%d = %d; }\n", indent, number, kind, number, number, number, number+1)
				number++
			case 4:
				fmt.Fprintf(&text, "%soptional %s f%d = %d;\n", indent, kind, number, number)
			default:
				fmt.Fprintf(&text, "%s%s f%d = %d;\n", indent, kind, number, number)
			}
		}
	}
	body("  ", 2)
	text.WriteString("}\n")
	return text.String()
}

// sameJSON compares two texts as values: the members of maps have no order.
func sameJSON(t interface{ Fatalf(string, ...any) }, a, b []byte) bool {
	var x, y any
	for text, into := range map[*[]byte]*any{&a: &x, &b: &y} {
		decoder := json.NewDecoder(bytes.NewReader(*text))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			t.Fatalf("%s: %v", *text, err)
		}
	}
	return reflect.DeepEqual(x, y)
}

// TestProtobufSchemas writes drawn rows with drawn schemas and compares what the
// decoder reads with what Google's library does.
func TestProtobufSchemas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := registry.Schema{Kind: registry.Protobuf, Text: drawProtobufSchema(t)}
		spec := Spec{Name: "PROTOBUF", SchemaID: 3, Schema: &schema, Schemas: schemaTable{3: schema}}
		f := protobufFormat{registered: true}
		fields, _, err := f.Infer(spec, false, true)
		if err != nil {
			t.Fatalf("%s: %v", schema.Text, err)
		}
		in := vectorsOf(fields, nil, 1)
		for _, v := range in {
			drawFitting(t, v, 0)
		}
		payload, _, err := f.NewEncoder(spec, fields).Append(nil, in, 0)
		if err != nil {
			return // a value that the schema's narrower type lacks
		}
		transcoder, err := f.NewTranscoder(spec, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := transcoder.ToJSON(nil, payload)
		if err != nil {
			t.Fatalf("%s: %x: %v", schema.Text, payload, err)
		}
		out := vectorsOf(fields, nil, 1)
		f.NewDecoder(spec, fields, nil).Decode([][]byte{payload}, allRows(1), out, &column.Arena{},
			func(_ int32, err error) { t.Fatalf("%s: %x: %v", schema.Text, payload, err) })
		for _, v := range out {
			if v.Type.Kind == types.KindBytes && v.Texts[0] == "" {
				v.SetNull(0)
			}
		}
		row, _, err := jsonFormat{}.NewEncoder(Spec{Name: "JSON"}, fields).Append(nil, out, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, shown, row) {
			t.Fatalf("%s: %x is\n%s, but the decoder reads\n%s", schema.Text, payload, shown, row)
		}
		again, err := transcoder.FromJSON(nil, shown)
		if err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
		reshown, err := transcoder.ToJSON(nil, again)
		if err != nil || !bytes.Equal(reshown, shown) {
			t.Fatalf("%s:\n%s becomes\n%s, %v", schema.Text, shown, reshown, err)
		}
	})
}

// drawFitting draws a value with few that narrower types lack.
func drawFitting(t *rapid.T, v *column.Vector, i int) {
	drawValue(t, v, i)
	shrink(t, v, i)
}

func shrink(t *rapid.T, v *column.Vector, i int) {
	if v.Null(i) {
		return
	}
	switch v.Type.Kind {
	case types.KindBigint:
		v.SetInt(i, v.Ints[i]&(1<<31-1))
	case types.KindDate:
		v.SetInt(i, v.Ints[i]%1_000_000)
	case types.KindDouble:
		v.SetDouble(i, float64(float32(v.Doubles[i])))
	case types.KindString:
		if v.Texts[i] == "" || rapid.IntRange(0, 1).Draw(t, "name") == 0 {
			v.SetText(i, rapid.SampledFrom([]string{"ZERO", "ONE", "MINUS", "5"}).Draw(t, "enum"))
		}
	case types.KindStruct:
		for _, child := range v.Children {
			shrink(t, child, i)
		}
	case types.KindArray:
		for n := range v.Spans[i].Len {
			shrink(t, v.Children[0], int(v.Spans[i].Start+n))
		}
	case types.KindMap:
		for n := range v.Spans[i].Len {
			shrink(t, v.Children[1], int(v.Spans[i].Start+n))
		}
	}
}
