package format

import "millrace/sql/types"

// property is the name of the WITH property that chooses the format.
func property(key bool) string {
	if key {
		return "KEY_FORMAT"
	}
	return "VALUE_FORMAT"
}

// typeCode sorts a refusal of a column's type by the side it is on.
func typeCode(key bool) types.Code {
	if key {
		return types.CodeKey
	}
	return types.CodeType
}

// unsupportedType refuses a column of a type that the format cannot write.
func unsupportedType(spec Spec, key bool, field Field, t *types.Type) error {
	return types.Errorf(typeCode(key), "the %s format does not support type %s, column %s",
		spec.Name, t.Kind, types.QuoteName(field.Name)).
		WithHint("cast the column or choose another %s, such as JSON", property(key))
}

// checkKeyMaps refuses key columns whose type holds a MAP: two equal maps may
// differ in their bytes, so they would not meet in one partition.
func checkKeyMaps(key bool, fields []Field) error {
	if !key {
		return nil
	}
	for _, field := range fields {
		if field.Type.Contains(func(t *types.Type) bool { return t.Kind == types.KindMap }) {
			return types.Errorf(types.CodeKey, "a MAP cannot be part of a key, and key column %s is of type %s",
				types.QuoteName(field.Name), field.Type).
				WithHint("make the entries that identify a row key columns of their own")
		}
	}
	return nil
}

// checkNoDelimiter refuses a delimiter for a format that has none.
func checkNoDelimiter(spec Spec, key bool) error {
	if spec.Delimiter == "" {
		return nil
	}
	name := "VALUE_DELIMITER"
	if key {
		name = "KEY_DELIMITER"
	}
	return types.Errorf(types.CodeProperty, "%s applies to the DELIMITED format only, not to %s", name, spec.Name).
		WithHint("leave %s out", name)
}
