package format

import (
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// Infer implements SchemaFormat. The mapping is that of Kafka Connect; what is
// of several types, refers to itself or has no type is left out.
func (jsonSchemaFormat) Infer(spec Spec, key, exact bool) (fields []Field, bare bool, err error) {
	s, shape, err := jsonSpecShape(spec)
	if err != nil {
		return nil, false, err
	}
	t := s.sqlType(shape, exact)
	if s.err == nil && t == nil {
		s.fail("the JSON Schema has nothing of a type that a column can have")
	}
	switch {
	case s.err != nil:
		return nil, false, s.err
	case key:
		return []Field{{Name: bareKeyName, Type: t}}, true, nil
	case spec.Unwrapped || t.Kind != types.KindStruct:
		return []Field{{Name: bareValueName, Type: t}}, true, nil
	}
	for _, field := range t.Fields {
		fields = append(fields, Field(field))
	}
	return fields, false, nil
}

// jsonSpecShape is the shape of spec.Schema.
func jsonSpecShape(spec Spec) (*jsonShaper, *jsonShape, error) {
	if spec.Schema == nil {
		return nil, nil, types.Errorf(types.CodeStatement, "there is no JSON Schema to take the columns of")
	}
	return jsonShapeOf(*spec.Schema)
}

func jsonShapeOf(schema registry.Schema) (*jsonShaper, *jsonShape, error) {
	documents, err := parseJSONSchema(schema)
	if err != nil {
		return nil, nil, err
	}
	s := &jsonShaper{documents: documents, open: map[*jsonTree]bool{}}
	shape := s.shape(documents.root)
	if s.err != nil {
		return nil, nil, s.err
	}
	return s, shape, nil
}

// Fits implements SchemaFormat.
func (f jsonSchemaFormat) Fits(spec Spec, key bool, fields []Field) error {
	return fitsColumns(f, spec, key, fields)
}
