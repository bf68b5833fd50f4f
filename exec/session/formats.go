package session

import (
	"slices"

	"millrace/kafkaio/format"
	"millrace/planner/catalog"
)

// internalFormat is the form of repartition topics, which no statement names.
const internalFormat = "INTERNAL"

// formats answers the planner from the registry of formats.
type formats struct{}

// Known implements planner.Formats.
func (formats) Known(name string) bool {
	_, ok := format.Lookup(name)
	return ok && name != internalFormat
}

// Names implements planner.Formats.
func (formats) Names() []string {
	return slices.DeleteFunc(slices.Clone(format.Names()), func(name string) bool { return name == internalFormat })
}

// Check implements planner.Formats.
func (formats) Check(f catalog.Format, key bool, columns []catalog.Column) error {
	kind, ok := format.Lookup(f.Name)
	if !ok {
		return nil
	}
	return kind.Check(specOf(f), key, fieldsOf(columns))
}

// Wraps implements planner.Formats.
func (formats) Wraps(name string) bool {
	kind, ok := format.Lookup(name)
	return ok && kind.Wraps()
}

func specOf(f catalog.Format) format.Spec {
	return format.Spec{Name: f.Name, Delimiter: f.Delimiter, Unwrapped: f.Unwrapped}
}

func fieldsOf(columns []catalog.Column) []format.Field {
	fields := make([]format.Field, len(columns))
	for i, c := range columns {
		fields[i] = format.Field{Name: c.Name, Type: c.Type}
	}
	return fields
}
