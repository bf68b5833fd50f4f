package fuzz

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"millrace/kafkaio/format"
	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// payloads makes keys and values for sources: valid ones, damaged ones, and any
// bytes.
type payloads struct {
	*choices
	registry *registry.Memory
}

// describe registers the schemas that the columns of a source give where its
// topic has none, so that its records can be written. It gives these.
func (p payloads) describe(source *catalog.Source) []schema {
	var added []schema
	for _, key := range []bool{true, false} {
		of, columns := sideOf(source, key)
		kind, ok := format.LookupSchema(of.Name)
		if _, there := latestOf(p.registry, source.Topic, key); there || !ok || !kind.Registered() || len(columns) == 0 {
			continue
		}
		derived, err := kind.Derive(specOf(of), key, fieldsOf(columns))
		if err != nil {
			continue
		}
		id := int32(1000 + p.n(1000))
		p.registry.Put(id, registry.Subject(source.Topic, key), derived)
		added = append(added, schema{id, source.Topic, key, of.Name, derived.Text})
	}
	return added
}

func sideOf(source *catalog.Source, key bool) (catalog.Format, []catalog.Column) {
	if key {
		return source.KeyFormat, source.Key
	}
	return source.ValueFormat, source.Value
}

func specOf(of catalog.Format) format.Spec {
	return format.Spec{
		Name: of.Name, Delimiter: of.Delimiter, Unwrapped: of.Unwrapped, SchemaID: of.SchemaID, SchemaName: of.SchemaName, Nullable: of.Nullable,
	}
}

func fieldsOf(columns []catalog.Column) []format.Field {
	fields := make([]format.Field, len(columns))
	for i, c := range columns {
		fields[i] = format.Field{Name: c.Name, Type: c.Type}
	}
	return fields
}

// record is a record of a source's topic.
func (p payloads) record(source *catalog.Source, now int64) rawRecord {
	r := rawRecord{topic: source.Topic, time: now, key: p.payload(source, true), value: p.payload(source, false)}
	if source.Window == nil || r.key == nil || p.chance(10) {
		return r
	}
	if source.Window.Kind == catalog.Session {
		r.key = binary.BigEndian.AppendUint64(r.key, uint64(now))
		now -= 5
	}
	r.key = binary.BigEndian.AppendUint64(r.key, uint64(now))
	return r
}

func (p payloads) payload(source *catalog.Source, key bool) []byte {
	switch p.n(14) {
	case 12:
		return nil
	case 13:
		return p.bytes()
	}
	payload := p.valid(source, key)
	if p.n(4) == 3 {
		payload = p.damage(payload)
	}
	return payload
}

func (p payloads) bytes() []byte {
	out := make([]byte, p.n(24))
	for i := range out {
		out[i] = byte(p.n(256))
	}
	return out
}

// damage changes bytes anywhere, also those of a schema's id.
func (p payloads) damage(payload []byte) []byte {
	payload = slices.Clone(payload)
	if len(payload) == 0 {
		return p.bytes()
	}
	at := p.n(len(payload))
	switch p.n(5) {
	case 0:
		payload[at] ^= 1 << p.n(8)
	case 1:
		payload = payload[:at]
	case 2:
		payload = append(payload, p.bytes()...)
	case 3:
		payload = slices.Insert(payload, at, p.bytes()...)
	case 4:
		if len(payload) > 4 && payload[0] == 0 {
			binary.BigEndian.PutUint32(payload[1:], uint32(p.n(9)))
		}
	}
	return payload
}

// valid is a payload that the source's format mostly accepts.
func (p payloads) valid(source *catalog.Source, key bool) []byte {
	of, columns := sideOf(source, key)
	if len(columns) == 0 {
		return p.bytes()
	}
	text := object(p.choices, columns, of)
	kind, ok := format.LookupSchema(of.Name)
	if !ok {
		return plainPayload(text, of, columns)
	}
	spec := specOf(of)
	if kind.Registered() {
		id, latest, err := p.registry.Latest(context.Background(), registry.Subject(source.Topic, key))
		if of.SchemaID != 0 {
			id = of.SchemaID
			latest, err = p.registry.Schema(context.Background(), id)
		}
		if err != nil {
			return text
		}
		spec.SchemaID, spec.Schema = id, &latest
	}
	transcoder, err := kind.NewTranscoder(spec, key, fieldsOf(columns))
	if err != nil {
		return text
	}
	payload, err := transcoder.FromJSON([]byte{}, text)
	if err != nil {
		return text
	}
	return payload
}

// plainPayload is the payload of a format without schemas.
func plainPayload(text json.RawMessage, of catalog.Format, columns []catalog.Column) []byte {
	if of.Name != "DELIMITED" && of.Name != "KAFKA" {
		return text
	}
	bare := string(text)
	var unquoted string
	if json.Unmarshal(text, &unquoted) == nil {
		bare = unquoted
	}
	if of.Name == "KAFKA" && len(columns) == 1 {
		number, _ := strconv.ParseFloat(bare, 64) // 0 will do for what is no number
		switch columns[0].Type.Kind {
		case types.KindInteger:
			return binary.BigEndian.AppendUint32(nil, uint32(int64(number)))
		case types.KindBigint:
			return binary.BigEndian.AppendUint64(nil, uint64(int64(number)))
		case types.KindDouble:
			return binary.BigEndian.AppendUint64(nil, math.Float64bits(number))
		}
	}
	return []byte(bare)
}
