package session

import (
	"context"
	"errors"
	"slices"

	"millrace/kafkaio/format"
	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// formats answers the planner from the registry of formats and from that of
// schemas.
type formats struct {
	ctx      context.Context // of the statement
	registry registry.Registry
}

// Known implements planner.Formats.
func (f formats) Known(name string) (bool, error) {
	if !slices.Contains(format.Names(), name) {
		return false, nil
	}
	if has, _ := f.Schemas(name); !has {
		return true, nil
	}
	_, err := f.schemaFormat(name)
	return true, err
}

// Names implements planner.Formats.
func (formats) Names() []string { return format.Names() }

// Check implements planner.Formats. Of a format whose schema a statement names,
// the columns must be that schema's.
func (f formats) Check(of catalog.Format, key bool, columns []catalog.Column) error {
	kind, ok := format.Lookup(of.Name)
	if !ok {
		return nil
	}
	spec := SpecOf(of)
	if err := kind.Check(spec, key, FieldsOf(columns)); err != nil || !of.SchemaGiven {
		return err
	}
	described, err := f.schemaFormat(of.Name)
	if err != nil {
		return err
	}
	if err := f.lookUp(&spec, key); err != nil {
		return err
	}
	return described.Fits(spec, key, FieldsOf(columns))
}

// Wraps implements planner.Formats.
func (formats) Wraps(name string) bool {
	kind, ok := format.Lookup(name)
	return ok && kind.Wraps()
}

// Schemas implements planner.Formats.
func (formats) Schemas(name string) (has, registered bool) {
	kind, ok := format.LookupSchema(name)
	return ok, ok && kind.Registered()
}

// Infer implements planner.Formats.
func (f formats) Infer(of catalog.Format, key bool, topic string) ([]catalog.Column, catalog.Format, error) {
	described, err := f.schemaFormat(of.Name)
	if err != nil {
		return nil, of, err
	}
	spec := SpecOf(of)
	if of.SchemaGiven {
		err = f.lookUp(&spec, key)
	} else {
		spec.SchemaID, err = f.latest(&spec, topic, key)
	}
	if err != nil {
		return nil, of, err
	}
	fields, bare, err := described.Infer(spec, key, of.SchemaGiven)
	if err != nil {
		return nil, of, err
	}
	columns := make([]catalog.Column, len(fields))
	for i, field := range fields {
		columns[i] = catalog.Column{Name: field.Name, Type: field.Type}
	}
	of.SchemaID, of.Unwrapped = spec.SchemaID, bare
	return columns, of, nil
}

// schemaFormat is a format with schemas. It is refused where its registry is
// not known.
func (f formats) schemaFormat(name string) (format.SchemaFormat, error) {
	kind, ok := format.LookupSchema(name)
	if !ok {
		return nil, types.Errorf(types.CodeProperty, "the format %s has no schemas", name)
	}
	if kind.Registered() && f.registry == nil {
		return nil, types.Errorf(types.CodeProperty, "the format %s needs a schema registry", name).
			WithHint("start with --set '%s=http://HOST:8081'", RegistryProperty)
	}
	return kind, nil
}

func side(key bool) string {
	if key {
		return "keys"
	}
	return "values"
}

// latest puts the newest schema of a topic into the spec.
func (f formats) latest(spec *format.Spec, topic string, key bool) (id int32, err error) {
	id, schema, err := f.registry.Latest(f.ctx, registry.Subject(topic, key))
	if errors.Is(err, registry.ErrUnknown) {
		return 0, types.Errorf(types.CodeStatement, "the schema registry has no schema for the %s of topic %s", side(key), topic).
			WithHint("list the columns with their types, or register a schema under %s", registry.Subject(topic, key))
	}
	if err != nil {
		return 0, err
	}
	spec.Schema = &schema
	return id, checkKind(spec, id, key)
}

// lookUp puts the schema that the spec's id names into it.
func (f formats) lookUp(spec *format.Spec, key bool) error {
	schema, err := f.registry.Schema(f.ctx, spec.SchemaID)
	if errors.Is(err, registry.ErrUnknown) {
		return types.Errorf(types.CodeStatement, "the schema registry has no schema %d for the %s", spec.SchemaID, side(key)).
			WithHint("ids are the registry's own; leave it out to take the topic's newest schema")
	}
	if err != nil {
		return err
	}
	spec.Schema = &schema
	return checkKind(spec, spec.SchemaID, key)
}

func checkKind(spec *format.Spec, id int32, key bool) error {
	kind, _ := format.LookupSchema(spec.Name)
	if spec.Schema.Kind == kind.Kind() {
		return nil
	}
	return types.Errorf(types.CodeStatement, "schema %d, of the %s, is of the kind %s, which the format %s cannot read",
		id, side(key), spec.Schema.Kind, spec.Name).
		WithHint("name the format that belongs to the schema")
}

// SpecOf is a declared format as the formats take it, without its schema.
func SpecOf(f catalog.Format) format.Spec {
	return format.Spec{
		Name: f.Name, Delimiter: f.Delimiter, Unwrapped: f.Unwrapped,
		SchemaID: f.SchemaID, SchemaName: f.SchemaName, Nullable: f.Nullable,
	}
}

// FieldsOf are the columns of a key or value as fields.
func FieldsOf(columns []catalog.Column) []format.Field {
	fields := make([]format.Field, len(columns))
	for i, c := range columns {
		fields[i] = format.Field{Name: c.Name, Type: c.Type}
	}
	return fields
}
