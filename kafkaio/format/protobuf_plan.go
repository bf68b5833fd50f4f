package format

import (
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"millrace/exec/column"
	"millrace/sql/types"
)

// protobufForm is how a number or boolean stands on the wire.
type protobufForm uint8

const (
	formBool protobufForm = iota
	formInt32
	formInt64
	formUint32
	formUint64
	formSint32
	formSint64
	formFloat
	formDouble
	formEnum
)

// protobufForms are the forms of kinds and how these are put on the wire.
var protobufForms = map[protoreflect.Kind]struct {
	form protobufForm
	wire protowire.Type
}{
	protoreflect.BoolKind:     {formBool, protowire.VarintType},
	protoreflect.EnumKind:     {formEnum, protowire.VarintType},
	protoreflect.Int32Kind:    {formInt32, protowire.VarintType},
	protoreflect.Sint32Kind:   {formSint32, protowire.VarintType},
	protoreflect.Uint32Kind:   {formUint32, protowire.VarintType},
	protoreflect.Int64Kind:    {formInt64, protowire.VarintType},
	protoreflect.Sint64Kind:   {formSint64, protowire.VarintType},
	protoreflect.Uint64Kind:   {formUint64, protowire.VarintType},
	protoreflect.Sfixed32Kind: {formInt32, protowire.Fixed32Type},
	protoreflect.Fixed32Kind:  {formUint32, protowire.Fixed32Type},
	protoreflect.FloatKind:    {formFloat, protowire.Fixed32Type},
	protoreflect.Sfixed64Kind: {formInt64, protowire.Fixed64Type},
	protoreflect.Fixed64Kind:  {formUint64, protowire.Fixed64Type},
	protoreflect.DoubleKind:   {formDouble, protowire.Fixed64Type},
}

// protobufOp is what is done with one value of a field.
type protobufOp uint8

const (
	opSkip   protobufOp = iota // no one wants it
	opWhole                    // a number that Ints hold
	opBool                     // to a BOOLEAN
	opFloat                    // to a DOUBLE
	opDouble                   // to a DOUBLE
	opNumber                   // any other pair of number and type
	opText
	opBytes
	opDecimal
	opDate
	opTime
	opTimestamp
	opWrapper // a message whose only field is the value
	opMessage // to a STRUCT
)

// protobufField says how a field of a message is read into a column.
type protobufField struct {
	name     string // the column's
	number   protowire.Number
	column   int // -1: none
	wire     protowire.Type
	op       protobufOp
	form     protobufForm
	list     bool
	entry    *protobufEntryPlan // of a map
	group    bool
	target   *types.Type // of a value, or of an element
	low      int64       // opWhole: the range of the target
	high     int64
	inner    *protobufField   // opWrapper
	preset   *column.Vector   // of inner, one row: the value of an empty wrapper
	message  *protobufMessage // opMessage
	enum     map[int32]string // formEnum
	siblings []int            // the columns of the other members of the oneof
	// plain says that the value is a text that goes straight to its column.
	plain bool
	// seen is the field's bit among those whose column has a late preset.
	seen uint64
}

// protobufEntryPlan says how the entries of a map are read. The fields after
// message belong to the map that is being read.
type protobufEntryPlan struct {
	key     *protobufField // a field of the entry
	text    *column.Vector // one row: the key that was read
	preset  *column.Vector // one row: the key of an entry without one
	message *protobufMessage
	value   *protobufField
	// fill says that a missing message stands for an empty one, as in map fields.
	fill    bool
	entries mapEntries
}

// protobufMessage says how a message is read into columns.
//
// Columns that a payload may fill piece by piece are set before it is read, the
// others behind it where their field was missing.
type protobufMessage struct {
	dense  []*protobufField // by number
	sparse map[protowire.Number]*protobufField
	early  []protobufPreset
	late   []protobufPreset
	all    uint64 // the bits of late[0], late[1], ..
}

// protobufPreset is what a column is if its field is not in the payload.
type protobufPreset struct {
	column int
	empty  bool           // an ARRAY or MAP without elements; else:
	value  *column.Vector // one row; nil: null
}

// maxLatePresets is how many columns have a bit.
const maxLatePresets = 64

// preset adds the preset of a column, whose field may be nil: it is not in the
// schema.
func (m *protobufMessage) preset(field *protobufField, preset protobufPreset) {
	if preset.empty || field != nil && (field.op == opMessage || field.op == opWrapper) || len(m.late) == maxLatePresets {
		m.early = append(m.early, preset)
		return
	}
	bit := uint64(1) << len(m.late)
	m.late = append(m.late, preset)
	m.all |= bit
	if field != nil {
		field.seen = bit
	}
}

// maxDenseNumber is the highest field number that is looked up by index.
const maxDenseNumber = 255

func (m *protobufMessage) field(number uint64) *protobufField {
	if number < uint64(len(m.dense)) {
		return m.dense[number]
	}
	if m.sparse == nil || number > math.MaxInt32 {
		return nil
	}
	return m.sparse[protowire.Number(number)]
}

func (m *protobufMessage) put(number protowire.Number, field *protobufField) {
	if number > maxDenseNumber {
		if m.sparse == nil {
			m.sparse = map[protowire.Number]*protobufField{}
		}
		m.sparse[number] = field
		return
	}
	for len(m.dense) <= int(number) {
		m.dense = append(m.dense, nil)
	}
	m.dense[number] = field
}

// matchFields finds the field of each name: the one called exactly so, else one
// whose name differs in case only and that no other name took; nil if none.
func matchFields(message protoreflect.MessageDescriptor, names []string) []protoreflect.FieldDescriptor {
	found := make([]protoreflect.FieldDescriptor, len(names))
	taken := make(map[protoreflect.Name]bool, len(names))
	folded := map[string][]protoreflect.FieldDescriptor{}
	all := message.Fields()
	for i := range all.Len() {
		name := strings.ToLower(string(all.Get(i).Name()))
		folded[name] = append(folded[name], all.Get(i))
	}
	for i, name := range names {
		if field := all.ByName(protoreflect.Name(name)); field != nil && !taken[field.Name()] {
			found[i] = field
			taken[field.Name()] = true
		}
	}
	for i, name := range names {
		if found[i] != nil {
			continue
		}
		for _, field := range folded[strings.ToLower(name)] {
			if !taken[field.Name()] {
				found[i] = field
				taken[field.Name()] = true
				break
			}
		}
	}
	return found
}

// newProtobufMessage compiles the reading of a message into fields. The error
// is a *RecordError: a field that is wanted has a type in the schema that its
// column cannot take.
func newProtobufMessage(
	message protoreflect.MessageDescriptor, fields []types.Field, wanted []bool,
) (*protobufMessage, error) {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	m := &protobufMessage{}
	matched := matchFields(message, names)
	for i, field := range fields {
		if wanted != nil && !wanted[i] {
			continue
		}
		if matched[i] == nil {
			m.preset(nil, protobufPreset{column: i})
			continue
		}
		if err := m.add(i, field, matched[i]); err != nil {
			return nil, inField(field.Name, err)
		}
	}
	m.linkOneofs(message)
	return m, nil
}

// inField puts a name before the path of an error.
func inField(name string, err error) error {
	fault, ok := err.(*RecordError)
	if !ok {
		return err
	}
	if fault.Path != "" && fault.Path[0] != '[' {
		name += "->"
	}
	return &RecordError{Path: name + fault.Path, Reason: fault.Reason}
}

func (m *protobufMessage) add(i int, column types.Field, descriptor protoreflect.FieldDescriptor) error {
	field, err := newProtobufField(column.Type, descriptor)
	if err != nil {
		return err
	}
	field.name, field.column = column.Name, i
	m.put(descriptor.Number(), field)
	preset := protobufPreset{column: i, empty: field.list || field.entry != nil}
	if !preset.empty && (!descriptor.HasPresence() || descriptor.HasDefault() && descriptor.ContainingOneof() == nil) {
		if preset.value, err = presetOf(field, descriptor); err != nil {
			return err
		}
	}
	m.preset(field, preset)
	field.plain = field.op == opText && !field.list && field.entry == nil
	return nil
}

// linkOneofs lets each member of a oneof clear the columns of the others.
func (m *protobufMessage) linkOneofs(message protoreflect.MessageDescriptor) {
	groups := message.Oneofs()
	for g := range groups.Len() {
		members := groups.Get(g).Fields()
		for i := range members.Len() {
			var siblings []int
			for k := range members.Len() {
				if other := m.field(uint64(members.Get(k).Number())); k != i && other != nil && other.column >= 0 {
					siblings = append(siblings, other.column)
				}
			}
			if len(siblings) == 0 {
				continue
			}
			number := members.Get(i).Number()
			field := m.field(uint64(number))
			if field == nil {
				field = &protobufField{number: number, column: -1, wire: wireOf(members.Get(i))}
				m.put(number, field)
			}
			field.siblings, field.plain = siblings, false
		}
	}
}

func wireOf(field protoreflect.FieldDescriptor) protowire.Type {
	if form, ok := protobufForms[field.Kind()]; ok {
		return form.wire
	}
	if field.Kind() == protoreflect.GroupKind {
		return protowire.StartGroupType
	}
	return protowire.BytesType
}

// newProtobufField compiles the reading of a field into a column of type t.
func newProtobufField(t *types.Type, descriptor protoreflect.FieldDescriptor) (*protobufField, error) {
	repeated := descriptor.Cardinality() == protoreflect.Repeated
	switch {
	case repeated && t.Kind == types.KindArray:
		field, err := newProtobufValue(t.Elem, descriptor)
		if err != nil {
			return nil, inField("[]", err)
		}
		field.list = true
		return field, nil
	case repeated && t.Kind == types.KindMap:
		if key, value := mapFields(descriptor); key != nil {
			return newProtobufMap(t, descriptor, key, value)
		}
	case !repeated:
		return newProtobufValue(t, descriptor)
	}
	return nil, unreadable(t, descriptor)
}

// unreadable says that a column cannot take what the schema has.
func unreadable(t *types.Type, descriptor protoreflect.FieldDescriptor) error {
	shown := descriptor.Kind().String()
	if message := descriptor.Message(); message != nil {
		shown = string(message.FullName())
	}
	if descriptor.Cardinality() == protoreflect.Repeated {
		shown = "repeated " + shown
	}
	return &RecordError{Reason: fmt.Sprintf("the schema's type %s is no %s", shown, t)}
}

func newProtobufMap(t *types.Type, descriptor, key, value protoreflect.FieldDescriptor) (*protobufField, error) {
	plan := &protobufEntryPlan{text: column.New(types.String, 1), message: &protobufMessage{}}
	var err error
	if t.Key.Kind != types.KindString {
		return nil, unreadable(t, descriptor)
	}
	if plan.key, err = newProtobufValue(t.Key, key); err != nil {
		return nil, inField("KEY", err)
	}
	if plan.preset, err = presetOf(plan.key, key); err != nil {
		return nil, err
	}
	if err = plan.message.add(0, types.Field{Type: t.Elem}, value); err != nil {
		return nil, inField("[]", err)
	}
	plan.value = plan.message.field(uint64(value.Number()))
	plan.fill = descriptor.IsMap() && value.Message() != nil
	if descriptor.IsMap() && value.Message() == nil {
		if plan.message.late[0].value, err = presetOf(plan.value, value); err != nil {
			return nil, inField("[]", err)
		}
	}
	return &protobufField{
		number: descriptor.Number(), entry: plan, wire: wireOf(descriptor), group: descriptor.Kind() == protoreflect.GroupKind,
	}, nil
}

// newProtobufValue compiles the reading of one value of a field into a type.
func newProtobufValue(t *types.Type, descriptor protoreflect.FieldDescriptor) (*protobufField, error) {
	field := &protobufField{
		number: descriptor.Number(), target: t, wire: wireOf(descriptor), group: descriptor.Kind() == protoreflect.GroupKind,
	}
	ok := false
	switch descriptor.Kind() {
	case protoreflect.StringKind:
		field.op, ok = opText, t.Kind == types.KindString
	case protoreflect.BytesKind:
		field.op, ok = opBytes, t.Kind == types.KindBytes
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return field, field.readMessage(t, descriptor)
	default:
		field.form = protobufForms[descriptor.Kind()].form
		ok = field.readNumber(t, descriptor)
	}
	if !ok {
		return nil, unreadable(t, descriptor)
	}
	return field, nil
}

// readNumber chooses how a number is read, if it can be.
func (f *protobufField) readNumber(t *types.Type, descriptor protoreflect.FieldDescriptor) bool {
	f.op = opNumber
	if f.form == formEnum {
		values := descriptor.Enum().Values()
		f.enum = make(map[int32]string, values.Len())
		for i := range values.Len() {
			if _, alias := f.enum[int32(values.Get(i).Number())]; !alias {
				f.enum[int32(values.Get(i).Number())] = string(values.Get(i).Name())
			}
		}
		return t.Kind == types.KindString
	}
	whole := f.form != formBool && f.form != formFloat && f.form != formDouble
	switch t.Kind {
	case types.KindString:
		return true
	case types.KindBoolean:
		f.op = opBool
		return f.form == formBool
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		f.op = opWhole
		f.low, f.high = wholeRange(t.Kind)
		return whole
	case types.KindDouble:
		switch f.form {
		case formFloat:
			f.op = opFloat
		case formDouble:
			f.op = opDouble
		}
		return f.form != formBool
	case types.KindDecimal:
		return whole
	}
	return false
}

// wellKnown are the messages that hold types which Protobuf lacks.
var wellKnown = map[protoreflect.FullName]protobufOp{
	decimalMessage:   opDecimal,
	dateMessage:      opDate,
	timeMessage:      opTime,
	timestampMessage: opTimestamp,
}

var wellKnownKinds = map[protobufOp]types.Kind{
	opDecimal:   types.KindDecimal,
	opDate:      types.KindDate,
	opTime:      types.KindTime,
	opTimestamp: types.KindTimestamp,
}

func (f *protobufField) readMessage(t *types.Type, descriptor protoreflect.FieldDescriptor) error {
	message := descriptor.Message()
	if t.Kind == types.KindStruct {
		var err error
		f.op = opMessage
		f.message, err = newProtobufMessage(message, t.Fields, nil)
		return err
	}
	if value := wrappedField(message); value != nil {
		inner, err := newProtobufValue(t, value)
		if err != nil {
			return unreadable(t, descriptor)
		}
		f.op, f.inner = opWrapper, inner
		inner.preset, err = presetOf(inner, value)
		return err
	}
	if op := wellKnown[message.FullName()]; op != opSkip && wellKnownKinds[op] == t.Kind {
		f.op = op
		return nil
	}
	return unreadable(t, descriptor)
}

// presetOf is the value of a field that is not in a payload, as one row.
func presetOf(field *protobufField, descriptor protoreflect.FieldDescriptor) (*column.Vector, error) {
	v := column.New(field.target, 1)
	d := protobufDecoder{arena: &column.Arena{}}
	if d.value(appendDefault(nil, descriptor), 0, field, v, 0) < 0 {
		return nil, &RecordError{Reason: d.fault.reason}
	}
	return v, nil
}

// appendDefault appends the default of a field that is no message, without its
// tag.
func appendDefault(dst []byte, descriptor protoreflect.FieldDescriptor) []byte {
	value := descriptor.Default()
	switch descriptor.Kind() {
	case protoreflect.BoolKind:
		return protowire.AppendVarint(dst, protowire.EncodeBool(value.Bool()))
	case protoreflect.EnumKind:
		return protowire.AppendVarint(dst, uint64(int64(value.Enum())))
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return protowire.AppendVarint(dst, uint64(value.Int()))
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return protowire.AppendVarint(dst, protowire.EncodeZigZag(value.Int()))
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return protowire.AppendVarint(dst, value.Uint())
	case protoreflect.Sfixed32Kind:
		return protowire.AppendFixed32(dst, uint32(value.Int()))
	case protoreflect.Fixed32Kind:
		return protowire.AppendFixed32(dst, uint32(value.Uint()))
	case protoreflect.FloatKind:
		return protowire.AppendFixed32(dst, math.Float32bits(float32(value.Float())))
	case protoreflect.Sfixed64Kind:
		return protowire.AppendFixed64(dst, uint64(value.Int()))
	case protoreflect.Fixed64Kind:
		return protowire.AppendFixed64(dst, value.Uint())
	case protoreflect.DoubleKind:
		return protowire.AppendFixed64(dst, math.Float64bits(value.Float()))
	case protoreflect.StringKind:
		return protowire.AppendString(dst, value.String())
	}
	return protowire.AppendBytes(dst, value.Bytes())
}
