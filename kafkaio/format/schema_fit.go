package format

import "millrace/sql/types"

// fitsColumns is Fits of a format: it compares the fields with the first columns
// that the format infers from spec.Schema.
func fitsColumns(f SchemaFormat, spec Spec, key bool, fields []Field) error {
	spec.Unwrapped = spec.Unwrapped && len(fields) == 1
	has, _, err := f.Infer(spec, key && spec.Unwrapped, true)
	if err != nil {
		return err
	}
	for i, field := range fields {
		if i >= len(has) || has[i].Name != field.Name || !types.Equal(has[i].Type, field.Type) {
			return misfit(key, field, i, has)
		}
	}
	return nil
}

// misfit says why the column at a place does not fit the columns of a schema.
func misfit(key bool, field Field, place int, has []Field) error {
	side := "value"
	if key {
		side = "key"
	}
	code := typeCode(key)
	if place >= len(has) {
		return types.Errorf(code, "%s column %d, %s %s, is not in the schema, which has %d columns", side, place+1,
			types.QuoteName(field.Name), field.Type, len(has)).WithHint("leave it out, or name a schema that has it")
	}
	there := has[place]
	fault := types.Errorf(code, "%s column %d is %s %s, but the schema has %s %s there", side, place+1,
		types.QuoteName(field.Name), field.Type, types.QuoteName(there.Name), there.Type)
	if there.Name != field.Name {
		return fault.WithHint("select the columns in the schema's order and under its names, such as %s AS %s",
			types.QuoteName(field.Name), types.QuoteName(there.Name))
	}
	return fault.WithHint("cast the column to %s", there.Type)
}
