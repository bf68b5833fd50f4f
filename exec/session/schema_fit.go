package session

import (
	"context"
	"strings"

	"millrace/kafkaio/format"
	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// writable tells whether rows of the fields can be written with the schema that a
// topic has. Keys have to be: another schema gives equal keys other bytes, which
// are in other partitions and delete nothing. So a key's columns need not have the
// names of the schema where payloads do not hold names, as long as readers find them.
func writable(kind format.SchemaFormat, spec format.Spec, key bool, fields []format.Field) bool {
	if key {
		fields = underNamesOf(kind, spec, fields)
	}
	return kind.Fits(spec, key, fields) == nil
}

// underNamesOf gives the fields of a key the names that they have in the schema.
func underNamesOf(kind format.SchemaFormat, spec format.Spec, fields []format.Field) []format.Field {
	alone := spec.Unwrapped && len(fields) == 1
	if !alone && kind.Kind() != registry.Avro {
		return fields
	}
	spec.Unwrapped = alone
	has, bare, err := kind.Infer(spec, alone, true)
	if err != nil {
		return fields
	}
	renamed := make([]format.Field, len(fields))
	for i, field := range fields {
		if i < len(has) && (alone && bare || strings.EqualFold(field.Name, has[i].Name)) {
			field.Name = has[i].Name
		}
		renamed[i] = field
	}
	return renamed
}

// checkKeySchema refuses to write rows of a table whose topic has keys of a schema
// that its key columns cannot be written with. ksqlDB refuses it too.
func (s *Session) checkKeySchema(ctx context.Context, source *catalog.Source) error {
	f, fields := source.KeyFormat, FieldsOf(source.Key)
	kind, ok := format.LookupSchema(f.Name)
	if source.Kind != catalog.Table || !ok || !kind.Registered() || f.SchemaGiven || f.SchemaID == 0 {
		return nil
	}
	spec := SpecOf(f)
	if err := s.formats(ctx).lookUp(&spec, true); err != nil {
		return err
	}
	own := spec
	own.SchemaID, own.Schema = 0, nil
	derived, err := kind.Derive(own, true, fields)
	if err != nil || derived.Text == spec.Schema.Text || writable(kind, spec, true, fields) {
		return err
	}
	return types.Errorf(types.CodeStatement,
		"rows of %s cannot be written: the keys of topic %s have a schema that the key columns do not fit, and a key of another schema is another key",
		source.Name, source.Topic).WithHint("declare the key columns with the names and types that schema %d gives", f.SchemaID)
}
