// Package catalog holds what statements have declared: streams, tables, types
// and queries, by name.
package catalog

import (
	"strings"

	"millrace/sql/types"
)

// Kind tells streams from tables.
type Kind string

// The kinds of sources.
const (
	Stream Kind = "STREAM"
	Table  Kind = "TABLE"
)

// Column is a column of a key or value.
type Column struct {
	Name string
	Type *types.Type
}

// HeaderColumn is a read-only column over a record's headers: all of them, or
// with Key the last one of that key.
type HeaderColumn struct {
	Name string
	Type *types.Type
	Key  string // HEADER('key'); empty: HEADERS
}

// Format is a format with its properties.
type Format struct {
	Name      string // JSON, DELIMITED, KAFKA, NONE, ..
	Delimiter string
	// Unwrapped says that a single field stands bare. Wrapping is what the
	// statement asked for: "", "WRAP_SINGLES" or "UNWRAP_SINGLES".
	Unwrapped bool
	Wrapping  string

	// SchemaID is the id in the registry of the schema that records are written
	// with; 0: none yet. SchemaGiven says that a statement named it.
	SchemaID    int32
	SchemaGiven bool
	SchemaName  string // full name of its record or message; empty: as the format has it
	Nullable    string // PROTOBUF: OPTIONAL, WRAPPER or empty
}

// WindowKind is the kind of window that a windowed key holds.
type WindowKind string

// The kinds of windows.
const (
	Tumbling WindowKind = "TUMBLING"
	Hopping  WindowKind = "HOPPING"
	Session  WindowKind = "SESSION"
	Sliding  WindowKind = "SLIDING"
)

// KeyWindow says that a key carries a window. Size is in milliseconds, 0 for
// sessions.
type KeyWindow struct {
	Kind WindowKind
	Size int64
}

// TimestampColumn says which column, and in which text format, holds a
// record's time.
type TimestampColumn struct {
	Column string
	Format string // of a STRING column
}

// Source is a stream or table over a topic. A Source does not change once it
// is in a catalog; a statement that alters it puts a new one there.
type Source struct {
	Name        string
	Kind        Kind
	Key         []Column
	Value       []Column
	Headers     []HeaderColumn
	Topic       string
	Partitions  int // of the topic; 0 when it has not been looked up
	KeyFormat   Format
	ValueFormat Format
	Window      *KeyWindow
	Timestamp   *TimestampColumn
	ReadOnly    bool   // declared with SOURCE
	Statement   string // the text that declared it
	CreatedBy   string // id of the query that made it, empty for a declared source
	KeptBy      string // id of the query that keeps the rows of a SOURCE TABLE, else empty
}

// Schema is the source's columns as SQL text: key columns first.
func (s *Source) Schema() string {
	var parts []string
	key := " KEY"
	if s.Kind == Table {
		key = " PRIMARY KEY"
	}
	for _, c := range s.Key {
		parts = append(parts, types.QuoteName(c.Name)+" "+c.Type.String()+key)
	}
	for _, c := range s.Value {
		parts = append(parts, types.QuoteName(c.Name)+" "+c.Type.String())
	}
	for _, c := range s.Headers {
		parts = append(parts, types.QuoteName(c.Name)+" "+c.Type.String()+headerText(c))
	}
	return strings.Join(parts, ", ")
}

func headerText(c HeaderColumn) string {
	if c.Key == "" {
		return " HEADERS"
	}
	return " HEADER('" + strings.ReplaceAll(c.Key, "'", "''") + "')"
}

// Column finds a key, value or header column by name.
func (s *Source) Column(name string) (t *types.Type, isKey, ok bool) {
	for _, c := range s.Key {
		if c.Name == name {
			return c.Type, true, true
		}
	}
	for _, c := range s.Value {
		if c.Name == name {
			return c.Type, false, true
		}
	}
	for _, c := range s.Headers {
		if c.Name == name {
			return c.Type, false, true
		}
	}
	return nil, false, false
}
