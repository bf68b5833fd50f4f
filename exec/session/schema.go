package session

import (
	"context"
	"errors"
	"fmt"

	"millrace/kafkaio/format"
	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/planner/plan"
)

// RegistryProperty is the property with the schema registry's address.
const RegistryProperty = "ksql.schema.registry.url"

// registerSchemas gives the formats of a source the ids of the schemas that its records
// are written with. A schema that no statement named is the one that the columns
// give, which is registered; ifMissing: unless the topic has a schema, which counts
// then.
func (s *Session) registerSchemas(ctx context.Context, source *catalog.Source, ifMissing bool) error {
	key, err := s.schemaOf(ctx, source.KeyFormat, source.Topic, true, source.Key, ifMissing)
	if err != nil {
		return err
	}
	value, err := s.schemaOf(ctx, source.ValueFormat, source.Topic, false, source.Value, ifMissing)
	if err != nil {
		return err
	}
	source.KeyFormat, source.ValueFormat = key, value
	return nil
}

func (s *Session) schemaOf(
	ctx context.Context, f catalog.Format, topic string, key bool, columns []catalog.Column, ifMissing bool,
) (catalog.Format, error) {
	kind, ok := format.LookupSchema(f.Name)
	if !ok || !kind.Registered() || len(columns) == 0 || f.SchemaGiven && ifMissing {
		return f, nil
	}
	if _, err := s.formats(ctx).schemaFormat(f.Name); err != nil {
		return f, err
	}
	subject := registry.Subject(topic, key)
	if f.SchemaGiven {
		return f, s.registerGiven(ctx, subject, f.SchemaID)
	}
	if ifMissing {
		id, _, err := s.options.Registry.Latest(ctx, subject)
		if err == nil {
			f.SchemaID = id
			return f, nil
		}
		if !errors.Is(err, registry.ErrUnknown) {
			return f, err
		}
	}
	spec := SpecOf(f)
	if f.SchemaID != 0 {
		if err := s.formats(ctx).lookUp(&spec, key); err != nil {
			return f, err
		}
		if writable(kind, spec, key, FieldsOf(columns)) {
			return f, nil
		}
	}
	spec.SchemaID, spec.Schema = 0, nil
	schema, err := kind.Derive(spec, key, FieldsOf(columns))
	if err != nil {
		return f, err
	}
	if f.SchemaID, err = s.options.Registry.Register(ctx, subject, schema); err != nil {
		return f, fmt.Errorf("registering the schema of %s: %w", subject, err)
	}
	return f, nil
}

// registerGiven makes a schema that a statement named by its id one of a sink's
// subject, so that the topic can be declared by it.
func (s *Session) registerGiven(ctx context.Context, subject string, id int32) error {
	has, err := s.options.Registry.Has(ctx, subject, id)
	if has || err != nil {
		return err
	}
	schema, err := s.options.Registry.Schema(ctx, id)
	if err != nil {
		return err
	}
	if _, err := s.options.Registry.Register(ctx, subject, schema); err != nil {
		return fmt.Errorf("registering schema %d under %s: %w", id, subject, err)
	}
	return nil
}

// deleteSchemas deletes the subjects of a source's topic, for the formats that have
// their schemas in the registry.
func (s *Session) deleteSchemas(ctx context.Context, source *catalog.Source) error {
	for _, key := range []bool{false, true} {
		f := source.ValueFormat
		if key {
			f = source.KeyFormat
		}
		kind, ok := format.LookupSchema(f.Name)
		if !ok || !kind.Registered() || s.options.Registry == nil {
			continue
		}
		if err := s.options.Registry.Delete(ctx, registry.Subject(source.Topic, key)); err != nil {
			return fmt.Errorf("deleting the schemas of topic %s: %w", source.Topic, err)
		}
	}
	return nil
}

// written is a declared source with the schemas that records are written to it
// with. From then on they are part of its declaration.
func (s *Session) written(ctx context.Context, name string) (*catalog.Source, error) {
	declared, ok := s.catalog.Source(name)
	if !ok {
		return nil, fmt.Errorf("%s does not exist", name)
	}
	source := *declared
	if err := s.checkKeySchema(ctx, &source); err != nil {
		return nil, err
	}
	if err := s.registerSchemas(ctx, &source, false); err != nil {
		return nil, err
	}
	if source.KeyFormat == declared.KeyFormat && source.ValueFormat == declared.ValueFormat {
		return declared, nil
	}
	s.catalog.PutSource(&source)
	return &source, nil
}

// writeBySchemas lets a query write with the schemas of its sink.
func writeBySchemas(q *plan.Query, sink *catalog.Source) {
	for _, g := range q.Subgraphs {
		if root, ok := g.Root.(*plan.Sink); ok {
			root.KeyFormat.SchemaID, root.ValueFormat.SchemaID = sink.KeyFormat.SchemaID, sink.ValueFormat.SchemaID
		}
	}
}
