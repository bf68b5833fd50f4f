package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"millrace/exec/replay"
	"millrace/kafkaio/registry"
)

// schema is one that a registry has before the statements run.
type schema struct {
	id     int32
	topic  string
	key    bool
	format string
	text   string
}

func (s schema) subject() string { return registry.Subject(s.topic, s.key) }

var kinds = map[string]registry.Kind{"AVRO": registry.Avro, "JSON_SR": registry.JSON, "PROTOBUF": registry.Protobuf}

// newSchemas are random schemas for the keys and values of three topics, one a
// language; the ids count from 1.
func newSchemas(c *choices) []schema {
	if c.n(3) == 0 {
		return nil
	}
	var out []schema
	add := func(topic, format, key, value string) {
		id := int32(len(out) + 1)
		out = append(out, schema{id, topic, true, format, key}, schema{id + 1, topic, false, format, value})
	}
	a := avroSchemas{choices: c}
	add("avro", "AVRO", a.any(1), a.record(2))
	j := jsonSchemas{c}
	add("json", "JSON_SR", j.any(1), j.document())
	p := protobufSchemas{choices: c}
	add("protobuf", "PROTOBUF", p.file("P"), p.file("I"))
	return out
}

// registryOf is a registry with the schemas.
func registryOf(schemas []schema) *registry.Memory {
	r := registry.NewMemory()
	for _, s := range schemas {
		r.Put(s.id, s.subject(), registry.Schema{Kind: kinds[s.format], Text: s.text})
	}
	return r
}

// schemaTopics are the topics of the schemas, as a replay takes them.
func schemaTopics(schemas []schema) []replay.Topic {
	var out []replay.Topic
	for i := 0; i+1 < len(schemas); i += 2 {
		key, value := schemas[i], schemas[i+1]
		out = append(out, replay.Topic{
			Name: key.topic, Partitions: 1,
			KeyFormat: key.format, KeySchema: key.raw(), KeySchemaID: key.id,
			ValueFormat: value.format, ValueSchema: value.raw(), ValueSchemaID: value.id,
		})
	}
	return out
}

// raw is the text as a replay takes it: JSON, or a JSON string with the text of
// a Protobuf schema.
func (s schema) raw() json.RawMessage {
	if s.format != "PROTOBUF" {
		return json.RawMessage(s.text)
	}
	text, _ := json.Marshal(s.text) //nolint:errchkjson // a string always encodes
	return text
}

func schemaText(schemas []schema) string {
	var out strings.Builder
	for _, s := range schemas {
		fmt.Fprintf(&out, "-- schema %d of %s: %s\n", s.id, s.subject(), s.text)
	}
	return out.String()
}

// latestOf is the newest schema of a topic's keys or values.
func latestOf(r registry.Registry, topic string, key bool) (registry.Schema, bool) {
	_, found, err := r.Latest(context.Background(), registry.Subject(topic, key))
	return found, err == nil
}

var fieldNames = []string{"I", "S", "Z", "i", "K", "ROWKEY", "a", "ROWTIME", "key", "value"}

// avroSchemas writes Avro schemas.
type avroSchemas struct {
	*choices
	names int
}

func (a *avroSchemas) name(kind string) string {
	a.names++
	return fmt.Sprintf("%s%d", kind, a.names)
}

func (a *avroSchemas) record(depth int) string {
	name := a.name("R")
	fields := []string{`{"name":"I","type":["null","int"],"default":null}`}
	for i := range 1 + a.n(5) {
		field := a.pick(fmt.Sprintf("F%d", i), fmt.Sprintf("F%d", i), fieldNames[a.n(len(fieldNames))])
		t := a.any(depth)
		if a.chance(15) {
			t = fmt.Sprintf(`["null",%q]`, name)
		}
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":%s%s}`, field, t, a.pick("", "", "", `,"default":null`, `,"default":0`, `,"default":""`)))
	}
	return fmt.Sprintf(`{"type":"record","name":%q%s,"fields":[%s]}`, name, a.pick("", `,"namespace":"n.s"`), strings.Join(fields, ","))
}

// any is a type, maybe one that is refused.
func (a *avroSchemas) any(depth int) string {
	if depth == 0 || a.n(3) == 0 {
		return a.pick(`"string"`, `"int"`, `"long"`, `"float"`, `"double"`, `"boolean"`, `"bytes"`, `["null","string"]`, `"null"`)
	}
	switch a.n(8) {
	case 0:
		return a.pick(`{"type":"int","logicalType":"date"}`, `{"type":"int","logicalType":"time-millis"}`, `{"type":"long","logicalType":"timestamp-millis"}`,
			`{"type":"long","logicalType":"timestamp-micros"}`, `{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`,
			`{"type":"string","logicalType":"uuid"}`, `{"type":"bytes","logicalType":"decimal","precision":80,"scale":2}`)
	case 1:
		return fmt.Sprintf(`{"type":"enum","name":%q,"symbols":["a","b","c"]%s}`, a.name("E"), a.pick("", `,"default":"a"`))
	case 2:
		return fmt.Sprintf(`{"type":"fixed","name":%q,"size":%s%s}`, a.name("X"), a.pick("3", "0", "16"),
			a.pick("", `,"logicalType":"decimal","precision":6,"scale":2`))
	case 3:
		return fmt.Sprintf(`{"type":"array","items":%s}`, a.any(depth-1))
	case 4:
		return fmt.Sprintf(`{"type":"map","values":%s}`, a.any(depth-1))
	case 5:
		return fmt.Sprintf(`["null",%s]`, a.any(depth-1))
	case 6:
		return fmt.Sprintf(`[%s,"null",%s]`, a.any(depth-1), a.any(depth-1))
	}
	return a.record(depth - 1)
}

// jsonSchemas writes JSON schemas.
type jsonSchemas struct{ *choices }

// document is an object with a definition.
func (j jsonSchemas) document() string {
	return strings.TrimSuffix(j.object(2), "}") + `,"definitions":{"D":` + j.any(1) + "}}"
}

func (j jsonSchemas) object(depth int) string {
	properties := []string{`"I":{"oneOf":[{"type":"null"},{"type":"integer","connect.type":"int32"}]}`}
	for i := range 1 + j.n(5) {
		name := j.pick(fmt.Sprintf("F%d", i), fieldNames[j.n(len(fieldNames))])
		properties = append(properties, fmt.Sprintf("%q:%s", name, j.any(depth)))
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s}%s%s}`, strings.Join(properties, ","),
		j.pick("", "", `,"required":["I"]`, `,"required":["F0"]`), j.pick("", "", `,"additionalProperties":false`))
}

func (j jsonSchemas) any(depth int) string {
	if depth == 0 || j.n(3) == 0 {
		return j.pick(`{"type":"string"}`, `{"type":"integer"}`, `{"type":"integer","connect.type":"int8"}`, `{"type":"number"}`, `{"type":"boolean"}`,
			`{"type":"string","connect.type":"bytes"}`, `{"type":"integer","title":"org.apache.kafka.connect.data.Timestamp","connect.type":"int64"}`,
			`{"type":"number","title":"org.apache.kafka.connect.data.Decimal","connect.parameters":{"scale":"2","connect.decimal.precision":"9"}}`,
			`{"enum":["a","b"]}`, `{"type":"string","default":"a"}`, `{}`, `true`, `{"type":"null"}`)
	}
	switch j.n(6) {
	case 0:
		return fmt.Sprintf(`{"type":"array","items":%s}`, j.any(depth-1))
	case 1:
		return fmt.Sprintf(`{"type":"object","connect.type":"map","additionalProperties":%s}`, j.any(depth-1))
	case 2:
		return fmt.Sprintf(`{%q:[{"type":"null"},%s]}`, j.pick("oneOf", "anyOf"), j.any(depth-1))
	case 3:
		return fmt.Sprintf(`{"allOf":[%s,%s]}`, j.object(depth-1), j.any(depth-1))
	case 4:
		return fmt.Sprintf(`{"$ref":%q}`, j.pick("#/definitions/D", "#/definitions/D", "#/definitions/D", "#", "other.json"))
	}
	return j.object(depth - 1)
}

// protobufSchemas writes files with one to three messages.
type protobufSchemas struct {
	*choices
	messages int
}

// file is a file; the first field of each message is called first.
func (p *protobufSchemas) file(first string) string {
	version := p.pick("proto3", "proto3", "proto2")
	var out strings.Builder
	fmt.Fprintf(&out, "syntax = %q;\n", version)
	out.WriteString("import \"google/protobuf/timestamp.proto\";\nimport \"google/protobuf/wrappers.proto\";\nimport \"google/type/date.proto\";\n")
	out.WriteString("import \"confluent/type/decimal.proto\";\n")
	for range 1 + p.n(2) {
		out.WriteString(p.message(first, 2, version == "proto2"))
	}
	return out.String()
}

func (p *protobufSchemas) message(first string, depth int, labelled bool) string {
	p.messages++
	var out strings.Builder
	fmt.Fprintf(&out, "message M%d {\n  %sint32 %s = 1;\n", p.messages, map[bool]string{true: "optional "}[labelled], first)
	inner := ""
	if depth > 0 && p.chance(2) {
		inner = fmt.Sprintf("M%d", p.messages+1)
		out.WriteString(p.message(first, depth-1, labelled))
	}
	for i := range 1 + p.n(5) {
		label := p.pick("", "", "repeated ", "optional ")
		t := p.pick("string", "int64", "double", "bytes", "bool", "sint32", "uint32", "fixed64", "float", "sfixed32", "uint64",
			"google.protobuf.Timestamp", "google.protobuf.Int64Value", "google.type.Date", "E", "confluent.type.Decimal")
		switch {
		case inner != "" && p.n(3) == 2:
			t = inner
		case p.chance(8):
			label, t = "", fmt.Sprintf("map<%s, %s>", p.pick("string", "int32"), p.pick("string", "sint64", "E"))
		}
		if labelled && label == "" && !strings.HasPrefix(t, "map") {
			label = p.pick("optional ", "required ")
		}
		fmt.Fprintf(&out, "  %s%s F%d = %d;\n", label, t, i, i+2)
	}
	if p.chance(3) {
		out.WriteString("  oneof choice { string O1 = 20; sint64 O2 = 21; }\n")
	}
	out.WriteString("  enum E { ZERO = 0; ONE = 1; }\n}\n")
	return out.String()
}
