package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"millrace/exec/session"
	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
)

// Recorder turns records of topics into their recorded form and back. One
// goroutine uses it.
type Recorder struct {
	schemas     format.Schemas
	transcoders map[part]format.Transcoder
}

// part is a topic's key or value, written with a schema.
type part struct {
	topic string
	key   bool
	id    int32
}

// NewRecorder makes one that finds schemas in a registry, which may be nil.
func NewRecorder(r registry.Registry) *Recorder {
	return &Recorder{schemas: format.NewSchemas(context.Background(), r), transcoders: map[part]format.Transcoder{}}
}

// Record is record i of a run of a source's topic in its recorded form. The
// result shares no memory with the run.
func (r *Recorder) Record(source *catalog.Source, run *kafkaio.Records, i int) (Output, error) {
	bare, window := splitWindowKey(run.Keys[i], source.Window)
	fault := func(what string, err error) error {
		return fmt.Errorf("topic %s, partition %d, offset %d: %s: %w", run.Topic, run.Partition, run.Offsets[i], what, err)
	}
	headers, err := recordedHeaders(run.Headers[i])
	if err != nil {
		return Output{}, fault("headers", err)
	}
	key, err := r.decode(bare, source, true)
	if err != nil {
		return Output{}, fault("key", err)
	}
	value, err := r.decode(run.Values[i], source, false)
	if err != nil {
		return Output{}, fault("value", err)
	}
	return Output{Topic: source.Topic, Key: key, Timestamp: run.Timestamps[i], Value: value, Window: window, Headers: headers}, nil
}

func (r *Recorder) decode(payload []byte, source *catalog.Source, key bool) (json.RawMessage, error) {
	f, columns := sidesOf(source, key)
	if _, ok := format.LookupSchema(f.Name); !ok || payload == nil {
		return recorded(payload, f, columns), nil
	}
	transcoder, err := r.transcoder(source, key)
	if err != nil {
		return nil, err
	}
	text, err := transcoder.ToJSON(nil, payload)
	if err != nil && !errors.Is(err, registry.ErrUnavailable) {
		// Others may have written to the topic what does not follow a schema.
		return recorded(payload, catalog.Format{}, nil), nil
	}
	return text, err
}

// encode is what a recorded key or value is on the topic.
func (r *Recorder) encode(raw json.RawMessage, source *catalog.Source, key bool) ([]byte, error) {
	f, columns := sidesOf(source, key)
	if _, ok := format.LookupSchema(f.Name); !ok || null(raw) || len(columns) == 0 {
		return payload(raw, f, columns)
	}
	transcoder, err := r.transcoder(source, key)
	if err != nil {
		return nil, err
	}
	return transcoder.FromJSON([]byte{}, raw)
}

func sidesOf(source *catalog.Source, key bool) (catalog.Format, []catalog.Column) {
	if key {
		return source.KeyFormat, source.Key
	}
	return source.ValueFormat, source.Value
}

// transcoder is that of a source's key or value, by the schema that its records
// are written with.
func (r *Recorder) transcoder(source *catalog.Source, key bool) (format.Transcoder, error) {
	f, columns := sidesOf(source, key)
	of := part{source.Topic, key, f.SchemaID}
	if made, ok := r.transcoders[of]; ok {
		return made, nil
	}
	spec := session.SpecOf(f)
	spec.Schemas = r.schemas
	if f.SchemaID != 0 && r.schemas != nil {
		schema, err := r.schemas.Schema(f.SchemaID)
		if err != nil {
			return nil, err
		}
		spec.Schema = &schema
	}
	kind, _ := format.LookupSchema(f.Name)
	made, err := kind.NewTranscoder(spec, key, session.FieldsOf(columns))
	if err != nil {
		return nil, err
	}
	r.transcoders[of] = made
	return made, nil
}
