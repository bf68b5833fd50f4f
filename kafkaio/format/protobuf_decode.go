package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
)

// NewDecoder makes a decoder that compiles the reading of a message when a
// payload first names it.
func (f protobufFormat) NewDecoder(spec Spec, fields []Field, wanted []bool) Decoder {
	d := &protobufDecoder{format: f, spec: spec, fields: fields, wanted: wanted}
	if !f.registered {
		d.last = d.compile(f.messageFor(spec, false, fields))
	}
	return d
}

// protobufProgram is a compiled message, or why it cannot be read.
type protobufProgram struct {
	message *protobufMessage
	err     error
}

// protobufDecoder reads messages in one pass, straight into vectors. Fields that
// no one wants are skipped.
//
// Its methods take a message b and an offset i into it and return the offset
// behind what they read, or -1 with the fault in d.fault.
type protobufDecoder struct {
	format   protobufFormat
	spec     Spec
	fields   []Field
	wanted   []bool
	programs protobufWriters[*protobufProgram]
	lastID   int32
	last     *protobufProgram // of lastID and its first message

	arena       *column.Arena
	fault       protobufFault
	unavailable error // of this batch
}

// protobufFault is the first fault of a payload.
type protobufFault struct{ path, reason string }

func (d *protobufDecoder) Decode(
	payloads [][]byte, rows []int32, out []*column.Vector, arena *column.Arena, bad func(int32, error),
) {
	d.arena, d.unavailable = arena, nil
	for _, row := range rows {
		b := payloads[row]
		program := d.last
		if d.format.registered {
			if len(b) > schemaHeader && program != nil && b[0] == 0 && b[schemaHeader] == 0 &&
				d.lastID == int32(binary.BigEndian.Uint32(b[1:])) {
				b = b[schemaHeader+1:]
			} else {
				program, b = d.program(b)
			}
		}
		if program.err != nil {
			bad(row, program.err)
			continue
		}
		if !d.fresh(b, program.message, out, int(row)) {
			bad(row, &RecordError{Path: d.fault.path, Reason: d.fault.reason})
		}
	}
}

// program finds what reads a payload, and the message in it.
func (d *protobufDecoder) program(payload []byte) (*protobufProgram, []byte) {
	id, size, err := protobufHeader(payload)
	if err != nil {
		return &protobufProgram{err: err}, nil
	}
	path, rest := payload[schemaHeader:size], payload[size:]
	program, ok := d.programs.find(id, path)
	if !ok {
		if d.unavailable != nil {
			return &protobufProgram{err: d.unavailable}, nil
		}
		schema, err := d.schema(id)
		if err != nil {
			return &protobufProgram{err: err}, nil
		}
		program = d.compile(messageOf(schema, path))
		d.programs.keep(id, path, program, schema)
	}
	if len(path) == 1 {
		d.lastID, d.last = id, program
	}
	return program, rest
}

func (d *protobufDecoder) schema(id int32) (registry.Schema, error) {
	if d.spec.Schemas == nil {
		return registry.Schema{}, &RecordError{Reason: fmt.Sprintf("the payload has schema id %d, but there is no registry", id)}
	}
	schema, err := d.spec.Schemas.Schema(id)
	switch {
	case err == nil:
		return schema, nil
	case errors.Is(err, registry.ErrUnavailable):
		d.unavailable = fmt.Errorf("the schema of a payload: %w", err)
		return schema, d.unavailable
	case errors.Is(err, registry.ErrUnknown):
		return schema, &RecordError{Reason: fmt.Sprintf("the registry has no schema of id %d, which the payload has", id)}
	}
	return schema, &RecordError{Reason: err.Error()}
}

// compile makes the program of a message, or of why there is none.
func (d *protobufDecoder) compile(message protoreflect.MessageDescriptor, err error) *protobufProgram {
	if err != nil {
		return &protobufProgram{err: &RecordError{Reason: err.Error()}}
	}
	compiled, err := newProtobufMessage(message, structFields(d.fields), d.wanted)
	return &protobufProgram{message: compiled, err: err}
}

// fresh reads the whole of b into row of columns, which it sets all.
func (d *protobufDecoder) fresh(b []byte, m *protobufMessage, columns []*column.Vector, row int) bool {
	for k := range m.early {
		m.early[k].set(columns, row)
	}
	seen, ok := d.merge(b, m, columns, row)
	for missing := m.all &^ seen; missing != 0; missing &= missing - 1 {
		m.late[bits.TrailingZeros64(missing)].set(columns, row)
	}
	return ok
}

func (p *protobufPreset) set(columns []*column.Vector, row int) {
	v := columns[p.column]
	switch {
	case p.empty:
		v.SetSpan(row, 0, 0)
	case p.value == nil:
		v.SetNull(row)
	default:
		v.CopyRow(row, p.value, 0)
	}
}

// merge reads the fields of b into row of columns and tells which it saw.
// Those that are missing stay as they are, so that messages merge.
func (d *protobufDecoder) merge(b []byte, m *protobufMessage, columns []*column.Vector, row int) (seen uint64, ok bool) {
	for i := 0; i < len(b); {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = d.varint(b, i-1); i < 0 {
				return seen, false
			}
		}
		field := m.field(tag >> 3)
		wire := protowire.Type(tag & 7)
		switch {
		case field == nil || field.wire != wire && !(field.list && wire == protowire.BytesType && field.packable()):
			i = d.skip(b, i, tag)
		case field.plain:
			start, end := i+1, i+1
			if i < len(b) && b[i] < 0x80 && int(b[i]) <= len(b)-start {
				end += int(b[i])
			} else if start, end = d.content(b, i); end < 0 {
				d.within(field)
				return seen, false
			}
			if !isUTF8(b, start, end) {
				d.broken(brokenText)
				d.within(field)
				return seen, false
			}
			columns[field.column].SetText(row, column.View(b[start:end]))
			seen |= field.seen
			i = end
		default:
			if i = d.field(b, i, tag, field, columns, row); i < 0 {
				d.within(field)
			}
			seen |= field.seen
		}
		if i < 0 {
			return seen, false
		}
	}
	return seen, true
}

// field reads the field at i, its tag behind it, into row of its column.
func (d *protobufDecoder) field(b []byte, i int, tag uint64, field *protobufField, columns []*column.Vector, row int) int {
	for _, other := range field.siblings {
		columns[other].SetNull(row)
	}
	if field.column < 0 {
		return d.skip(b, i, tag)
	}
	v := columns[field.column]
	switch {
	case field.list:
		return d.element(b, i, field, v, row, protowire.Type(tag&7) != field.wire)
	case field.entry != nil:
		return d.entry(b, i, field, v, row)
	}
	return d.value(b, i, field, v, row)
}

// packable tells whether elements may stand side by side in one field.
func (f *protobufField) packable() bool {
	return f.wire == protowire.VarintType || f.wire == protowire.Fixed32Type || f.wire == protowire.Fixed64Type
}

// within puts a field's name before the path of the fault. The value of a map's
// entry has no name.
func (d *protobufDecoder) within(field *protobufField) {
	if field.name != "" {
		d.fault.path = field.name + arrow(d.fault.path)
	}
}

// broken notes that the message is not Protobuf.
func (d *protobufDecoder) broken(reason string) int {
	d.fault = protobufFault{reason: reason}
	return -1
}

const (
	brokenEnd    = "the message is cut off"
	brokenText   = "the text is not valid UTF-8"
	brokenVarint = "a number in the message has too many bytes"
	brokenTag    = "the message has a field of no valid number and kind"
)

func (d *protobufDecoder) varint(b []byte, i int) (uint64, int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	value, n := binary.Uvarint(b[i:])
	switch {
	case n == 0:
		return 0, d.broken(brokenEnd)
	case n < 0:
		return 0, d.broken(brokenVarint)
	}
	return value, i + n
}

// content is the end of the length-delimited content whose length is at i, and
// its start.
func (d *protobufDecoder) content(b []byte, i int) (start, end int) {
	n, start := d.varint(b, i)
	if start < 0 {
		return 0, -1
	}
	if n > uint64(len(b)-start) {
		return 0, d.broken(brokenEnd)
	}
	return start, start + int(n)
}

// skip passes over the field whose tag is before i.
func (d *protobufDecoder) skip(b []byte, i int, tag uint64) int {
	switch number := tag >> 3; {
	case number == 0 || number > uint64(protowire.MaxValidNumber):
		return d.broken(brokenTag)
	default:
		switch protowire.Type(tag & 7) {
		case protowire.VarintType:
			_, i = d.varint(b, i)
			return i
		case protowire.Fixed32Type:
			i += 4
		case protowire.Fixed64Type:
			i += 8
		case protowire.BytesType:
			_, i = d.content(b, i)
			return i
		case protowire.StartGroupType:
			n := protowire.ConsumeFieldValue(protowire.Number(number), protowire.StartGroupType, b[i:])
			if n < 0 {
				return d.broken("a group in the message is cut off")
			}
			i += n
		default:
			return d.broken(brokenTag)
		}
	}
	if i > len(b) {
		return d.broken(brokenEnd)
	}
	return i
}

// element adds to row of an ARRAY the one element at i, or all those that are
// packed there.
func (d *protobufDecoder) element(b []byte, i int, field *protobufField, v *column.Vector, row int, packed bool) int {
	elements := v.Children[0]
	span := &v.Spans[row]
	if span.Len == 0 {
		span.Start = int32(elements.Len())
	}
	if !packed {
		at := elements.Extend(1)
		if i = d.value(b, i, field, elements, at); i < 0 {
			d.fault.path = "[" + strconv.Itoa(int(span.Len)+1) + "]" + arrow(d.fault.path)
		}
		span.Len++
		return i
	}
	start, end := d.content(b, i)
	if end < 0 {
		return -1
	}
	b = b[start:end]
	count := 0
	switch field.wire {
	case protowire.Fixed32Type:
		count = (len(b) + 3) / 4
	case protowire.Fixed64Type:
		count = (len(b) + 7) / 8
	default:
		for _, c := range b {
			if c < 0x80 {
				count++
			}
		}
	}
	at := elements.Extend(count)
	for i = 0; i < len(b); at++ {
		if span.Len++; at == elements.Len() {
			return d.broken(brokenEnd)
		}
		if i = d.value(b, i, field, elements, at); i < 0 {
			d.fault.path = "[" + strconv.Itoa(int(span.Len)) + "]" + arrow(d.fault.path)
			return -1
		}
	}
	return end
}

// arrow leads a path on into a field.
func arrow(path string) string {
	if path != "" && path[0] != '[' {
		return "->" + path
	}
	return path
}

// emptyContent is an empty message with its length.
var emptyContent = []byte{0}

// entry adds the entry at i to row of a MAP. The last entry of a key wins.
func (d *protobufDecoder) entry(b []byte, i int, field *protobufField, v *column.Vector, row int) int {
	start, end, next := d.nested(b, i, field)
	if next < 0 {
		return -1
	}
	b = b[start:end]
	plan := field.entry
	if !d.entryKey(b, plan) {
		return -1
	}
	span := &v.Spans[row]
	if span.Len == 0 {
		span.Start = int32(v.Children[0].Len())
		plan.entries = mapEntries{keys: v.Children[0], values: v.Children[1], start: int(span.Start)}
	}
	key := plan.text.Texts[0]
	at := plan.entries.at(key)
	span.Len = int32(v.Children[0].Len()) - span.Start
	values := v.Children[1:]
	ok := d.fresh(b, plan.message, values, at)
	if ok && plan.fill && values[0].Null(at) {
		ok = d.value(emptyContent, 0, plan.value, values[0], at) >= 0
	}
	if !ok {
		d.fault.path = "['" + clip(key) + "']" + arrow(d.fault.path)
		return -1
	}
	return next
}

// entryKey reads the key of an entry into the plan's text. It may stand behind
// the value.
func (d *protobufDecoder) entryKey(b []byte, plan *protobufEntryPlan) bool {
	plan.text.CopyRow(0, plan.preset, 0)
	for i := 0; i < len(b); {
		tag, next := d.varint(b, i)
		if next < 0 {
			return false
		}
		if tag>>3 == uint64(plan.key.number) && protowire.Type(tag&7) == plan.key.wire {
			i = d.value(b, next, plan.key, plan.text, 0)
		} else {
			i = d.skip(b, next, tag)
		}
		if i < 0 {
			return false
		}
	}
	return true
}

// nested is the content of the message at i and the offset behind it.
func (d *protobufDecoder) nested(b []byte, i int, field *protobufField) (start, end, next int) {
	if !field.group {
		start, end = d.content(b, i)
		return start, end, end
	}
	content, n := protowire.ConsumeGroup(field.number, b[i:])
	if n < 0 {
		return 0, 0, d.broken("a group in the message is cut off")
	}
	return i, i + len(content), i + n
}
