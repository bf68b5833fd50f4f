package task

import (
	"millrace/kafkaio/format"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// formatOf finds the format that a plan names.
func formatOf(f catalog.Format) (format.Spec, format.Format, error) {
	kind, ok := format.Lookup(f.Name)
	if !ok {
		return format.Spec{}, nil, types.Errorf(types.CodeProperty, "the format %s is not known", f.Name)
	}
	return format.Spec{Name: f.Name, Delimiter: f.Delimiter, Unwrapped: f.Unwrapped}, kind, nil
}

func formatFields(fields []plan.Field) []format.Field {
	out := make([]format.Field, len(fields))
	for i, field := range fields {
		out[i] = format.Field{Name: field.Name, Type: field.Type}
	}
	return out
}
