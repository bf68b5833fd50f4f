package session

import (
	"encoding/json"

	"millrace/kafkaio/format"
	"millrace/planner/catalog"
)

// schemaReader shows payloads that name their schema, or whose declaration gives
// it, as JSON.
type schemaReader struct {
	schemas format.Schemas // nil without a registry
	byID    map[int32]format.Transcoder
	derived map[bool]format.Transcoder // by whether it is the key's, of formats without a registry
}

func newSchemaReader(schemas format.Schemas) *schemaReader {
	return &schemaReader{schemas: schemas, byID: map[int32]format.Transcoder{}, derived: map[bool]format.Transcoder{}}
}

// read gives the JSON text of a payload; ok is false where no schema is known or
// the payload does not follow it.
func (r *schemaReader) read(payload []byte, f catalog.Format, key bool, columns []catalog.Column) (text string, ok bool) {
	transcoder := r.transcoder(payload, f, key, columns)
	if transcoder == nil {
		return "", false
	}
	out, err := transcoder.ToJSON(nil, payload)
	if err != nil || !json.Valid(out) {
		return "", false
	}
	return string(out), true
}

// transcoder is nil where there is none for the payload.
func (r *schemaReader) transcoder(payload []byte, f catalog.Format, key bool, columns []catalog.Column) format.Transcoder {
	if kind, ok := format.LookupSchema(f.Name); ok && !kind.Registered() {
		made, known := r.derived[key]
		if !known {
			made, _ = kind.NewTranscoder(SpecOf(f), key, FieldsOf(columns))
			r.derived[key] = made
		}
		return made
	}
	id, ok := format.SchemaID(payload)
	if r.schemas == nil || !ok {
		return nil
	}
	made, known := r.byID[id]
	if !known {
		made = r.ofSchema(id, key)
		r.byID[id] = made
	}
	return made
}

func (r *schemaReader) ofSchema(id int32, key bool) format.Transcoder {
	schema, err := r.schemas.Schema(id)
	if err != nil {
		return nil
	}
	for _, name := range format.Names() {
		kind, ok := format.LookupSchema(name)
		if !ok || !kind.Registered() || kind.Kind() != schema.Kind {
			continue
		}
		made, err := kind.NewTranscoder(format.Spec{Name: name, Schema: &schema, SchemaID: id, Schemas: r.schemas}, key, nil)
		if err == nil {
			return made
		}
	}
	return nil
}
