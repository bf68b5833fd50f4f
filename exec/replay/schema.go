package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"millrace/kafkaio/registry"
)

// Reference is a schema that a topic's schema refers to by a name.
type Reference struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// schemas is the registry of a replay. The schemas that its case gives are there
// from the begin; those without an id get the next ones when they are first asked
// for, since statements count on it.
type schemas struct {
	*registry.Memory
	mutex   sync.Mutex
	waiting []waitingSchema
	ids     map[string]int32 // of the case's schemas, by subject
}

type waitingSchema struct {
	subject string
	schema  registry.Schema
}

func newSchemas() *schemas { return &schemas{Memory: registry.NewMemory(), ids: map[string]int32{}} }

// add takes the schemas that a case gives a topic.
func (s *schemas) add(t Topic) {
	s.addPart(t.Name, true, t.KeyFormat, t.KeySchema, t.KeySchemaReferences, t.KeySchemaID)
	s.addPart(t.Name, false, t.ValueFormat, t.ValueSchema, t.ValueSchemaReferences, t.ValueSchemaID)
}

func (s *schemas) addPart(topic string, key bool, format string, text json.RawMessage, references []Reference, id int32) {
	if null(text) {
		return
	}
	schema := registry.Schema{Kind: schemaKind(format, text), Text: schemaText(text)}
	for _, r := range references {
		schema.References = append(schema.References, registry.Reference{Name: r.Name, Text: schemaText(r.Schema)})
	}
	subject := registry.Subject(topic, key)
	if id == 0 {
		s.waiting = append(s.waiting, waitingSchema{subject, schema})
		return
	}
	s.Put(id, subject, schema)
	s.ids[subject] = id
}

// schemaText is the text of a schema: JSON as it stands, or what a JSON string
// holds.
func schemaText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && (schemaIsProtobuf(text) || json.Valid([]byte(text))) {
		return text
	}
	return string(bytes.TrimSpace(raw))
}

func schemaIsProtobuf(text string) bool {
	return strings.Contains(text, "message") || strings.Contains(text, "syntax")
}

func schemaKind(format string, raw json.RawMessage) registry.Kind {
	switch format {
	case "AVRO":
		return registry.Avro
	case "PROTOBUF":
		return registry.Protobuf
	case "JSON", "JSON_SR":
		return registry.JSON
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && schemaIsProtobuf(text) {
		return registry.Protobuf
	}
	return registry.Avro
}

func (s *schemas) waits(subject string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.ContainsFunc(s.waiting, func(w waitingSchema) bool { return w.subject == subject })
}

// settle registers the schemas that wait for an id.
func (s *schemas) settle(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, w := range s.waiting {
		id, err := s.Memory.Register(ctx, w.subject, w.schema)
		if err != nil {
			return err
		}
		s.ids[w.subject] = id
	}
	s.waiting = nil
	return nil
}

// Latest implements registry.Registry.
func (s *schemas) Latest(ctx context.Context, subject string) (int32, registry.Schema, error) {
	if s.waits(subject) {
		if err := s.settle(ctx); err != nil {
			return 0, registry.Schema{}, err
		}
	}
	return s.Memory.Latest(ctx, subject)
}

// Schema implements registry.Registry.
func (s *schemas) Schema(ctx context.Context, id int32) (registry.Schema, error) {
	if schema, err := s.Memory.Schema(ctx, id); err == nil {
		return schema, nil
	}
	if err := s.settle(ctx); err != nil {
		return registry.Schema{}, err
	}
	return s.Memory.Schema(ctx, id)
}

// Delete implements registry.Registry.
func (s *schemas) Delete(ctx context.Context, subject string) error {
	if s.waits(subject) {
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	return s.Memory.Delete(ctx, subject)
}

// Has implements registry.Registry.
func (s *schemas) Has(ctx context.Context, subject string, id int32) (bool, error) {
	if s.waits(subject) {
		if err := s.settle(ctx); err != nil {
			return false, err
		}
	}
	return s.Memory.Has(ctx, subject, id)
}
