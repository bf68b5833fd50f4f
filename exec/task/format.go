package task

import (
	"context"
	"fmt"

	"millrace/exec/column"
	"millrace/kafkaio/format"
	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// codecs makes the decoders and encoders of the formats that a plan names.
type codecs struct {
	schemas format.Schemas // nil without a registry
}

// format finds a format. Its schema is looked up where records are written.
func (c codecs) format(f catalog.Format, written bool) (format.Spec, format.Format, error) {
	kind, ok := format.Lookup(f.Name)
	if !ok {
		return format.Spec{}, nil, types.Errorf(types.CodeProperty, "the format %s is not known", f.Name)
	}
	spec := format.Spec{
		Name: f.Name, Delimiter: f.Delimiter, Unwrapped: f.Unwrapped,
		SchemaID: f.SchemaID, SchemaName: f.SchemaName, Nullable: f.Nullable, Schemas: c.schemas,
	}
	if described, ok := kind.(format.SchemaFormat); ok && described.Registered() && c.schemas == nil {
		return spec, nil, fmt.Errorf("format %s has no schema registry", f.Name)
	}
	if written && f.SchemaID != 0 && c.schemas != nil {
		schema, err := c.schemas.Schema(f.SchemaID)
		if err != nil {
			return spec, nil, err
		}
		spec.Schema = &schema
	}
	return spec, kind, nil
}

// CheckSchemas finds the schemas that a query writes with, before anything is
// made for it: a registry that does not answer then leaves nothing behind.
func CheckSchemas(ctx context.Context, query *plan.Query, r registry.Registry) error {
	codecs := codecs{schemas: format.NewSchemas(ctx, r)}
	for _, g := range query.Subgraphs {
		sink, ok := g.Root.(*plan.Sink)
		if !ok {
			continue
		}
		for _, f := range []catalog.Format{sink.KeyFormat, sink.ValueFormat} {
			if f.SchemaID == 0 {
				continue
			}
			if _, _, err := codecs.format(f, true); err != nil {
				return fmt.Errorf("query %s: schema of %s: %w", query.ID, sink.Name, err)
			}
		}
	}
	return nil
}

// encoder is nil without fields.
func (c codecs) encoder(f catalog.Format, fields []plan.Field) (format.Encoder, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	spec, kind, err := c.format(f, true)
	if err != nil {
		return nil, err
	}
	return kind.NewEncoder(spec, formatFields(fields)), nil
}

// part makes the decoder of a key or value whose fields are read into the columns.
func (c codecs) part(f catalog.Format, fields []plan.Field, columns []*column.Vector) (part, error) {
	if len(fields) == 0 {
		return part{}, nil
	}
	spec, kind, err := c.format(f, false)
	if err != nil {
		return part{}, err
	}
	p := part{out: make([]*column.Vector, len(fields))}
	wanted := make([]bool, len(fields))
	for i, field := range fields {
		if field.Column >= 0 {
			wanted[i], p.out[i] = true, columns[field.Column]
		}
	}
	p.decoder = kind.NewDecoder(spec, formatFields(fields), wanted)
	return p, nil
}

func formatFields(fields []plan.Field) []format.Field {
	out := make([]format.Field, len(fields))
	for i, field := range fields {
		out[i] = format.Field{Name: field.Name, Type: field.Type}
	}
	return out
}
