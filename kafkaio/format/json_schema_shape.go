package format

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"millrace/sql/types"
)

const (
	// maxJSONSchemaShapes bounds the types in a schema together: one of a few
	// lines can refer to itself into a type of any size.
	maxJSONSchemaShapes = 10_000
	maxJSONSchemaDepth  = 200
)

// jsonShape is what a schema says about a value.
type jsonShape struct {
	kind     types.Kind   // KindNull: SQL has no type for it
	decimal  *types.Type  // DECIMAL
	elem     *jsonShape   // ARRAY, MAP
	members  []jsonMember // STRUCT
	entries  bool         // a MAP is an array of objects with key and value
	nullable bool
	fallback []byte // the text of the default, nil if there is none
}

// jsonMember is a member of an object.
type jsonMember struct {
	name     string
	shape    *jsonShape
	required bool
}

// unshaped is the shape of values that SQL has no type for.
var unshaped = &jsonShape{nullable: true}

// jsonShaper makes shapes. What it cannot know to be of one SQL type, and what
// would nest a schema in itself, is without a type.
type jsonShaper struct {
	documents *jsonSchemaDocuments
	open      map[*jsonTree]bool // around the schema at hand
	count     int
	err       error
}

// fail notes the first fault, a *types.Error.
func (s *jsonShaper) fail(format string, args ...any) *jsonShape {
	if s.err == nil {
		s.err = types.Errorf(types.CodeStatement, format, args...).WithHint("declare the columns that you need")
	}
	return unshaped
}

func (s *jsonShaper) shape(place jsonSchemaPlace) *jsonShape {
	node := place.node
	if s.err != nil || node.kind != '{' || s.open[node] || len(s.open) >= maxJSONSchemaDepth {
		return unshaped
	}
	if s.count++; s.count > maxJSONSchemaShapes {
		return s.fail("the JSON Schema has more than %d types, those that it refers to counted wherever they are used", maxJSONSchemaShapes)
	}
	s.open[node] = true
	defer delete(s.open, node)
	shape := s.described(place)
	if text := node.member("default"); text != nil && text.kind != 'n' {
		with := *shape
		with.fallback = text.raw
		shape = &with
	}
	return shape
}

// described chooses the keyword that gives the type.
func (s *jsonShaper) described(place jsonSchemaPlace) *jsonShape {
	node := place.node
	if reference := node.member("$ref"); reference != nil {
		return s.referred(reference.text, place)
	}
	kind, nullable := jsonTypeOf(node)
	alternatives := node.member("oneOf")
	if alternatives == nil {
		alternatives = node.member("anyOf")
	}
	switch {
	case node.member("allOf") != nil && (kind == "" || kind == "object"):
		return s.combined(place)
	case kind != "" || nullable:
	case alternatives != nil:
		return s.alternative(place, alternatives.items)
	default:
		kind = impliedType(node)
	}
	shape := s.typed(place, kind)
	if nullable || hasNull(node.member("enum")) {
		return shape.orNull()
	}
	return shape
}

// has tells whether an object has a member of exactly that name.
func (s *jsonShape) has(name string) bool {
	return slices.ContainsFunc(s.members, func(m jsonMember) bool { return m.name == name })
}

func (s *jsonShape) orNull() *jsonShape {
	with := *s
	with.nullable = true
	return &with
}

func hasNull(values *jsonTree) bool {
	return values != nil && slices.ContainsFunc(values.items, func(value *jsonTree) bool { return value.kind == 'n' })
}

func (s *jsonShaper) referred(reference string, place jsonSchemaPlace) *jsonShape {
	to, ok := s.documents.find(reference, place.scope)
	if !ok {
		return s.fail("the JSON Schema refers to %s, which is neither in it nor in what it was registered with", clip(reference))
	}
	return s.shape(to)
}

// jsonTypeOf reads the type keyword: a name, or several of which null may be
// one. Of several others it gives none that exists.
func jsonTypeOf(node *jsonTree) (kind string, nullable bool) {
	keyword := node.member("type")
	if keyword == nil {
		return "", false
	}
	if keyword.kind == '"' {
		return keyword.text, false
	}
	for _, item := range keyword.items {
		switch {
		case item.text == "null":
			nullable = true
		case kind == "" || kind == "integer" && item.text == "number":
			kind = item.text
		case kind != item.text && (kind != "number" || item.text != "integer"):
			kind = "several"
		}
	}
	return kind, nullable
}

// impliedType is the type of a schema that does not name it.
func impliedType(node *jsonTree) string {
	switch {
	case node.member("properties") != nil || node.textOf("connect.type") == "map" || node.member("additionalProperties") != nil:
		return "object"
	case node.member("items") != nil:
		return "array"
	case node.member("enum") != nil:
		return "string"
	}
	value := node.member("const")
	switch {
	case value == nil:
		return ""
	case value.kind == 't' || value.kind == 'f':
		return "boolean"
	case value.kind == '"':
		return "string"
	}
	return ""
}

// alternative is the only one of the alternatives that is not null, or the type
// that all of them share.
func (s *jsonShaper) alternative(place jsonSchemaPlace, items []*jsonTree) *jsonShape {
	var shape *jsonShape
	nullable := false
	for _, item := range items {
		if kind, _ := jsonTypeOf(item); kind == "null" {
			nullable = true
			continue
		}
		next := s.shape(place.inside(item))
		if shape != nil && (shape.kind != next.kind || next.kind >= types.KindArray || next.kind == types.KindDecimal) {
			return unshaped
		}
		nullable = nullable || next.nullable
		shape = next
	}
	if shape == nil {
		return unshaped
	}
	if nullable {
		return shape.orNull()
	}
	return shape
}

func (p jsonSchemaPlace) inside(node *jsonTree) jsonSchemaPlace {
	return jsonSchemaPlace{node, p.scope.enter(node)}
}

// combined is what allOf gives: the members of all objects, those of the schema
// itself included, or the first type that one of them has.
func (s *jsonShaper) combined(place jsonSchemaPlace) *jsonShape {
	var first *jsonShape
	row := &jsonShape{kind: types.KindStruct, nullable: true}
	add := func(shape *jsonShape) {
		switch {
		case shape.kind == types.KindStruct:
			row.merge(shape)
		case first == nil && shape.kind != types.KindNull:
			first = shape
		}
	}
	for _, keyword := range place.node.names {
		switch keyword {
		case "properties":
			add(s.object(place))
		case "allOf":
			for _, item := range place.node.members[keyword].items {
				add(s.shape(place.inside(item)))
			}
		}
	}
	switch {
	case len(row.members) > 0:
		return row
	case first != nil:
		return first
	}
	return unshaped
}

// merge adds the members of another object; those of one name are replaced.
func (s *jsonShape) merge(other *jsonShape) {
	s.nullable = s.nullable && other.nullable
	for _, member := range other.members {
		at := slices.IndexFunc(s.members, func(m jsonMember) bool { return m.name == member.name })
		if at < 0 {
			s.members = append(s.members, member)
			continue
		}
		member.required = member.required || s.members[at].required
		s.members[at] = member
	}
}

func (s *jsonShaper) typed(place jsonSchemaPlace, kind string) *jsonShape {
	switch kind {
	case "boolean":
		return &jsonShape{kind: types.KindBoolean}
	case "integer", "number", "string":
		return scalarShape(place.node, kind)
	case "array":
		return s.array(place)
	case "object":
		return s.object(place)
	}
	return unshaped
}

// scalarShape is the shape of a number or text by its connect.type; one that is
// unknown or belongs to another type is passed over.
func scalarShape(node *jsonTree, kind string) *jsonShape {
	connect := node.textOf("connect.type")
	switch title := node.textOf("title"); {
	case title == connectDecimal:
		return decimalShape(node)
	case kind == "string" && connect == "bytes":
		return &jsonShape{kind: types.KindBytes}
	case kind == "string":
		return &jsonShape{kind: types.KindString}
	case title == connectDate:
		return &jsonShape{kind: types.KindDate}
	case title == connectTime:
		return &jsonShape{kind: types.KindTime}
	case title == connectTimestamp:
		return &jsonShape{kind: types.KindTimestamp}
	}
	switch connect {
	case "int8", "int16", "int32":
		return &jsonShape{kind: types.KindInteger}
	case "int64":
		return &jsonShape{kind: types.KindBigint}
	case "float32", "float64":
		return &jsonShape{kind: types.KindDouble}
	}
	if kind == "integer" {
		return &jsonShape{kind: types.KindBigint}
	}
	return &jsonShape{kind: types.KindDouble}
}

// decimalShape takes precision and scale from Connect's parameters. Without a
// precision it is Connect's 64 digits, of which a DECIMAL holds 38.
func decimalShape(node *jsonTree) *jsonShape {
	parameters := node.member("connect.parameters")
	if parameters == nil {
		return unshaped
	}
	scale, err := strconv.Atoi(parameters.textOf("scale"))
	precision := types.MaxPrecision
	if text := parameters.textOf("connect.decimal.precision"); err == nil && text != "" {
		precision, err = strconv.Atoi(text)
	}
	precision = min(precision, types.MaxPrecision)
	if err != nil || scale < 0 || precision < 1 || scale > precision {
		return unshaped
	}
	return &jsonShape{kind: types.KindDecimal, decimal: types.DecimalOf(precision, scale)}
}

func (s *jsonShaper) array(place jsonSchemaPlace) *jsonShape {
	items := place.node.member("items")
	if items == nil {
		return unshaped
	}
	elem := s.shape(place.inside(items))
	if place.node.textOf("connect.type") == "map" && elem.kind == types.KindStruct {
		return entriesShape(elem)
	}
	if elem.kind == types.KindNull {
		return unshaped
	}
	return &jsonShape{kind: types.KindArray, elem: elem}
}

// entriesShape is the MAP that stands as an array of its entries.
func entriesShape(entry *jsonShape) *jsonShape {
	var key, value *jsonShape
	for _, member := range entry.members {
		switch member.name {
		case entryKey:
			key = member.shape
		case entryValue:
			value = member.shape
		}
	}
	if key == nil || value == nil || key.kind != types.KindString || value.kind == types.KindNull {
		return unshaped
	}
	return &jsonShape{kind: types.KindMap, elem: value, entries: true}
}

func (s *jsonShaper) object(place jsonSchemaPlace) *jsonShape {
	node := place.node
	properties, additional := node.member("properties"), node.member("additionalProperties")
	if node.textOf("connect.type") == "map" || (properties == nil || len(properties.names) == 0) && additional != nil {
		if additional == nil {
			return unshaped
		}
		if elem := s.shape(place.inside(additional)); elem.kind != types.KindNull {
			return &jsonShape{kind: types.KindMap, elem: elem}
		}
		return unshaped
	}
	shape := &jsonShape{kind: types.KindStruct}
	if properties == nil {
		return unshaped
	}
	for _, name := range inOrder(properties) {
		member := jsonMember{name: name, shape: s.shape(place.inside(properties.members[name]))}
		if required := node.member("required"); required != nil {
			member.required = slices.ContainsFunc(required.items, func(item *jsonTree) bool { return item.kind == '"' && item.text == name })
		}
		shape.members = append(shape.members, member)
	}
	return shape
}

// inOrder are the names of the properties by connect.index; those without one
// follow in the order of the text.
func inOrder(properties *jsonTree) []string {
	index := func(name string) int {
		if tree := properties.members[name].member("connect.index"); tree != nil {
			if n, err := strconv.Atoi(string(tree.raw)); err == nil {
				return n
			}
		}
		return maxJSONSchemaShapes
	}
	names := slices.Clone(properties.names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(index(a), index(b)) })
	return names
}

// sqlType is the SQL type of a shape, nil if there is none. The members of
// objects that have no type are left out.
func (s *jsonShaper) sqlType(shape *jsonShape, exact bool) *types.Type {
	switch shape.kind {
	case types.KindNull:
		return nil
	case types.KindDecimal:
		return shape.decimal
	case types.KindArray, types.KindMap:
		elem := s.sqlType(shape.elem, exact)
		switch {
		case elem == nil:
			return nil
		case shape.kind == types.KindMap:
			return types.MapOf(types.String, elem)
		}
		return types.ArrayOf(elem)
	case types.KindStruct:
		return s.structType(shape, exact)
	}
	return &types.Type{Kind: shape.kind}
}

func (s *jsonShaper) structType(shape *jsonShape, exact bool) *types.Type {
	var fields []types.Field
	seen := map[string]string{}
	for _, member := range shape.members {
		t := s.sqlType(member.shape, exact)
		if t == nil {
			continue
		}
		name := member.name
		if !exact {
			name = strings.ToUpper(name)
		}
		if other, doubled := seen[name]; doubled && s.err == nil {
			s.err = types.Errorf(types.CodeName, "the properties %s and %s of the JSON Schema are both the column %s",
				types.QuoteName(other), types.QuoteName(member.name), types.QuoteName(name)).
				WithHint("declare the columns, or name the schema by its id, which keeps the case of names")
		}
		seen[name] = member.name
		fields = append(fields, types.Field{Name: name, Type: t})
	}
	if len(fields) == 0 {
		return nil
	}
	return types.StructOf(fields...)
}
