package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"millrace/sql/types"
)

// These bound the columns and fields that one schema gives: a short text may
// name messages whose fields multiply.
const (
	maxInferredFields = 10_000
	maxInferredDepth  = 100
)

// Infer takes the types of Kafka Connect: enums are STRING, float is DOUBLE,
// unsigned integers are BIGINT, wrappers their value, members of a oneof fields
// like others. Left out are maps whose keys are no text, messages inside
// themselves or without fields, and decimals of unknown scale.
func (f protobufFormat) Infer(spec Spec, key, exact bool) (fields []Field, bare bool, err error) {
	message, err := f.messageFor(spec, key, nil)
	if err != nil {
		return nil, false, types.Errorf(types.CodeStatement, "no columns can be taken from the %s schema: %v", spec.Name, err)
	}
	in := protobufInference{exact: exact}
	members, err := in.fields(message)
	if err == nil && len(members) == 0 {
		err = fmt.Errorf("message %s has no field that a column could hold", message.FullName())
	}
	if err == nil {
		err = checkInferredNames("", members)
	}
	if err != nil {
		return nil, false, types.Errorf(types.CodeStatement, "no columns can be taken from the %s schema: %v", spec.Name, err).
			WithHint("declare the columns")
	}
	for _, member := range members {
		fields = append(fields, Field(member))
	}
	return fields, false, nil
}

// checkInferredNames refuses fields whose names differ in case only.
func checkInferredNames(path string, fields []types.Field) error {
	seen := make(map[string]bool, len(fields))
	for _, field := range fields {
		if seen[field.Name] {
			return fmt.Errorf("two fields%s are called %s in capitals", path, field.Name)
		}
		seen[field.Name] = true
		inner := field.Type
		for inner.Elem != nil {
			inner = inner.Elem
		}
		if err := checkInferredNames(" of "+field.Name, inner.Fields); err != nil {
			return err
		}
	}
	return nil
}

// protobufInference gives the types that the fields of messages have in SQL.
type protobufInference struct {
	exact bool
	open  []protoreflect.FullName // the messages around the one that is read
	count int
}

func (in *protobufInference) fields(message protoreflect.MessageDescriptor) ([]types.Field, error) {
	if slices.Contains(in.open, message.FullName()) {
		return nil, nil
	}
	if len(in.open) == maxInferredDepth {
		return nil, fmt.Errorf("message %s nests more than %d messages", in.open[0], maxInferredDepth)
	}
	in.open = append(in.open, message.FullName())
	defer func() { in.open = in.open[:len(in.open)-1] }()
	var members []types.Field
	all := message.Fields()
	for i := range all.Len() {
		field := all.Get(i)
		if in.count++; in.count > maxInferredFields {
			return nil, fmt.Errorf("message %s has more than %d fields, those of its messages included", in.open[0], maxInferredFields)
		}
		t, err := in.field(field)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		name := string(field.Name())
		if !in.exact {
			name = strings.ToUpper(name)
		}
		members = append(members, types.Field{Name: name, Type: t})
	}
	return members, nil
}

// field is the type of a field, nil if SQL has none.
func (in *protobufInference) field(field protoreflect.FieldDescriptor) (*types.Type, error) {
	if field.Cardinality() != protoreflect.Repeated {
		return in.single(field, field)
	}
	entryKey, entryValue := mapFields(field)
	if entryKey == nil {
		elem, err := in.single(field, field)
		if err != nil || elem == nil {
			return nil, err
		}
		return types.ArrayOf(elem), nil
	}
	if entryKey.Kind() != protoreflect.StringKind {
		return nil, nil
	}
	value, err := in.mapValue(field, entryValue)
	if err != nil || value == nil {
		return nil, err
	}
	return types.MapOf(types.String, value), nil
}

func (in *protobufInference) mapValue(field, value protoreflect.FieldDescriptor) (*types.Type, error) {
	if value.Cardinality() == protoreflect.Repeated {
		return in.field(value)
	}
	meta := value
	if field.IsMap() {
		meta = field
	}
	return in.single(value, meta)
}

// mapFields are the key and value of the entries if a field is a map, either
// declared as one or, as Kafka Connect writes it, repeated messages that look
// like entries.
func mapFields(field protoreflect.FieldDescriptor) (key, value protoreflect.FieldDescriptor) {
	if field.IsMap() {
		return field.MapKey(), field.MapValue()
	}
	entry := field.Message()
	if entry == nil || field.Cardinality() != protoreflect.Repeated ||
		!strings.HasSuffix(string(entry.Name()), protobufEntry) || entry.Fields().Len() != 2 {
		return nil, nil
	}
	key, value = entry.Fields().ByName("key"), entry.Fields().ByName("value")
	if key == nil || value == nil || key.Cardinality() == protoreflect.Repeated || key.Message() != nil {
		return nil, nil
	}
	return key, value
}

// single is the type of a field's value or of its elements; meta is the field
// whose options describe it.
func (in *protobufInference) single(field, meta protoreflect.FieldDescriptor) (*types.Type, error) {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return types.Boolean, nil
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return types.Integer, nil
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return types.Double, nil
	case protoreflect.StringKind, protoreflect.EnumKind:
		return types.String, nil
	case protoreflect.BytesKind:
		return types.Bytes, nil
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return in.message(field, meta)
	}
	return types.Bigint, nil
}

func (in *protobufInference) message(field, meta protoreflect.FieldDescriptor) (*types.Type, error) {
	message := field.Message()
	if value := wrappedField(message); value != nil {
		return in.single(value, value)
	}
	switch message.FullName() {
	case decimalMessage:
		precision, scale, ok := decimalMeta(meta)
		if !ok {
			return nil, nil
		}
		return types.DecimalOf(precision, scale), nil
	case dateMessage:
		return types.Date, nil
	case timeMessage:
		return types.Time, nil
	case timestampMessage:
		return types.Timestamp, nil
	}
	members, err := in.fields(message)
	if err != nil || len(members) == 0 {
		return nil, err
	}
	return types.StructOf(members...), nil
}

// wrappedField is the only field of a message that wraps a value which may be
// null, such as google.protobuf.Int32Value; nil for other messages.
func wrappedField(message protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if message.ParentFile().Package() != wrapperPackage {
		return nil
	}
	switch message.FullName().Name() {
	case "BoolValue", "Int32Value", "Int64Value", "UInt32Value", "UInt64Value", "FloatValue", "DoubleValue",
		"StringValue", "BytesValue":
	default:
		return nil
	}
	value := message.Fields().ByNumber(1)
	if value == nil || value.Cardinality() == protoreflect.Repeated || value.Message() != nil {
		return nil
	}
	return value
}

// fieldMetaNumber is the number of Kafka Connect's option confluent.field_meta.
const fieldMetaNumber = 1088

// decimalMeta reads precision and scale from a field's options.
func decimalMeta(field protoreflect.FieldDescriptor) (precision, scale int, ok bool) {
	options, err := proto.Marshal(field.Options())
	if err != nil {
		return 0, 0, false
	}
	eachField(options, func(number protowire.Number, meta []byte) {
		if number == fieldMetaNumber {
			eachField(meta, func(number protowire.Number, entry []byte) {
				if number != 2 {
					return
				}
				var parts [3]string
				eachField(entry, func(number protowire.Number, text []byte) {
					if number < 3 {
						parts[number] = string(text)
					}
				})
				switch parts[1] {
				case "precision":
					precision, _ = strconv.Atoi(parts[2])
				case "scale":
					scale, _ = strconv.Atoi(parts[2])
				}
			})
		}
	})
	return precision, scale, precision > 0 && precision <= types.MaxPrecision && scale >= 0 && scale <= precision
}

// eachField visits the length-delimited fields of an encoded message.
func eachField(b []byte, visit func(number protowire.Number, content []byte)) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return
		}
		if kind == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(b)
			visit(number, content)
		}
		b = b[n:]
	}
}

// Fits compares the columns with the first fields of the schema's message.
func (f protobufFormat) Fits(spec Spec, key bool, fields []Field) error {
	message, err := f.messageFor(spec, key, fields)
	if err != nil {
		return types.Errorf(types.CodeStatement, "the %s schema cannot be written: %v", spec.Name, err)
	}
	in := protobufInference{exact: true}
	for i, field := range fields {
		if i >= message.Fields().Len() {
			return types.Errorf(types.CodeStatement, "column %s has no field in message %s of the %s schema, which ends with %d fields",
				types.QuoteName(field.Name), message.FullName(), spec.Name, message.Fields().Len())
		}
		member := message.Fields().Get(i)
		t, err := in.field(member)
		if err != nil {
			return types.Errorf(types.CodeStatement, "column %s cannot be written with the %s schema: %v",
				types.QuoteName(field.Name), spec.Name, err)
		}
		shown := "which no column can be"
		if t != nil {
			shown = types.QuoteName(string(member.Name())) + " " + t.String()
		}
		if t == nil || field.Name != string(member.Name()) || !types.Equal(field.Type, t) {
			return types.Errorf(types.CodeStatement, "column %s %s is not field %d of message %s of the %s schema, %s",
				types.QuoteName(field.Name), field.Type, i+1, message.FullName(), spec.Name, shown).
				WithHint("select the schema's fields in its order and under its names")
		}
	}
	return nil
}
