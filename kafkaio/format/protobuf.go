package format

import (
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// protobufFormat is one Protobuf message a record, for keys too. Registered,
// it is the layout of the schema registry's clients: a zero byte, the schema's
// id in 4 bytes, the path of the message in the schema, the message.
type protobufFormat struct{ registered bool }

func (protobufFormat) Kind() registry.Kind { return registry.Protobuf }

func (f protobufFormat) Registered() bool { return f.registered }

func (protobufFormat) Wraps() bool { return false }

func (f protobufFormat) Check(spec Spec, key bool, fields []Field) error {
	if err := checkKeyMaps(key, fields); err != nil {
		return err
	}
	if err := checkNoDelimiter(spec, key); err != nil {
		return err
	}
	for _, field := range fields {
		if err := checkProtobufType(spec, key, field, field.Type, 1); err != nil {
			return err
		}
	}
	if err := checkProtobufNames(spec, "", structFields(fields)); err != nil {
		return err
	}
	return checkMessageName(spec, key)
}

// maxProtobufDepth is how deep Protobuf's compilers let messages nest.
const maxProtobufDepth = 31

// checkProtobufType refuses what no field of a message can be: a repeated field
// has neither repeated fields nor maps as its elements. depth counts the
// messages that t is in.
func checkProtobufType(spec Spec, key bool, field Field, t *types.Type, depth int) error {
	if depth > maxProtobufDepth {
		return types.Errorf(typeCode(key), "the type of column %s is too deep for %s, which nests %d messages at most",
			types.QuoteName(field.Name), spec.Name, maxProtobufDepth)
	}
	switch t.Kind {
	case types.KindArray:
		if t.Elem.Kind == types.KindArray || t.Elem.Kind == types.KindMap {
			return types.Errorf(typeCode(key), "the %s format has no ARRAY of %s, and column %s is of type %s",
				spec.Name, t.Elem.Kind, types.QuoteName(field.Name), field.Type).
				WithHint("make the elements STRUCTs, or choose another %s", property(key))
		}
		return checkProtobufType(spec, key, field, t.Elem, depth)
	case types.KindMap:
		if t.Key.Kind != types.KindString {
			return types.Errorf(typeCode(key), "%s only supports MAP types with STRING keys, and column %s is of type %s",
				spec.Name, types.QuoteName(field.Name), field.Type).
				WithHint("cast the keys to STRING")
		}
		return checkProtobufType(spec, key, field, t.Elem, depth+1)
	case types.KindStruct:
		if err := checkProtobufNames(spec, field.Name, t.Fields); err != nil {
			return err
		}
		for _, member := range t.Fields {
			if err := checkProtobufType(spec, key, field, member.Type, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkProtobufNames refuses names that the fields of one message cannot have:
// they are identifiers, and Protobuf's compilers want different names in JSON
// too, where A_B is AB. column is the one that the fields are in, if any.
func checkProtobufNames(spec Spec, column string, fields []types.Field) error {
	jsonNames := make(map[string]string, len(fields))
	for _, field := range fields {
		shown := "column " + types.QuoteName(field.Name)
		if column != "" {
			shown = "field " + types.QuoteName(field.Name) + " of column " + types.QuoteName(column)
		}
		if !isProtobufName(field.Name) {
			return types.Errorf(types.CodeName, "%s has a name that no %s field can have", shown, spec.Name).
				WithHint("use ASCII letters, digits and _, and no digit first")
		}
		name := camelCase(field.Name, false)
		if other, ok := jsonNames[name]; ok && other != field.Name {
			return types.Errorf(types.CodeName, "%s and %s have the same JSON name %s, which %s does not allow",
				shown, types.QuoteName(other), name, spec.Name).
				WithHint("rename one of them")
		}
		jsonNames[name] = field.Name
	}
	return nil
}

// isProtobufName tells whether text is an identifier of Protobuf.
func isProtobufName(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}

// camelCase is a field's name as Protobuf writes it in JSON: underscores are
// dropped and the letters behind them become capitals; the first letter too, if
// capital is set, as in the names of the messages that map fields imply.
func camelCase(name string, capital bool) string {
	var result []byte
	for i := range len(name) {
		c := name[i]
		if c == '_' {
			capital = true
			continue
		}
		if capital && c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		capital = false
		result = append(result, c)
	}
	return string(result)
}
