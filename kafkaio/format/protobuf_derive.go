package format

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

const (
	// protobufMessageName and a number is what Kafka Connect, and so ksqlDB,
	// calls messages that have no name of their own.
	protobufMessageName = "ConnectDefault"
	// protobufEntry ends the names of messages that are entries of maps; that and
	// its two fields' names tell Kafka Connect so.
	protobufEntry = "Entry"
	// The field numbers that Protobuf keeps for itself.
	firstReservedNumber, lastReservedNumber = 19000, 19999
)

// The ways to write fields that may be null.
const (
	nullableOptional = "OPTIONAL"
	nullableWrapper  = "WRAPPER"
)

// Derive gives one message with the columns as its fields, numbered in order. A
// STRUCT is a message inside it, an ARRAY a repeated field, a MAP a map field,
// or repeated entries where its values cannot stand in one.
func (f protobufFormat) Derive(spec Spec, key bool, fields []Field) (registry.Schema, error) {
	if err := f.Check(spec, key, fields); err != nil {
		return registry.Schema{}, err
	}
	members := structFields(fields)
	pkg, name := splitMessageName(spec.SchemaName)
	d := protobufDerivation{
		nullable: spec.Nullable, next: 2, taken: map[string]bool{name: true}, imports: map[string]bool{},
	}
	d.take(members)
	for _, outer := range []string{"google", "confluent"} {
		if d.taken[outer] || slices.Contains(strings.Split(pkg, "."), outer) {
			d.root = "."
		}
	}
	d.message(nestedMessage{name: name, fields: members}, "")
	var text strings.Builder
	text.WriteString("syntax = \"proto3\";\n")
	if pkg != "" {
		text.WriteString("package " + pkg + ";\n")
	}
	text.WriteString("\n")
	for _, path := range slices.Sorted(maps.Keys(d.imports)) {
		text.WriteString("import \"" + path + "\";\n")
	}
	if len(d.imports) > 0 {
		text.WriteString("\n")
	}
	text.WriteString(d.text.String())
	return registry.Schema{Kind: registry.Protobuf, Text: text.String()}, nil
}

// checkMessageName refuses a name that no message can have.
func checkMessageName(spec Spec, key bool) error {
	for part := range strings.SplitSeq(spec.SchemaName, ".") {
		if spec.SchemaName != "" && !isProtobufName(part) {
			name := "VALUE_SCHEMA_FULL_NAME"
			if key {
				name = "KEY_SCHEMA_FULL_NAME"
			}
			return types.Errorf(types.CodeProperty, "%s is %q, which no %s message can be called", name, spec.SchemaName, spec.Name).
				WithHint("use ASCII letters, digits and _, no digit first, and dots between the parts")
		}
	}
	return nil
}

// splitMessageName gives the package, which may be empty, and the message's own
// name of a full name.
func splitMessageName(full string) (pkg, name string) {
	if full == "" {
		return "", protobufMessageName + "1"
	}
	dot := strings.LastIndexByte(full, '.')
	return full[:max(dot, 0)], full[dot+1:]
}

// protobufDerivation writes the messages of a derived schema.
type protobufDerivation struct {
	nullable string
	root     string // before the full names of imported messages
	next     int    // the number in the next message's name
	taken    map[string]bool
	imports  map[string]bool
	text     strings.Builder
}

// nestedMessage is a message that is written behind the fields that use it.
type nestedMessage struct {
	name   string
	fields []types.Field
	entry  bool // of a map: its first field is the key, which is never null
}

// take notes all names of fields: a message's name must differ from those of
// the fields beside it.
func (d *protobufDerivation) take(fields []types.Field) {
	for _, field := range fields {
		d.taken[field.Name] = true
		field.Type.Contains(func(t *types.Type) bool {
			for _, member := range t.Fields {
				d.taken[member.Name] = true
			}
			return false
		})
	}
}

func (d *protobufDerivation) newName(suffix string) string {
	for {
		name := fmt.Sprintf("%s%d%s", protobufMessageName, d.next, suffix)
		d.next++
		if !d.taken[name] {
			d.taken[name] = true
			return name
		}
	}
}

func (d *protobufDerivation) message(message nestedMessage, indent string) {
	d.text.WriteString(indent + "message " + message.name + " {\n")
	var nested []nestedMessage
	for i, field := range message.fields {
		number := i + 1
		if number >= firstReservedNumber {
			number += lastReservedNumber - firstReservedNumber + 1
		}
		declared := "string"
		if i > 0 || !message.entry {
			declared = d.field(field, &nested)
		}
		fmt.Fprintf(&d.text, "%s  %s %s = %d%s;\n", indent, declared, field.Name, number, fieldMeta(field.Type))
	}
	for _, inner := range nested {
		d.text.WriteString("\n")
		d.message(inner, indent+"  ")
	}
	d.text.WriteString(indent + "}\n")
}

// fieldMeta is the option that says what DECIMAL a field holds, in the form of
// Kafka Connect.
func fieldMeta(t *types.Type) string {
	for t.Kind == types.KindArray || t.Kind == types.KindMap {
		t = t.Elem
	}
	if t.Kind != types.KindDecimal {
		return ""
	}
	return fmt.Sprintf(" [(confluent.field_meta) = { params: [{ key: \"precision\", value: \"%d\" }, { key: \"scale\", value: \"%d\" }] }]",
		t.Precision, t.Scale)
}

// field is a field's label and type. The messages that it needs are added to
// nested.
func (d *protobufDerivation) field(field types.Field, nested *[]nestedMessage) string {
	switch t := field.Type; t.Kind {
	case types.KindArray:
		return "repeated " + d.single(t.Elem, nested)
	case types.KindMap:
		return d.mapping(field, nested)
	case types.KindBoolean, types.KindInteger, types.KindBigint, types.KindDouble, types.KindString, types.KindBytes:
		if d.nullable == nullableOptional {
			return "optional " + d.single(t, nested)
		}
	}
	return d.single(field.Type, nested)
}

// mapping makes a map field where that can hold the values. Entries of its own
// can be repeated themselves, and can lack the value, which is then null.
func (d *protobufDerivation) mapping(field types.Field, nested *[]nestedMessage) string {
	value := field.Type.Elem
	implied := camelCase(field.Name, true) + protobufEntry // of a map field
	if value.Kind != types.KindArray && value.Kind != types.KindMap && d.nullable == "" && !d.taken[implied] {
		d.taken[implied] = true
		return "map<string, " + d.single(value, nested) + ">"
	}
	name := d.newName(protobufEntry)
	*nested = append(*nested, nestedMessage{name: name, entry: true, fields: []types.Field{
		{Name: "key", Type: types.String}, {Name: "value", Type: value},
	}})
	return "repeated " + name
}

var protobufScalars = map[types.Kind]struct{ name, wrapper string }{
	types.KindBoolean: {"bool", "BoolValue"},
	types.KindInteger: {"int32", "Int32Value"},
	types.KindBigint:  {"int64", "Int64Value"},
	types.KindDouble:  {"double", "DoubleValue"},
	types.KindString:  {"string", "StringValue"},
	types.KindBytes:   {"bytes", "BytesValue"},
}

// The messages that hold types which Protobuf lacks.
const (
	wrapperPackage   = "google.protobuf"
	decimalMessage   = "confluent.type.Decimal"
	dateMessage      = "google.type.Date"
	timeMessage      = "google.type.TimeOfDay"
	timestampMessage = "google.protobuf.Timestamp"
)

// single is the type of a field that is not repeated, or of an element of one
// that is.
func (d *protobufDerivation) single(t *types.Type, nested *[]nestedMessage) string {
	switch t.Kind {
	case types.KindDecimal:
		d.imports["confluent/meta.proto"] = true
		return d.imported("confluent/type/decimal.proto", decimalMessage)
	case types.KindDate:
		return d.imported("google/type/date.proto", dateMessage)
	case types.KindTime:
		return d.imported("google/type/timeofday.proto", timeMessage)
	case types.KindTimestamp:
		return d.imported("google/protobuf/timestamp.proto", timestampMessage)
	case types.KindStruct:
		name := d.newName("")
		*nested = append(*nested, nestedMessage{name: name, fields: t.Fields})
		return name
	}
	scalar := protobufScalars[t.Kind]
	if d.nullable == nullableWrapper {
		return d.imported("google/protobuf/wrappers.proto", wrapperPackage+"."+scalar.wrapper)
	}
	return scalar.name
}

func (d *protobufDerivation) imported(path, message string) string {
	d.imports[path] = true
	return d.root + message
}

// messageFor is the message that a spec writes: one of its schema or, without,
// the one that the fields give.
func (f protobufFormat) messageFor(spec Spec, key bool, fields []Field) (protoreflect.MessageDescriptor, error) {
	if spec.Schema != nil && f.registered {
		file, err := parseProtobuf(*spec.Schema)
		if err != nil {
			return nil, err
		}
		return findMessage(file, spec.SchemaName)
	}
	schema, err := f.Derive(spec, key, fields)
	if err != nil {
		return nil, err
	}
	file, err := parseProtobuf(schema)
	if err != nil {
		return nil, err
	}
	return messages(file)[0], nil
}
