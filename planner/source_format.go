package planner

import (
	"slices"
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// declareFormats settles the formats of a declared source, and takes the columns
// that the statement leaves out from the schemas of the topic.
func (p *Planner) declareFormats(source *catalog.Source, s *ast.CreateSource, ps properties) error {
	key, value, err := p.formatNames(ps)
	if err != nil {
		return err
	}
	if value == "" {
		name, ok := p.Catalog.Property(propertyValueFormat)
		if !ok {
			return types.Errorf(types.CodeProperty, "%s has no value format", s.Name).At(s.Position).
				WithHint("add VALUE_FORMAT='JSON' or another format to WITH, or set '%s'", propertyValueFormat)
		}
		value = strings.ToUpper(name)
	}
	if key == "" {
		key = p.defaultKeyFormat()
	}
	// A default key format is only for keys that there are.
	if len(source.Key) == 0 && !explicitKeyFormat(ps) && !p.hasSchemas(key) {
		key = "NONE"
	}
	if source.KeyFormat, err = p.infer(source, s, ps, key, true); err != nil {
		return err
	}
	if source.ValueFormat, err = p.infer(source, s, ps, value, false); err != nil {
		return err
	}
	if len(source.Key)+len(source.Value)+len(source.Headers) == 0 {
		return types.Errorf(types.CodeStatement, "%s has no columns and its format has no schema to infer them from", s.Name).
			At(s.Position).WithHint("list the columns with their types")
	}
	if _, given := ps[withKeyFormat]; !given && len(source.Key) == 0 && p.hasSchemas(key) {
		key = "NONE"
	}
	return p.setFormats(source, source, ps, key, value, s.Position)
}

func (p *Planner) hasSchemas(format string) bool {
	has, _ := p.Formats.Schemas(format)
	return has
}

// infer takes the columns of a source's key or value from its schema, where the
// statement declares none or names a schema by its id. It gives what is known of
// the format then.
func (p *Planner) infer(source *catalog.Source, s *ast.CreateSource, ps properties, name string, key bool) (catalog.Format, error) {
	columns := &source.Value
	if key {
		columns = &source.Key
	}
	format, err := p.schemaProperties(ps, name, key)
	if err != nil {
		return format, err
	}
	_, registered := p.Formats.Schemas(name)
	switch {
	case format.SchemaGiven && len(*columns) > 0:
		property := ps[schemaIDProperty(key)]
		return format, types.Errorf(types.CodeProperty, "%s gives the %s columns, so none can be listed", property.Name, sideName(key)).
			At(property.Position).WithHint("leave either the columns or %s out", property.Name)
	case len(*columns) > 0 || !registered:
		return format, nil
	case !format.SchemaGiven && key && len(source.Value) > 0 && !explicitKeyFormat(ps):
		return format, nil // only the default format of keys: there need not be one
	}
	if wrap, given, err := ps.flag(withWrap); err == nil && given && !key {
		format.Unwrapped = !wrap
	}
	inferred, resolved, err := p.Formats.Infer(format, key, source.Topic)
	if err != nil {
		return format, types.At(err, s.Position)
	}
	for _, c := range inferred {
		if slices.Contains(reservedColumns, c.Name) {
			return format, types.Errorf(types.CodeName, "the schema of topic %s has a field %s, which is the name of a pseudo column", source.Topic, c.Name).
				At(s.Position).WithHint("declare the columns that are wanted")
		}
		if _, _, taken := source.Column(c.Name); taken {
			return format, types.Errorf(types.CodeName, "column %s is in the key and in the value of topic %s", c.Name, source.Topic).
				At(s.Position).WithHint("declare the columns of one of them under other names")
		}
		*columns = append(*columns, c)
	}
	return resolved, nil
}

func explicitKeyFormat(ps properties) bool {
	_, key := ps[withKeyFormat]
	_, both := ps[withFormat]
	return key || both
}

func sideName(key bool) string {
	if key {
		return "key"
	}
	return "value"
}

func schemaIDProperty(key bool) string {
	if key {
		return withKeySchemaID
	}
	return withValueSchemaID
}
