package format

import (
	"fmt"
	"strings"

	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// NewTranscoder implements SchemaFormat. Texts and payloads hold the same JSON:
// a transcoder only sees to it that the members are those of the schema.
func (f jsonSchemaFormat) NewTranscoder(spec Spec, key bool, fields []Field) (Transcoder, error) {
	schema := spec.Schema
	if schema == nil {
		derived, err := f.Derive(spec, key, fields)
		if err != nil {
			return nil, err
		}
		schema = &derived
	}
	_, shape, err := jsonShapeOf(*schema)
	if err != nil {
		return nil, err
	}
	t := &jsonTranscoder{id: spec.SchemaID, shape: shape, schemas: spec.Schemas}
	t.shapes = map[int32]*jsonShape{t.id: shape}
	return t, nil
}

type jsonTranscoder struct {
	id      int32
	shape   *jsonShape
	schemas Schemas
	shapes  map[int32]*jsonShape
}

func (t *jsonTranscoder) FromJSON(dst, text []byte) ([]byte, error) {
	tree, err := parseJSONTree(text)
	if err != nil {
		return dst, err
	}
	return appendShaped(appendSchemaHeader(dst, t.id), tree, t.shape, false), nil
}

func (t *jsonTranscoder) ToJSON(dst, payload []byte) ([]byte, error) {
	id, reason := schemaID(payload)
	if reason != "" {
		return dst, &RecordError{Reason: reason}
	}
	shape, err := t.shapeOf(id)
	if err != nil {
		return dst, err
	}
	tree, err := parseJSONTree(payload[schemaHeader:])
	if err != nil {
		return dst, err
	}
	return appendShaped(dst, tree, shape, true), nil
}

// shapeOf is the shape of the schema of an id.
func (t *jsonTranscoder) shapeOf(id int32) (*jsonShape, error) {
	if shape, ok := t.shapes[id]; ok {
		return shape, nil
	}
	if t.schemas == nil {
		return nil, fmt.Errorf("schema id %d: %w", id, registry.ErrUnknown)
	}
	schema, err := t.schemas.Schema(id)
	if err != nil {
		return nil, err
	}
	_, shape, err := jsonShapeOf(schema)
	if err != nil {
		return nil, fmt.Errorf("schema id %d: %w", id, err)
	}
	t.shapes[id] = shape
	return shape, nil
}

// appendShaped appends a value with the members that its shape has, absent ones
// as their default or null. Others are dropped, or follow if extra is set. What
// does not have the shape stays as it is, for a reader to complain about.
func appendShaped(dst []byte, tree *jsonTree, shape *jsonShape, extra bool) []byte {
	switch {
	case tree.kind == '{' && shape.kind == types.KindStruct:
		return appendShapedObject(dst, tree, shape, extra)
	case tree.kind == '[' && shape.kind == types.KindArray:
		dst = append(dst, '[')
		for i, item := range tree.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendShaped(dst, item, shape.elem, extra)
		}
		return append(dst, ']')
	case tree.kind == '{' && shape.kind == types.KindMap:
		dst = append(dst, '{')
		for i, name := range tree.names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendShaped(append(appendJSONText(dst, name), ':'), tree.members[name], shape.elem, extra)
		}
		return append(dst, '}')
	}
	return appendCompact(dst, tree.raw)
}

func appendShapedObject(dst []byte, tree *jsonTree, shape *jsonShape, extra bool) []byte {
	dst = append(dst, '{')
	first := true
	name := func(name string) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendJSONText(dst, name), ':')
	}
	used, names := map[string]bool{}, memberNames{tree: tree, declared: shape.has}
	for _, member := range shape.members {
		name(member.name)
		if found, ok := names.find(member.name); ok {
			used[found] = true
			dst = appendShaped(dst, tree.members[found], member.shape, extra)
		} else if member.shape.fallback != nil && !member.shape.nullable {
			dst = appendCompact(dst, member.shape.fallback)
		} else {
			dst = append(dst, "null"...)
		}
	}
	for _, other := range tree.names {
		if extra && !used[other] {
			name(other)
			dst = appendCompact(dst, tree.members[other].raw)
		}
	}
	return append(dst, '}')
}

// memberNames finds the members of an object by name.
type memberNames struct {
	tree     *jsonTree
	declared func(name string) bool // whether the schema has a member of exactly this name
	folded   map[string]string      // by the name in capitals; nil: not needed so far
}

// find is the name of the member that stands for the schema's member of a name:
// the one of that name, or else the first that differs in case only and is no
// other member of the schema.
func (m *memberNames) find(name string) (found string, ok bool) {
	if m.tree.members[name] != nil {
		return name, true
	}
	if m.folded == nil {
		m.folded = map[string]string{}
		for _, other := range m.tree.names {
			upper := strings.ToUpper(other)
			if _, taken := m.folded[upper]; !taken && !m.declared(other) {
				m.folded[upper] = other
			}
		}
	}
	found, ok = m.folded[strings.ToUpper(name)]
	return found, ok
}
