// Package format turns the keys and values of records into columns and back.
// A format is one file, and those of JSON; registry.go names them all.
package format

import (
	"fmt"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// Field is one column of a record's key or value, in declared order.
type Field struct {
	Name string
	Type *types.Type
}

// structFields are the fields as those of a STRUCT.
func structFields(fields []Field) []types.Field {
	members := make([]types.Field, len(fields))
	for i, field := range fields {
		members[i] = types.Field(field)
	}
	return members
}

// rowStruct is the STRUCT of the fields of a row.
func rowStruct(fields []Field) *types.Type { return types.StructOf(structFields(fields)...) }

// Spec is a format as a source or sink uses it.
type Spec struct {
	Name      string // upper case: JSON, DELIMITED, KAFKA, NONE, ..
	Delimiter string // DELIMITED: one character; empty is a comma
	// Unwrapped says that the only field stands bare, not as a member of an
	// object. A key of one column always does.
	Unwrapped bool

	// What follows is for formats with a schema.

	// Schema is what payloads are written with; nil: the one that the fields give.
	Schema *registry.Schema
	// SchemaID stands before each payload that is written.
	SchemaID int32
	// SchemaName is the full name of the record or message: the one to take of
	// Schema, or the one to give where the fields make the schema. Empty: the
	// first, or the format's default name.
	SchemaName string
	// Nullable is how PROTOBUF writes fields that may be null: "", "OPTIONAL" or "WRAPPER".
	Nullable string
	// Schemas finds the schemas of payloads that are read.
	Schemas Schemas
}

// Schemas finds schemas by the id that stands in a payload.
type Schemas interface {
	// Schema fails with an error that wraps registry.ErrUnknown where there is no
	// such id, and registry.ErrUnavailable where it could not be asked for.
	Schema(id int32) (registry.Schema, error)
}

// Format is one way to write rows as bytes. Its values are immutable.
type Format interface {
	// Check tells whether the format can hold the fields as a key or value.
	// The error is a *types.Error that names the field.
	Check(spec Spec, key bool, fields []Field) error
	// Wraps tells whether a single value field may stand both wrapped and
	// bare, so that WRAP_SINGLE_VALUE means something.
	Wraps() bool
	// NewDecoder makes a decoder for one task. wanted[i] is false for a field
	// that no one reads; it is then neither converted nor checked beyond syntax.
	// A nil wanted wants all.
	NewDecoder(spec Spec, fields []Field, wanted []bool) Decoder
	// NewEncoder makes an encoder for one task.
	NewEncoder(spec Spec, fields []Field) Encoder
}

// Decoder reads payloads into columns. One goroutine uses it.
type Decoder interface {
	// Decode sets row i of each vector from payloads[i], for every i of rows
	// (ascending; their payloads are not nil). out has one vector a field, nil
	// for a field that is not wanted; the vectors are reset and long enough.
	// Texts are views into the payload or the arena. A payload that is not
	// acceptable is given to bad with a *RecordError; its row is then undefined.
	// An error that wraps registry.ErrUnavailable says instead that the batch has
	// to be decoded again later.
	Decode(payloads [][]byte, rows []int32, out []*column.Vector, arena *column.Arena, bad func(row int32, err error))
}

// Encoder writes rows as payloads. One goroutine uses it.
type Encoder interface {
	// Append appends the payload of row i. null says that the row is a null
	// payload, such as a bare null value; nothing is appended then.
	Append(dst []byte, columns []*column.Vector, i int) (out []byte, null bool, err error)
}

// RecordError says why a payload is not acceptable.
type RecordError struct {
	Path   string // the field, such as ADDRESS->ZIP or LINES[3]; empty: the whole payload
	Reason string
}

func (e *RecordError) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Reason)
}
