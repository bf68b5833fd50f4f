// Package registry is the port to the schemas of topics: the subject TOPIC-key
// or TOPIC-value names the versions of a schema, and each schema has an id that
// stands in the payloads written with it.
package registry

import (
	"context"
	"errors"
	"fmt"
)

// Kind is the language of a schema, by the registry's name for it.
type Kind string

// The kinds of schemas.
const (
	Avro     Kind = "AVRO"
	Protobuf Kind = "PROTOBUF"
	JSON     Kind = "JSON"
)

// Schema is the text of a schema with the texts that it refers to. Nobody changes
// one that was given to a registry or by it.
type Schema struct {
	Kind Kind
	Text string
	// References are all schemas that Text needs, those that another one needs
	// before it.
	References []Reference
}

// Reference is a schema that another one refers to by a name: the import path
// in Protobuf, the full name in Avro, the URI in JSON Schema.
type Reference struct {
	Name    string
	Text    string
	Subject string // with Version, where the registry keeps it; may be empty
	Version int
}

// Registry keeps schemas. Implementations are safe for concurrent use.
type Registry interface {
	// Latest is the newest schema of a subject; ErrUnknown if there is none.
	Latest(ctx context.Context, subject string) (id int32, schema Schema, err error)
	// Schema is the schema of an id; ErrUnknown if there is none.
	Schema(ctx context.Context, id int32) (Schema, error)
	// Register adds a schema to a subject as its newest one and gives its id. One
	// that the subject has already keeps its id and its place; one that another
	// subject has gets the same id. ErrRefused: the registry does not take it.
	Register(ctx context.Context, subject string, schema Schema) (id int32, err error)
	// Delete takes all schemas from a subject; there may be none. They are still
	// found by their ids, since records have these. ErrRefused: others refer to one.
	Delete(ctx context.Context, subject string) error
	// Has tells whether a subject has the schema of an id; id 0: whether it has any.
	Has(ctx context.Context, subject string, id int32) (bool, error)
}

var (
	// ErrUnknown says that the registry has no such subject or id.
	ErrUnknown = errors.New("unknown schema")
	// ErrUnavailable says that the registry could not be asked; trying again may help.
	ErrUnavailable = errors.New("the schema registry is not available")
	// ErrDenied is an ErrUnavailable: the registry does not accept the login, or
	// allows the user less than was asked for.
	ErrDenied = fmt.Errorf("%w: access is denied", ErrUnavailable)
	// ErrRefused says that the registry does not take a schema, such as one that
	// is not compatible with those before it.
	ErrRefused = errors.New("the schema registry refused the schema")
)

// Subject is the name under which a topic's key or value schema is registered.
func Subject(topic string, key bool) string {
	if key {
		return topic + "-key"
	}
	return topic + "-value"
}
