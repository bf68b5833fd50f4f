package format

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/kafkaio/registry"
)

// ErrIncomplete says that rows cannot be written with a given schema, since it
// has a field that needs a value and that no column fills. An encoder's Append
// returns it wrapped; it ends the query.
var ErrIncomplete = errors.New("a field of the schema needs a value and no column fills it")

// schemaWait is how long a registry may take to answer. A worker stands still for
// so long, with all its queries, and asks again.
const schemaWait = 5 * time.Second

// NewSchemas finds schemas in a registry; nil without one. When ctx ends, nothing
// is waited for any more: what is not known then is a registry.ErrUnavailable,
// so that no record counts as undecodable for it.
func NewSchemas(ctx context.Context, r registry.Registry) Schemas {
	if r == nil {
		return nil
	}
	return schemas{ctx, r}
}

type schemas struct {
	ctx      context.Context
	registry registry.Registry
}

// Schema implements Schemas.
func (s schemas) Schema(id int32) (registry.Schema, error) {
	ctx, cancel := context.WithTimeout(s.ctx, schemaWait)
	defer cancel()
	schema, err := s.registry.Schema(ctx, id)
	if err != nil && s.ctx.Err() != nil {
		return schema, fmt.Errorf("schema id %d: %w: %w", id, registry.ErrUnavailable, s.ctx.Err())
	}
	return schema, err
}

// SchemaFormat is a format whose payloads follow a schema. With a registry a
// payload is a zero byte, the schema's id in 4 bytes, big endian, and the
// encoded row (of Protobuf the path of the message in the schema is between).
//
// Decoders take the columns from the schema that a payload names; a column that
// it lacks is null. Names are compared exactly first, then without case.
type SchemaFormat interface {
	Format
	// Kind is the language of the schemas.
	Kind() registry.Kind
	// Registered tells whether payloads carry the id of a schema in a registry.
	Registered() bool
	// Derive is the schema that declared columns give.
	Derive(spec Spec, key bool, fields []Field) (registry.Schema, error)
	// Infer gives the columns of spec.Schema. bare says that the only column is
	// the payload itself and not a member of a record. exact keeps the names'
	// case, as where a statement names the schema by its id; else they are
	// folded to upper case. The errors are *types.Error.
	Infer(spec Spec, key, exact bool) (fields []Field, bare bool, err error)
	// Fits tells whether rows of the fields can be written with spec.Schema: the
	// fields are its first ones, in order and of the same types. What follows is
	// filled with defaults or null; a further field that needs a value makes the
	// encoder fail, not Fits. The error is a *types.Error.
	Fits(spec Spec, key bool, fields []Field) error
	// NewTranscoder makes a transcoder between JSON texts and payloads of
	// spec.Schema, or where that is nil of the schema that the fields give.
	NewTranscoder(spec Spec, key bool, fields []Field) (Transcoder, error)
}

// Transcoder turns JSON texts into payloads and back, for recorded inputs and
// for showing a topic to people. BYTES are base64 text, DATE is days, TIME and
// TIMESTAMP milliseconds, DECIMAL a number. One goroutine uses it; it is not
// made for speed.
type Transcoder interface {
	// FromJSON appends the payload of a JSON text. Members match fields without
	// regard to case; unknown ones are dropped, missing ones are null or, where
	// the schema has no null, the default.
	FromJSON(dst, text []byte) ([]byte, error)
	// ToJSON appends the JSON text of a payload, with all fields of the schema
	// that the payload names.
	ToJSON(dst, payload []byte) ([]byte, error)
}

// LookupSchema is the format called name if it has schemas.
func LookupSchema(name string) (SchemaFormat, bool) {
	f, ok := formats[name].(SchemaFormat)
	return f, ok
}
