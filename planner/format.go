package planner

import (
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

// schemaFormats are recognised and not read yet.
var schemaFormats = map[string]bool{"AVRO": true, "PROTOBUF": true, "PROTOBUF_NOSR": true, "JSON_SR": true}

func (p *Planner) knownFormat(name string, at types.Position) error {
	if p.Formats.Known(name) {
		return nil
	}
	if schemaFormats[name] {
		return types.Unsupported("format " + name).At(at)
	}
	e := types.Errorf(types.CodeProperty, "unknown format '%s'", name).At(at)
	return e.WithHint("known are %s", strings.Join(p.Formats.Names(), ", "))
}

// delimiter reads KEY_DELIMITER or VALUE_DELIMITER for a format.
func delimiter(ps properties, property, format string) (string, error) {
	text, at, ok := ps.text(property)
	if !ok {
		return "", nil
	}
	if format != "DELIMITED" {
		return "", types.Errorf(types.CodeProperty, "%s needs the format DELIMITED, not %s", property, format).At(ps[property].Position)
	}
	switch text {
	case "TAB":
		return "\t", nil
	case "SPACE":
		return " ", nil
	}
	if len([]rune(text)) != 1 {
		return "", types.Errorf(types.CodeProperty, "%s must be one character, TAB or SPACE, not '%s'", property, text).At(at)
	}
	return text, nil
}

// setFormats gives a source the formats with these names. A DELIMITED format
// that ps gives no delimiter takes that of from.
func (p *Planner) setFormats(source, from *catalog.Source, ps properties, key, value string, at types.Position) error {
	keyDelimiter, err := inheritedDelimiter(ps, withKeyDelim, key, from.KeyFormat)
	if err != nil {
		return err
	}
	valueDelimiter, err := inheritedDelimiter(ps, withValueDelim, value, from.ValueFormat)
	if err != nil {
		return err
	}
	unwrapped, feature, err := p.wrapping(ps, value, len(source.Value))
	if err != nil {
		return err
	}
	source.KeyFormat = keyFormat(key, keyDelimiter, len(source.Key))
	source.ValueFormat = catalog.Format{Name: value, Delimiter: valueDelimiter, Unwrapped: unwrapped, Wrapping: feature}
	if len(source.Key) > 0 {
		if err := p.checkFormat(source.KeyFormat, true, source.Key, at); err != nil {
			return err
		}
	}
	return p.checkFormat(source.ValueFormat, false, source.Value, at)
}

func inheritedDelimiter(ps properties, property, format string, from catalog.Format) (string, error) {
	text, err := delimiter(ps, property, format)
	if err != nil || text != "" || format != "DELIMITED" || from.Name != "DELIMITED" {
		return text, err
	}
	return from.Delimiter, nil
}

// alwaysBare are the formats that have no object to wrap a value in.
var alwaysBare = map[string]bool{"DELIMITED": true, "KAFKA": true}

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
	if !wrap && alwaysBare[format] {
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

// keyFormat is a key format for the columns; one column stands bare.
func keyFormat(name, delimiter string, columns int) catalog.Format {
	return catalog.Format{Name: name, Delimiter: delimiter, Unwrapped: columns == 1}
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
