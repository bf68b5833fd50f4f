package format

import (
	"fmt"
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

func (f jsonSchemaFormat) NewEncoder(spec Spec, fields []Field) Encoder {
	encoder := &jsonSchemaEncoder{id: spec.SchemaID}
	if spec.Schema == nil {
		encoder.inner = f.jsonFormat.NewEncoder(spec, fields)
		return encoder
	}
	_, shape, err := jsonSpecShape(spec)
	if err != nil {
		encoder.inner = failingEncoder{err}
		return encoder
	}
	if spec.Unwrapped && len(fields) == 1 {
		encoder.inner = &jsonShapedEncoder{bare: newJSONWriter(fields[0].Name, fields[0].Type, shape)}
		return encoder
	}
	if shape.kind != types.KindStruct {
		encoder.inner = f.jsonFormat.NewEncoder(spec, fields)
		return encoder
	}
	encoder.inner = &jsonShapedEncoder{row: newJSONWriter("", rowStruct(fields), shape)}
	return encoder
}

// jsonSchemaEncoder writes the header before what another encoder writes.
type jsonSchemaEncoder struct {
	id    int32
	inner Encoder
}

func (e *jsonSchemaEncoder) Append(dst []byte, columns []*column.Vector, i int) ([]byte, bool, error) {
	start := len(dst)
	out, null, err := e.inner.Append(appendSchemaHeader(dst, e.id), columns, i)
	if err != nil || null {
		return out[:start], null, err
	}
	return out, false, nil
}

// failingEncoder writes nothing: there is no valid schema to write by.
type failingEncoder struct{ err error }

func (e failingEncoder) Append(dst []byte, _ []*column.Vector, _ int) ([]byte, bool, error) {
	return dst, false, e.err
}

// jsonShapedEncoder writes rows as a schema wants them.
type jsonShapedEncoder struct {
	row  *jsonWriter
	bare *jsonWriter // of the only field, in place of row
}

func (e *jsonShapedEncoder) Append(dst []byte, columns []*column.Vector, i int) ([]byte, bool, error) {
	if e.bare == nil {
		out, err := e.row.object(dst, columns, i)
		return out, false, err
	}
	if columns[0].Null(i) {
		return dst, true, nil
	}
	out, err := e.bare.value(dst, columns[0], i)
	return out, false, err
}

// jsonWriter writes values of a type by a shape.
type jsonWriter struct {
	path     string
	layout   *jsonLayout // of a value that the shape says nothing special about
	members  []jsonMemberWriter
	elem     *jsonWriter
	entries  bool
	nullable bool
}

// jsonMemberWriter writes a member of an object.
type jsonMemberWriter struct {
	prefix string // the name and a colon
	column int    // -1: a member of the shape only
	writer *jsonWriter
	null   string // what a null is written as; empty: the member is left out
	fault  error  // of a null
}

func newJSONWriter(path string, t *types.Type, shape *jsonShape) *jsonWriter {
	w := &jsonWriter{path: path, nullable: shape.nullable || shape.kind == types.KindNull}
	switch {
	case t.Kind == types.KindStruct && shape.kind == types.KindStruct:
		w.addMembers(t, shape)
	case t.Kind == shape.kind && (t.Kind == types.KindArray || t.Kind == types.KindMap):
		w.elem, w.entries = newJSONWriter(path+"[]", t.Elem, shape.elem), shape.entries
	default:
		w.layout = newJSONLayout(t)
	}
	return w
}

// addMembers adds the members of the shape, and those of the type that it does
// not have.
func (w *jsonWriter) addMembers(t *types.Type, shape *jsonShape) {
	taken := make([]bool, len(t.Fields))
	for _, member := range shape.members {
		m := jsonMemberWriter{prefix: string(append(appendJSONText(nil, member.name), ':')), column: fieldOf(t.Fields, member.name, shape)}
		if m.column >= 0 && taken[m.column] {
			m.column = -1
		}
		path := strings.TrimPrefix(w.path+"->"+member.name, "->")
		m.null, m.fault = member.absent(path, m.column < 0)
		if m.column >= 0 {
			taken[m.column] = true
			m.writer = newJSONWriter(path, t.Fields[m.column].Type, member.shape)
		}
		w.members = append(w.members, m)
	}
	for i, field := range t.Fields {
		if !taken[i] {
			w.members = append(w.members, jsonMemberWriter{
				prefix: string(append(appendJSONText(nil, field.Name), ':')), column: i,
				writer: newJSONWriter(field.Name, field.Type, unshaped), null: "null",
			})
		}
	}
}

// fieldOf is the field that the shape's member of a name stands for: the one of
// that name, or else one that differs in case only and is no other member of the
// shape; -1 if there is none.
func fieldOf(fields []types.Field, name string, shape *jsonShape) int {
	folded := -1
	for i, field := range fields {
		switch {
		case field.Name == name:
			return i
		case folded < 0 && strings.EqualFold(field.Name, name) && !shape.has(field.Name):
			folded = i
		}
	}
	return folded
}

// absent is what a member is written as that has no value. One that no column
// stands for takes its default, even where it may be null.
func (m *jsonMember) absent(path string, unset bool) (text string, fault error) {
	fallback := m.shape.fallback
	switch {
	case fallback != nil && (unset || !m.shape.nullable):
		return string(appendCompact(nil, fallback)), nil
	case m.shape.nullable:
		return "null", nil
	case !m.required:
		return "", nil
	case unset:
		return "", fmt.Errorf("field %s: %w", path, ErrIncomplete)
	}
	return "", fmt.Errorf("%s is required by the JSON Schema, which has no null and no default for it", path)
}

// object appends a row of columns as an object.
func (w *jsonWriter) object(dst []byte, columns []*column.Vector, i int) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	for m := range w.members {
		member := &w.members[m]
		null := member.column < 0 || columns[member.column].Null(i)
		if null && member.fault != nil {
			return dst, member.fault
		}
		if null && member.null == "" {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, member.prefix...)
		if null {
			dst = append(dst, member.null...)
			continue
		}
		var err error
		if dst, err = member.writer.value(dst, columns[member.column], i); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// value appends row i of v, which is not null.
func (w *jsonWriter) value(dst []byte, v *column.Vector, i int) ([]byte, error) {
	switch {
	case w.members != nil:
		return w.object(dst, v.Children, i)
	case w.elem == nil:
		return appendJSONValue(dst, v, w.layout, i), nil
	case v.Type.Kind == types.KindArray:
		return w.array(dst, v, i)
	}
	return w.mapping(dst, v, i)
}

func (w *jsonWriter) array(dst []byte, v *column.Vector, i int) ([]byte, error) {
	span := v.Spans[i]
	dst = append(dst, '[')
	for n := range int(span.Len) {
		if n > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.elem.element(dst, v.Children[0], int(span.Start)+n); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// element appends an element of an array or value of a map, null or not.
func (w *jsonWriter) element(dst []byte, v *column.Vector, i int) ([]byte, error) {
	if !v.Null(i) {
		return w.value(dst, v, i)
	}
	if !w.nullable {
		return dst, fmt.Errorf("%s is null, which the JSON Schema does not allow", w.path)
	}
	return append(dst, "null"...), nil
}

// mapping appends a MAP, whose keys are STRING, as an object or as the array of
// its entries.
func (w *jsonWriter) mapping(dst []byte, v *column.Vector, i int) ([]byte, error) {
	span := v.Spans[i]
	keys, values := v.Children[0], v.Children[1]
	bracket := byte('{')
	if w.entries {
		bracket = '['
	}
	dst = append(dst, bracket)
	for n := range int(span.Len) {
		if n > 0 {
			dst = append(dst, ',')
		}
		at := int(span.Start) + n
		if w.entries {
			dst = append(dst, `{"`+entryKey+`":`...)
		}
		if key := "null"; keys.Null(at) {
			dst = appendJSONText(dst, key)
		} else {
			dst = appendJSONText(dst, keys.Texts[at])
		}
		if w.entries {
			dst = append(dst, `,"`+entryValue+`"`...)
		}
		dst = append(dst, ':')
		var err error
		if dst, err = w.elem.element(dst, values, at); err != nil {
			return dst, err
		}
		if w.entries {
			dst = append(dst, '}')
		}
	}
	return append(dst, bracket+2), nil
}
