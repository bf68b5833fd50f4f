package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"millrace/exec/column"
	"millrace/sql/types"
)

// NewEncoder makes an encoder that writes the first fields of the spec's
// message. Where that cannot be, each row fails.
func (f protobufFormat) NewEncoder(spec Spec, fields []Field) Encoder {
	e := &protobufEncoder{}
	message, err := f.messageFor(spec, false, fields)
	if err != nil {
		e.err = err
		return e
	}
	if f.registered {
		e.header = appendProtobufHeader(nil, spec.SchemaID, message)
	}
	e.layout, e.err = newProtobufLayout(message, structFields(fields))
	return e
}

// appendProtobufHeader appends what stands before a message in the registry's
// layout.
func appendProtobufHeader(dst []byte, id int32, message protoreflect.MessageDescriptor) []byte {
	return appendMessagePath(appendSchemaHeader(dst, id), messagePath(message))
}

// protobufEncoder writes rows as messages. Fields without presence are left out
// where they have their default, which null is too.
type protobufEncoder struct {
	header []byte
	layout []protobufPart
	err    error // of every row
	fault  error // of the row that is written
}

// protobufPart says how a column is written as a field.
type protobufPart struct {
	name     string
	number   protowire.Number
	tag      uint64
	op       protobufOp
	form     protobufForm
	wire     protowire.Type
	presence bool // also a default is written; null is left out
	required bool
	list     bool
	packed   bool
	mapping  bool
	group    bool
	inner    []protobufPart // of a message; of a wrapper its field; of a map's entry key and value
	numbers  map[string]int32
	zero     string // of an enum: the name of the default
	oneof    uint64 // the bit of the oneof it is a member of
}

// newProtobufLayout compiles the writing of columns as a message's fields.
func newProtobufLayout(message protoreflect.MessageDescriptor, fields []types.Field) ([]protobufPart, error) {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	layout := make([]protobufPart, len(fields))
	filled := make(map[protoreflect.Name]bool, len(fields))
	for i, descriptor := range matchFields(message, names) {
		if descriptor == nil {
			return nil, fmt.Errorf("message %s has no field for column %s", message.FullName(), types.QuoteName(names[i]))
		}
		filled[descriptor.Name()] = true
		part, err := newProtobufPart(fields[i].Type, descriptor)
		if err != nil {
			return nil, err
		}
		part.name = names[i]
		layout[i] = part
	}
	all := message.Fields()
	for i := range all.Len() {
		if member := all.Get(i); member.Cardinality() == protoreflect.Required && !filled[member.Name()] {
			return nil, fmt.Errorf("field %s: %w", member.FullName(), ErrIncomplete)
		}
	}
	return layout, nil
}

func newProtobufPart(t *types.Type, descriptor protoreflect.FieldDescriptor) (protobufPart, error) {
	repeated := descriptor.Cardinality() == protoreflect.Repeated
	if !repeated {
		return newProtobufSingle(t, descriptor)
	}
	if t.Kind == types.KindArray {
		part, err := newProtobufSingle(t.Elem, descriptor)
		part.list, part.packed = true, descriptor.IsPacked()
		if part.packed {
			part.tag = tagOf(descriptor.Number(), protowire.BytesType)
		}
		return part, err
	}
	key, value := mapFields(descriptor)
	if t.Kind != types.KindMap || key == nil || key.Kind() != protoreflect.StringKind || t.Key.Kind != types.KindString {
		return protobufPart{}, unwritable(t, descriptor)
	}
	part := protobufPart{
		number: descriptor.Number(), mapping: true, group: descriptor.Kind() == protoreflect.GroupKind,
		tag: tagOf(descriptor.Number(), wireOf(descriptor)),
	}
	keyPart, err := newProtobufPart(t.Key, key)
	if err != nil {
		return part, err
	}
	valuePart, err := newProtobufPart(t.Elem, value)
	// Readers of maps expect both, so that defaults are written as well.
	keyPart.presence, valuePart.presence = true, !valuePart.list && !valuePart.mapping
	part.inner = []protobufPart{keyPart, valuePart}
	return part, err
}

func tagOf(number protowire.Number, wire protowire.Type) uint64 {
	return protowire.EncodeTag(number, wire)
}

func unwritable(t *types.Type, descriptor protoreflect.FieldDescriptor) error {
	return fmt.Errorf("a column of type %s cannot be written as field %s, which is %s", t, descriptor.FullName(), descriptor.Kind())
}

// newProtobufSingle compiles the writing of one value. What can be read into a
// type can be written from it, but for numbers as text and as DECIMAL.
func newProtobufSingle(t *types.Type, descriptor protoreflect.FieldDescriptor) (protobufPart, error) {
	part := protobufPart{
		number: descriptor.Number(), wire: wireOf(descriptor),
		presence: descriptor.HasPresence(), required: descriptor.Cardinality() == protoreflect.Required,
		group: descriptor.Kind() == protoreflect.GroupKind,
	}
	part.tag = tagOf(part.number, part.wire)
	if oneof := descriptor.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
		part.oneof = 1 << (oneof.Index() % 64)
	}
	reading, err := newProtobufValue(t, descriptor)
	if err != nil {
		return part, unwritable(t, descriptor)
	}
	part.op, part.form = reading.op, reading.form
	switch part.op {
	case opMessage:
		part.inner, err = newProtobufLayout(descriptor.Message(), t.Fields)
	case opWrapper:
		var inner protobufPart
		inner, err = newProtobufSingle(t, wrappedField(descriptor.Message()))
		inner.presence = false
		part.inner = []protobufPart{inner}
	case opNumber:
		if t.Kind == types.KindDouble || t.Kind == types.KindDecimal || t.Kind == types.KindString && part.form != formEnum {
			return part, unwritable(t, descriptor)
		}
		values := descriptor.Enum().Values()
		part.numbers = make(map[string]int32, values.Len())
		for i := range values.Len() {
			part.numbers[string(values.Get(i).Name())] = int32(values.Get(i).Number())
		}
		part.zero = reading.enum[0]
	}
	return part, err
}

func (e *protobufEncoder) Append(dst []byte, columns []*column.Vector, i int) ([]byte, bool, error) {
	if e.err != nil {
		return dst, false, e.err
	}
	e.fault = nil
	out := e.message(append(dst, e.header...), e.layout, columns, i)
	if e.fault != nil {
		return dst, false, e.fault
	}
	return out, false, nil
}

func (e *protobufEncoder) message(dst []byte, layout []protobufPart, columns []*column.Vector, i int) []byte {
	var set uint64 // the oneofs that have a value
	for c := range layout {
		part, v := &layout[c], columns[c]
		if v.Null(i) {
			if part.required {
				e.fail(part, "the schema requires a value")
			}
			continue
		}
		if set&part.oneof != 0 {
			e.fail(part, "the schema allows only one of this field and another that has a value too")
		}
		set |= part.oneof
		switch {
		case part.op == opText && !part.list && !part.mapping:
			if text := v.Texts[i]; text != "" || part.presence {
				dst = append(appendSmall(appendSmall(dst, part.tag), uint64(len(text))), text...)
			}
		case part.list:
			dst = e.list(dst, part, v, i)
		case part.mapping:
			dst = e.mapping(dst, part, v, i)
		case part.presence || !isDefault(part, v, i):
			dst = e.tagged(dst, part, v, i)
		}
	}
	return dst
}

func (e *protobufEncoder) fail(part *protobufPart, reason string) {
	if e.fault == nil {
		e.fault = fmt.Errorf("column %s: %s", types.QuoteName(part.name), reason)
	}
}

// isDefault tells whether the value of a field without presence is its default.
func isDefault(part *protobufPart, v *column.Vector, i int) bool {
	switch part.op {
	case opWhole:
		return v.Ints[i] == 0
	case opBool:
		return !v.Bools[i]
	case opFloat, opDouble:
		return math.Float64bits(v.Doubles[i]) == 0
	case opText, opBytes:
		return v.Texts[i] == ""
	case opNumber:
		return v.Texts[i] == part.zero
	}
	return false
}

// appendSmall appends a varint that is mostly one byte.
func appendSmall(dst []byte, value uint64) []byte {
	if value < 0x80 {
		return append(dst, byte(value))
	}
	return protowire.AppendVarint(dst, value)
}

// tagged appends a field's tag and value.
func (e *protobufEncoder) tagged(dst []byte, part *protobufPart, v *column.Vector, i int) []byte {
	dst = e.value(appendSmall(dst, part.tag), part, v, i)
	if part.group {
		dst = protowire.AppendVarint(dst, tagOf(part.number, protowire.EndGroupType))
	}
	return dst
}

// list appends an ARRAY. Repeated fields have no nulls: a null element is the
// default of its type.
func (e *protobufEncoder) list(dst []byte, part *protobufPart, v *column.Vector, i int) []byte {
	span, elements := v.Spans[i], v.Children[0]
	if span.Len == 0 {
		return dst
	}
	if !part.packed {
		for at := int(span.Start); at < int(span.Start+span.Len); at++ {
			dst = e.tagged(dst, part, elements, at)
		}
		return dst
	}
	dst = append(appendSmall(dst, part.tag), 0)
	start := len(dst)
	for at := int(span.Start); at < int(span.Start+span.Len); at++ {
		dst = e.value(dst, part, elements, at)
	}
	return closeContent(dst, start)
}

// mapping appends the entries of a MAP. A key is never null: as in JSON it is
// then the text null.
func (e *protobufEncoder) mapping(dst []byte, part *protobufPart, v *column.Vector, i int) []byte {
	span, keys := v.Spans[i], v.Children[0]
	for at := int(span.Start); at < int(span.Start+span.Len); at++ {
		dst = appendSmall(dst, part.tag)
		start := len(dst) + 1
		if !part.group {
			dst = append(dst, 0)
		}
		key := "null"
		if !keys.Null(at) {
			key = keys.Texts[at]
		}
		dst = append(appendSmall(appendSmall(dst, part.inner[0].tag), uint64(len(key))), key...)
		dst = e.message(dst, part.inner[1:], v.Children[1:], at)
		if part.group {
			dst = protowire.AppendVarint(dst, tagOf(part.number, protowire.EndGroupType))
		} else {
			dst = closeContent(dst, start)
		}
	}
	return dst
}

// closeContent sets the length of the content from start on, for which one byte
// is free before it.
func closeContent(dst []byte, start int) []byte {
	n := len(dst) - start
	if n < 0x80 {
		dst[start-1] = byte(n)
		return dst
	}
	more := protowire.SizeVarint(uint64(n)) - 1
	dst = append(dst, "\x00\x00\x00\x00\x00\x00\x00\x00\x00"[:more]...)
	copy(dst[start+more:], dst[start:start+n])
	binary.PutUvarint(dst[start-1:], uint64(n))
	return dst
}

// value appends a value without its tag. Null is the default.
func (e *protobufEncoder) value(dst []byte, part *protobufPart, v *column.Vector, i int) []byte {
	if v.Null(i) {
		return appendZero(dst, part)
	}
	switch part.op {
	case opText, opBytes:
		return append(appendSmall(dst, uint64(len(v.Texts[i]))), v.Texts[i]...)
	case opWhole:
		return e.whole(dst, part, v.Ints[i])
	case opBool:
		return append(dst, byte(protowire.EncodeBool(v.Bools[i])))
	case opFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Doubles[i])))
	case opDouble:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Doubles[i]))
	case opNumber:
		return e.enum(dst, part, v.Texts[i])
	}
	if part.group {
		return e.message(dst, part.inner, v.Children, i)
	}
	dst = append(dst, 0)
	start := len(dst)
	switch part.op {
	case opMessage:
		dst = e.message(dst, part.inner, v.Children, i)
	case opWrapper:
		if inner := &part.inner[0]; !isDefault(inner, v, i) {
			dst = e.tagged(dst, inner, v, i)
		}
	case opDecimal:
		dst = appendDecimalMessage(dst, v.Decimals[i], v.Type)
	default:
		dst = appendTimeMessage(dst, part.op, v.Ints[i])
	}
	return closeContent(dst, start)
}

// appendZero appends the default of a value. An empty message ends with its
// group, if it is one.
func appendZero(dst []byte, part *protobufPart) []byte {
	switch part.wire {
	case protowire.Fixed32Type:
		return append(dst, 0, 0, 0, 0)
	case protowire.Fixed64Type:
		return append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	case protowire.StartGroupType:
		return dst
	}
	return append(dst, 0)
}

func (e *protobufEncoder) whole(dst []byte, part *protobufPart, value int64) []byte {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	switch part.form {
	case formInt32, formSint32:
		low, high = math.MinInt32, math.MaxInt32
	case formUint32:
		low, high = 0, math.MaxUint32
	}
	if value < low || value > high {
		e.fail(part, strconv.FormatInt(value, 10)+" is out of the range of the schema's type")
	}
	raw := uint64(value)
	switch {
	case part.form == formSint32 || part.form == formSint64:
		raw = protowire.EncodeZigZag(value)
	case part.wire == protowire.Fixed32Type:
		return binary.LittleEndian.AppendUint32(dst, uint32(raw))
	case part.wire == protowire.Fixed64Type:
		return binary.LittleEndian.AppendUint64(dst, raw)
	}
	return appendSmall(dst, raw)
}

// enum appends the number of a name, or of a text that is a number, as those
// without a name are read.
func (e *protobufEncoder) enum(dst []byte, part *protobufPart, name string) []byte {
	number, ok := part.numbers[name]
	if !ok {
		parsed, err := strconv.ParseInt(name, 10, 32)
		if err != nil {
			e.fail(part, strconv.Quote(clip(name))+" is no value of the schema's enum")
		}
		number = int32(parsed)
	}
	return protowire.AppendVarint(dst, uint64(int64(number)))
}

// appendDecimalMessage appends the fields of a confluent.type.Decimal: the
// unscaled value in two's complement with no more bytes than it needs, and the
// precision and scale of the type.
func appendDecimalMessage(dst []byte, value types.Decimal, t *types.Type) []byte {
	dst = append(dst, 1<<3|byte(protowire.BytesType), 0)
	start := len(dst)
	dst = appendDecimalBytes(dst, value)
	dst[start-1] = byte(len(dst) - start)
	dst = append(dst, 2<<3, byte(t.Precision))
	if t.Scale > 0 {
		dst = append(dst, 3<<3, byte(t.Scale))
	}
	return dst
}

// appendTimeMessage appends the fields of the message that holds a DATE, TIME or
// TIMESTAMP.
func appendTimeMessage(dst []byte, op protobufOp, value int64) []byte {
	switch op {
	case opDate:
		year, month, day := time.Unix(value*86400, 0).UTC().Date()
		return appendParts(dst, int64(year), int64(month), int64(day))
	case opTime:
		seconds := value / 1000
		return appendParts(dst, seconds/3600, seconds/60%60, seconds%60, value%1000*1e6)
	}
	seconds, millis := value/1000, value%1000
	if millis < 0 {
		seconds, millis = seconds-1, millis+1000
	}
	return appendParts(dst, seconds, millis*1e6)
}

// appendParts appends numbers as the fields 1, 2, .. of a message; 0 is left out.
func appendParts(dst []byte, parts ...int64) []byte {
	for k, part := range parts {
		if part != 0 {
			dst = protowire.AppendVarint(append(dst, byte(k+1)<<3), uint64(part))
		}
	}
	return dst
}
