package format

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"millrace/exec/column"
	"millrace/sql/types"
)

// NewTranscoder compiles the message that is written; ToJSON finds the messages
// of payloads by their schema's id.
func (f protobufFormat) NewTranscoder(spec Spec, key bool, fields []Field) (Transcoder, error) {
	message, err := f.messageFor(spec, key, fields)
	if err != nil {
		return nil, err
	}
	return &protobufTranscoder{format: f, spec: spec, message: message}, nil
}

type protobufTranscoder struct {
	format  protobufFormat
	spec    Spec
	message protoreflect.MessageDescriptor // what is written
	read    protobufWriters[protoreflect.MessageDescriptor]
}

// FromJSON implements Transcoder.
func (p *protobufTranscoder) FromJSON(dst, text []byte) ([]byte, error) {
	tree, err := parseJSONTree(text)
	if err != nil {
		return dst, err
	}
	message := dynamicpb.NewMessage(p.message)
	if err := setJSONMembers(message, tree); err != nil {
		return dst, err
	}
	if p.format.registered {
		dst = appendProtobufHeader(dst, p.spec.SchemaID, p.message)
	}
	return proto.MarshalOptions{Deterministic: true, AllowPartial: true}.MarshalAppend(dst, message)
}

// setJSONMembers sets the fields of a message from the members of an object.
func setJSONMembers(message protoreflect.Message, tree *jsonTree) error {
	if tree.kind != '{' {
		return fmt.Errorf("message %s is an object in JSON, not %s", message.Descriptor().FullName(), shown(tree.raw))
	}
	fields := message.Descriptor().Fields()
	names := memberNames{tree: tree, declared: func(name string) bool { return fields.ByName(protoreflect.Name(name)) != nil }}
	for i := range fields.Len() {
		field := fields.Get(i)
		name, ok := names.find(string(field.Name()))
		if !ok || tree.members[name].kind == 'n' {
			continue
		}
		if err := setJSONField(message, field, tree.members[name]); err != nil {
			return fmt.Errorf("field %s: %w", field.Name(), err)
		}
	}
	return nil
}

func setJSONField(message protoreflect.Message, field protoreflect.FieldDescriptor, member *jsonTree) error {
	if key, value := mapFields(field); key != nil {
		return setJSONMap(message, field, key, value, member)
	}
	if !field.IsList() {
		value, err := jsonToProtobuf(field, message.NewField(field), member)
		if err == nil {
			message.Set(field, value)
		}
		return err
	}
	if member.kind != '[' {
		return fmt.Errorf("an array is expected, not %s", shown(member.raw))
	}
	list := message.Mutable(field).List()
	for _, element := range member.items {
		value := list.NewElement()
		if element.kind != 'n' {
			var err error
			if value, err = jsonToProtobuf(field, value, element); err != nil {
				return err
			}
		}
		list.Append(value)
	}
	return nil
}

func setJSONMap(message protoreflect.Message, field, key, value protoreflect.FieldDescriptor, member *jsonTree) error {
	if member.kind != '{' {
		return fmt.Errorf("an object is expected, not %s", shown(member.raw))
	}
	for _, name := range member.names {
		element := member.members[name]
		keyValue, err := textToProtobuf(key, name)
		if err != nil {
			return fmt.Errorf("%s is no %s", strconv.Quote(clip(name)), key.Kind())
		}
		if !field.IsMap() {
			entry := message.Mutable(field).List().AppendMutable().Message()
			entry.Set(key, keyValue)
			if element.kind != 'n' {
				err = setJSONField(entry, value, element)
			}
			if err != nil {
				return err
			}
			continue
		}
		entries := message.Mutable(field).Map()
		converted := entries.NewValue()
		if element.kind != 'n' {
			converted, err = jsonToProtobuf(value, converted, element)
		}
		if err != nil {
			return err
		}
		entries.Set(keyValue.MapKey(), converted)
	}
	return nil
}

// jsonToProtobuf makes a value of a field, or an element of one, from JSON.
// into is an empty value of it.
func jsonToProtobuf(field protoreflect.FieldDescriptor, into protoreflect.Value, member *jsonTree) (protoreflect.Value, error) {
	if field.Message() != nil {
		return into, setJSONMessage(into.Message(), field, member)
	}
	text, ok := member.scalar()
	if ok {
		if value, err := textToProtobuf(field, text); err == nil {
			return value, nil
		}
	}
	return into, fmt.Errorf("%s is no %s", shown(member.raw), field.Kind())
}

func textToProtobuf(field protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), nil
	case protoreflect.BytesKind:
		content, err := base64.StdEncoding.DecodeString(text)
		return protoreflect.ValueOfBytes(content), err
	case protoreflect.BoolKind:
		value, err := strconv.ParseBool(text)
		return protoreflect.ValueOfBool(value), err
	case protoreflect.EnumKind:
		if named := field.Enum().Values().ByName(protoreflect.Name(text)); named != nil {
			return protoreflect.ValueOfEnum(named.Number()), nil
		}
		number, err := strconv.ParseInt(text, 10, 32)
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(number)), err
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		value, reason := parseDouble(text)
		if reason != "" {
			return protoreflect.Value{}, fmt.Errorf("%s", reason)
		}
		if field.Kind() == protoreflect.FloatKind {
			return protoreflect.ValueOfFloat32(float32(value)), nil
		}
		return protoreflect.ValueOfFloat64(value), nil
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		value, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			signed, signedErr := wholeNumber(text)
			return protoreflect.ValueOfUint64(uint64(signed)), signedErr
		}
		return protoreflect.ValueOfUint64(value), nil
	}
	whole, err := wholeNumber(text)
	if err != nil {
		return protoreflect.Value{}, err
	}
	switch field.Kind() {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		if whole < math.MinInt32 || whole > math.MaxInt32 {
			err = strconv.ErrRange
		}
		return protoreflect.ValueOfInt32(int32(whole)), err
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		if whole < 0 || whole > math.MaxUint32 {
			err = strconv.ErrRange
		}
		return protoreflect.ValueOfUint32(uint32(whole)), err
	}
	return protoreflect.ValueOfInt64(whole), nil
}

// wholeNumber reads a JSON number without its fraction.
func wholeNumber(text string) (int64, error) {
	if scanNumber([]byte(text), 0) != len(text) {
		return 0, strconv.ErrSyntax
	}
	value, ok := truncate([]byte(text))
	if !ok {
		return 0, strconv.ErrRange
	}
	return value, nil
}

// setJSONMessage fills a message from an object or, if it holds a type that
// Protobuf lacks, from that type's form in JSON.
func setJSONMessage(message protoreflect.Message, field protoreflect.FieldDescriptor, member *jsonTree) error {
	if inner := wrappedField(message.Descriptor()); inner != nil {
		value, err := jsonToProtobuf(inner, inner.Default(), member)
		if err == nil {
			message.Set(inner, value)
		}
		return err
	}
	op := wellKnown[message.Descriptor().FullName()]
	if op == opSkip || member.kind == '{' {
		return setJSONMembers(message, member)
	}
	text, _ := member.scalar()
	var encoded []byte
	if op == opDecimal {
		value, t, err := jsonDecimal(text, field)
		if err != nil {
			return fmt.Errorf("%s: %w", shown(member.raw), err)
		}
		encoded = appendDecimalMessage(nil, value, t)
	} else {
		value, err := wholeNumber(text)
		if err != nil || op == opTime && (value < 0 || value > maxMillisOfDay) || op == opDate && (value < -maxDay || value > maxDay) {
			return fmt.Errorf("%s is no %s", shown(member.raw), message.Descriptor().FullName())
		}
		encoded = appendTimeMessage(nil, op, value)
	}
	return proto.Unmarshal(encoded, message.Interface())
}

// jsonDecimal reads a number as the DECIMAL that a field's options describe.
func jsonDecimal(text string, field protoreflect.FieldDescriptor) (types.Decimal, *types.Type, error) {
	precision, scale, ok := decimalMeta(metaField(field))
	if !ok {
		precision = types.MaxPrecision
		if dot := strings.IndexByte(text, '.'); dot >= 0 {
			scale = len(strings.TrimRight(text[dot+1:], "0"))
		}
	}
	t := types.DecimalOf(precision, min(scale, precision))
	value, err := types.ParseDecimal(text, t)
	return value, t, err
}

// metaField is the field whose options describe a value: of a map field's value
// the map field.
func metaField(field protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	entry := field.ContainingMessage()
	outer, nested := entry.Parent().(protoreflect.MessageDescriptor)
	if !entry.IsMapEntry() || !nested {
		return field
	}
	for i := range outer.Fields().Len() {
		if candidate := outer.Fields().Get(i); candidate.IsMap() && candidate.Message().FullName() == entry.FullName() {
			return candidate
		}
	}
	return field
}

// ToJSON implements Transcoder.
func (p *protobufTranscoder) ToJSON(dst, payload []byte) ([]byte, error) {
	descriptor, encoded := p.message, payload
	if p.format.registered {
		var err error
		if descriptor, encoded, err = p.open(payload); err != nil {
			return dst, err
		}
	}
	message := dynamicpb.NewMessage(descriptor)
	if err := unmarshalProtobuf(encoded, message); err != nil {
		return dst, err
	}
	return appendJSONMembers(dst, message, true)
}

// errUnmarshal says that Google's library cannot read a message that may be valid.
var errUnmarshal = errors.New("the message cannot be shown")

// unmarshalProtobuf reads a message of a topic. Google's library panics on some
// whose map entries have a key of a wrong kind, and only it could tell which ones.
// PRINT and replays, which call this, run in no task that could fail alone, so the
// panic has to end here; what it leaves of the message is not used.
func unmarshalProtobuf(encoded []byte, message proto.Message) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: %v", errUnmarshal, fault)
		}
	}()
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(encoded, message); err != nil {
		return fmt.Errorf("the message is not valid: %w", err)
	}
	return nil
}

// open finds a payload's message and what encodes it.
func (p *protobufTranscoder) open(payload []byte) (protoreflect.MessageDescriptor, []byte, error) {
	id, size, err := protobufHeader(payload)
	if err != nil {
		return nil, nil, err
	}
	path, encoded := payload[schemaHeader:size], payload[size:]
	if descriptor, ok := p.read.find(id, path); ok {
		return descriptor, encoded, nil
	}
	finder := protobufDecoder{spec: p.spec}
	schema, err := finder.schema(id)
	if err != nil && id == p.spec.SchemaID {
		descriptor, err := messageAt(p.message.ParentFile(), pathNumbers(path))
		return descriptor, encoded, err
	}
	if err != nil {
		return nil, nil, err
	}
	descriptor, err := messageOf(schema, path)
	if err != nil {
		return nil, nil, err
	}
	p.read.keep(id, path, descriptor, schema)
	return descriptor, encoded, nil
}

// appendJSONMembers appends a message with all its fields. In the outermost one,
// top, bytes that are empty are null: Protobuf has no other null for them.
func appendJSONMembers(dst []byte, message protoreflect.Message, top bool) ([]byte, error) {
	fields := message.Descriptor().Fields()
	dst = append(dst, '{')
	for i := range fields.Len() {
		field := fields.Get(i)
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONText(dst, string(field.Name())), ':')
		empty := top && field.Kind() == protoreflect.BytesKind && !field.IsList() && len(message.Get(field).Bytes()) == 0
		if empty || field.HasPresence() && !field.HasDefault() && !message.Has(field) {
			dst = append(dst, "null"...)
			continue
		}
		var err error
		if dst, err = appendProtobufJSON(dst, field, message.Get(field)); err != nil {
			return dst, fmt.Errorf("field %s: %w", field.Name(), err)
		}
	}
	return append(dst, '}'), nil
}

// appendProtobufJSON appends the value of a field.
func appendProtobufJSON(dst []byte, field protoreflect.FieldDescriptor, value protoreflect.Value) ([]byte, error) {
	if key, _ := mapFields(field); key != nil {
		return appendJSONEntries(dst, field, value)
	}
	if !field.IsList() {
		return appendSingleJSON(dst, field, value)
	}
	list := value.List()
	dst = append(dst, '[')
	for n := range list.Len() {
		if n > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendSingleJSON(dst, field, list.Get(n)); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendJSONEntries appends a map. Those declared as one have no order, so that
// they are sorted.
func appendJSONEntries(dst []byte, field protoreflect.FieldDescriptor, value protoreflect.Value) ([]byte, error) {
	key, element := mapFields(field)
	members := map[string][]byte{}
	var order []string
	var fault error
	add := func(keyValue, elementValue protoreflect.Value, present bool) {
		name := keyValue.String()
		member := []byte("null")
		if present {
			var err error
			if member, err = appendProtobufJSON(nil, element, elementValue); err != nil && fault == nil {
				fault = err
			}
		}
		if _, again := members[name]; !again {
			order = append(order, name)
		}
		members[name] = member
	}
	if field.IsMap() {
		value.Map().Range(func(keyValue protoreflect.MapKey, elementValue protoreflect.Value) bool {
			add(keyValue.Value(), elementValue, true)
			return true
		})
		slices.Sort(order)
	} else {
		for n := range value.List().Len() {
			entry := value.List().Get(n).Message()
			add(entry.Get(key), entry.Get(element), !element.HasPresence() || entry.Has(element))
		}
	}
	dst = append(dst, '{')
	for n, name := range order {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(appendJSONText(dst, name), ':'), members[name]...)
	}
	return append(dst, '}'), fault
}

func appendSingleJSON(dst []byte, field protoreflect.FieldDescriptor, value protoreflect.Value) ([]byte, error) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return appendJSONText(dst, value.String()), nil
	case protoreflect.BytesKind:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), value.Bytes())
		return append(dst, '"'), nil
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		number := value.Float()
		if math.IsNaN(number) || math.IsInf(number, 0) { // JSON has no number for them
			return append(types.AppendDouble(append(dst, '"'), number), '"'), nil
		}
		return types.AppendDouble(dst, number), nil
	case protoreflect.EnumKind:
		if named := field.Enum().Values().ByNumber(value.Enum()); named != nil {
			return appendJSONText(dst, string(named.Name())), nil
		}
		return appendJSONText(dst, strconv.Itoa(int(value.Enum()))), nil
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return appendMessageJSON(dst, value.Message())
	}
	return append(dst, value.String()...), nil
}

// appendMessageJSON appends a message, and those that hold a type which Protobuf
// lacks in that type's form.
func appendMessageJSON(dst []byte, message protoreflect.Message) ([]byte, error) {
	if inner := wrappedField(message.Descriptor()); inner != nil {
		return appendSingleJSON(dst, inner, message.Get(inner))
	}
	op := wellKnown[message.Descriptor().FullName()]
	if op == opSkip {
		return appendJSONMembers(dst, message, false)
	}
	encoded, err := proto.Marshal(message.Interface())
	if err != nil {
		return dst, err
	}
	t := map[protobufOp]*types.Type{opDate: types.Date, opTime: types.Time, opTimestamp: types.Timestamp}[op]
	if op == opDecimal {
		t = types.DecimalOf(types.MaxPrecision, decimalScale(message))
	}
	v := column.New(t, 1)
	d := protobufDecoder{}
	if !d.setMessage(encoded, &protobufField{op: op, target: t}, v, 0) {
		return dst, &RecordError{Path: d.fault.path, Reason: d.fault.reason}
	}
	return appendJSONValue(dst, v, nil, 0), nil
}

// decimalScale is the scale of a confluent.type.Decimal, within what DECIMAL has.
func decimalScale(message protoreflect.Message) int {
	field := message.Descriptor().Fields().ByName("scale")
	if field == nil || field.Kind() != protoreflect.Int32Kind {
		return 0
	}
	return int(min(max(message.Get(field).Int(), 0), types.MaxPrecision))
}
