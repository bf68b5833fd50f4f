package planner

import (
	"math"
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/types"
)

// formatNames are the key and value formats that a WITH clause gives; empty
// where it gives none.
func (p *Planner) formatNames(ps properties) (key, value string, err error) {
	if both, at, ok := ps.text(withFormat); ok {
		for _, other := range []string{withKeyFormat, withValueFormat} {
			if given, clash := ps[other]; clash {
				return "", "", types.Errorf(types.CodeProperty, "%s cannot stand next to FORMAT", other).
					At(given.Position).WithHint("give either FORMAT, or KEY_FORMAT and VALUE_FORMAT")
			}
		}
		both = strings.ToUpper(both)
		return both, both, p.knownFormat(both, at)
	}
	if name, at, ok := ps.text(withKeyFormat); ok {
		if key = strings.ToUpper(name); p.knownFormat(key, at) != nil {
			return "", "", p.knownFormat(key, at)
		}
	}
	if name, at, ok := ps.text(withValueFormat); ok {
		if value = strings.ToUpper(name); p.knownFormat(value, at) != nil {
			return "", "", p.knownFormat(value, at)
		}
	}
	return key, value, nil
}

func (p *Planner) knownFormat(name string, at types.Position) error {
	if known, err := p.Formats.Known(name); known {
		return types.At(err, at)
	}
	e := types.Errorf(types.CodeProperty, "unknown format '%s'", name).At(at)
	return e.WithHint("known are %s", strings.Join(p.Formats.Names(), ", "))
}

// delimiter reads KEY_DELIMITER or VALUE_DELIMITER for a format, which decides
// what can be one.
func (p *Planner) delimiter(ps properties, property, format string) (string, error) {
	text, at, ok := ps.text(property)
	if !ok {
		return "", nil
	}
	if format != "DELIMITED" {
		return "", types.Errorf(types.CodeProperty, "%s needs the format DELIMITED, not %s", property, format).At(ps[property].Position)
	}
	if text == "" {
		return "", types.Errorf(types.CodeProperty, "%s is empty", property).At(at).WithHint("give one character, or 'TAB' or 'SPACE'")
	}
	if len(text) > 1 {
		text = strings.ToUpper(text) // TAB and SPACE in any case are one delimiter
	}
	return text, types.At(p.Formats.Check(catalog.Format{Name: format, Delimiter: text}, property == withKeyDelim, nil), at)
}

// setFormats gives a source the formats with these names. What ps does not say
// of them is as in from where that has the same format: the delimiter, and how
// PROTOBUF writes null.
func (p *Planner) setFormats(source, from *catalog.Source, ps properties, key, value string, at types.Position) error {
	keyPart, err := p.schemaProperties(ps, key, true)
	if err != nil {
		return err
	}
	valuePart, err := p.schemaProperties(ps, value, false)
	if err != nil {
		return err
	}
	if keyPart.Delimiter, err = p.inheritedDelimiter(ps, withKeyDelim, key, from.KeyFormat); err != nil {
		return err
	}
	if valuePart.Delimiter, err = p.inheritedDelimiter(ps, withValueDelim, value, from.ValueFormat); err != nil {
		return err
	}
	valuePart.Unwrapped, valuePart.Wrapping, err = p.wrapping(ps, value, len(source.Value))
	if err != nil {
		return err
	}
	keyPart.Unwrapped = len(source.Key) == 1 && !alwaysWrapped[key]
	inheritNullable(&keyPart, from.KeyFormat)
	inheritNullable(&valuePart, from.ValueFormat)
	if source == from {
		keyPart.SchemaID, valuePart.SchemaID = from.KeyFormat.SchemaID, from.ValueFormat.SchemaID
		keyPart.Unwrapped = keyPart.Unwrapped && (keyPart.SchemaID == 0 || from.KeyFormat.Unwrapped)
		if valuePart.Wrapping == "" && valuePart.SchemaID != 0 {
			valuePart.Unwrapped = from.ValueFormat.Unwrapped
		}
	}
	source.KeyFormat, source.ValueFormat = keyPart, valuePart
	if len(source.Key) > 0 {
		if err := p.checkFormat(source.KeyFormat, true, source.Key, at); err != nil {
			return err
		}
	}
	return p.checkFormat(source.ValueFormat, false, source.Value, at)
}

func inheritNullable(f *catalog.Format, from catalog.Format) {
	if f.Nullable == "" && f.Name == from.Name {
		f.Nullable = from.Nullable
	}
}

// schemaProperties reads what a WITH clause says of the schema of a key or value
// in the format called name.
func (p *Planner) schemaProperties(ps properties, name string, key bool) (catalog.Format, error) {
	format := catalog.Format{Name: name}
	_, registered := p.Formats.Schemas(name)
	id, given, err := ps.number(schemaIDProperty(key), 1)
	switch {
	case err != nil:
		return format, err
	case given && !registered:
		property := ps[schemaIDProperty(key)]
		return format, types.Errorf(types.CodeProperty, "%s needs a format whose schemas are in a registry, not %s", property.Name, name).At(property.Position)
	case id > math.MaxInt32:
		property := ps[schemaIDProperty(key)]
		return format, types.Errorf(types.CodeProperty, "%s %s is larger than any id", property.Name, property.Value).At(property.ValuePosition)
	}
	format.SchemaID, format.SchemaGiven = int32(id), given
	names, nullable := []string{withValueName, withAvroName}, withValueNullable
	if key {
		names, nullable = []string{withKeyName}, withKeyNullable
	}
	for _, property := range names {
		text, at, given := ps.text(property)
		if !given {
			continue
		}
		switch {
		case format.SchemaName != "":
			return format, types.Errorf(types.CodeProperty, "%s cannot stand next to %s", property, names[0]).
				At(ps[property].Position).WithHint("both name the schema; leave %s out", property)
		case !registered:
			return format, types.Errorf(types.CodeProperty, "%s needs a format whose schemas are in a registry, not %s", property, name).
				At(ps[property].Position).WithHint("leave %s out", property)
		case strings.TrimSpace(text) == "":
			return format, types.Errorf(types.CodeProperty, "%s is empty", property).At(at).WithHint("give the full name of the schema, or leave it out")
		}
		format.SchemaName = text
	}
	if text, at, given := ps.text(nullable); given {
		format.Nullable = strings.ToUpper(text)
		switch {
		case name != "PROTOBUF" && name != "PROTOBUF_NOSR":
			return format, types.Errorf(types.CodeProperty, "%s is for the PROTOBUF formats, not for %s", nullable, name).At(ps[nullable].Position)
		case format.Nullable != "OPTIONAL" && format.Nullable != "WRAPPER":
			return format, types.Errorf(types.CodeProperty, "%s must be OPTIONAL or WRAPPER, not '%s'", nullable, text).At(at)
		}
	}
	return format, nil
}

func (p *Planner) inheritedDelimiter(ps properties, property, format string, from catalog.Format) (string, error) {
	text, err := p.delimiter(ps, property, format)
	if err != nil || text != "" || format != "DELIMITED" || from.Name != "DELIMITED" {
		return text, err
	}
	return from.Delimiter, nil
}

// The formats that write a single value in one way only: without an object
// around it, or always in one.
var (
	alwaysBare    = map[string]bool{"DELIMITED": true, "KAFKA": true}
	alwaysWrapped = map[string]bool{"PROTOBUF": true, "PROTOBUF_NOSR": true}
)

// wrapping settles how a single value column of the format is written.
func (p *Planner) wrapping(ps properties, format string, columns int) (unwrapped bool, feature string, err error) {
	wrap, given, err := ps.flag(withWrap)
	if err != nil {
		return false, "", err
	}
	if !given {
		if columns == 1 && p.Formats.Wraps(format) {
			if v, ok := p.Catalog.Property(propertyWrap); ok && strings.EqualFold(v, "false") {
				return true, "UNWRAP_SINGLES", nil
			}
		}
		return false, "", nil
	}
	at := ps[withWrap].Position
	if columns != 1 {
		return false, "", types.Errorf(types.CodeProperty, "WRAP_SINGLE_VALUE is only for a single value column, not for %d", columns).At(at)
	}
	if !wrap && alwaysBare[format] || wrap && alwaysWrapped[format] {
		return false, "", nil
	}
	if !p.Formats.Wraps(format) {
		return false, "", types.Errorf(types.CodeProperty, "format %s writes a single value in one way only", format).
			At(at).WithHint("leave WRAP_SINGLE_VALUE out")
	}
	if wrap {
		return false, "WRAP_SINGLES", nil
	}
	return true, "UNWRAP_SINGLES", nil
}

func (p *Planner) defaultKeyFormat() string {
	if name, ok := p.Catalog.Property(propertyKeyFormat); ok {
		return strings.ToUpper(name)
	}
	return "KAFKA"
}

// checkFormat asks the format whether it can hold the columns.
func (p *Planner) checkFormat(f catalog.Format, key bool, columns []catalog.Column, at types.Position) error {
	return types.At(p.Formats.Check(f, key, columns), at)
}
