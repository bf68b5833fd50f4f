package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

// avroEncoder writes rows by a program for the schema.
//
// Its methods append to dst, or return nil with the fault in e.fault.
type avroEncoder struct {
	header []byte // what stands before each value
	bare   bool
	writer *avroWriter
	row    column.Vector // a STRUCT of the columns, where they do not stand bare
	err    error         // why nothing can be written
	fault  avroFault
}

func newAvroEncoder(spec Spec, fields []Field) *avroEncoder {
	e := &avroEncoder{bare: spec.Unwrapped && len(fields) == 1}
	from := rowStruct(fields)
	if e.bare {
		from = fields[0].Type
	}
	e.err = e.compile(spec, fields, from)
	return e
}

func (e *avroEncoder) compile(spec Spec, fields []Field, from *types.Type) error {
	if spec.Schema == nil {
		derived, err := (avroFormat{}).Derive(spec, false, fields)
		if err != nil {
			return err
		}
		spec.Schema = &derived
	}
	to, prefix, err := avroSpecSchema(spec)
	if err != nil {
		return err
	}
	e.header = append(appendSchemaHeader(nil, spec.SchemaID), prefix...)
	if e.writer, err = newAvroWriter(from, to); err != nil {
		return err
	}
	for _, step := range e.writer.steps {
		if step.missing {
			return fmt.Errorf("field %s: %w", step.name, ErrIncomplete)
		}
	}
	return nil
}

func (e *avroEncoder) Append(dst []byte, columns []*column.Vector, i int) ([]byte, bool, error) {
	if e.err != nil {
		return dst, false, e.err
	}
	if e.bare && columns[0].Null(i) {
		return dst, true, nil
	}
	out := append(dst, e.header...)
	if e.bare {
		out = e.value(out, columns[0], e.writer, i)
	} else {
		out = e.wrapped(out, columns, i)
	}
	if out == nil {
		return dst, false, e.fault.recordError()
	}
	return out, false, nil
}

// wrapped appends a row as a record, or as a union of several types.
func (e *avroEncoder) wrapped(dst []byte, columns []*column.Vector, i int) []byte {
	e.row.Children = columns
	if e.writer.tag >= 0 {
		dst = append(dst, byte(e.writer.tag))
	}
	if e.writer.op == avroWriteVariant {
		return e.variant(dst, &e.row, e.writer, i)
	}
	return e.record(dst, &e.row, e.writer, i)
}

func (e *avroEncoder) fail(reason string) []byte {
	e.fault = avroFault{reason: reason}
	return nil
}

// value appends row i of v.
func (e *avroEncoder) value(dst []byte, v *column.Vector, w *avroWriter, i int) []byte {
	if v.Null(i) {
		return e.null(dst, w)
	}
	if w.tag >= 0 {
		dst = append(dst, byte(w.tag))
	}
	switch w.op {
	case avroWriteText:
		text := v.Texts[i]
		if len(text) < 64 && utf8.ValidString(text) {
			return append(append(dst, byte(len(text)<<1)), text...)
		}
		return appendAvroText(dst, text)
	case avroWriteWhole:
		value := v.Ints[i]
		if value != int64(int32(value)) && w.to.kind == avroInt {
			return e.fail(fmt.Sprintf("%d is out of the range of %s", value, w.to.shown()))
		}
		return binary.AppendVarint(dst, value)
	case avroWriteDouble:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Doubles[i]))
	case avroWriteFloat:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Doubles[i])))
	case avroWriteBoolean:
		if v.Bools[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case avroWriteBytes:
		dst = binary.AppendVarint(dst, int64(len(v.Texts[i])))
		return append(dst, v.Texts[i]...)
	case avroWriteRecord:
		return e.record(dst, v, w, i)
	case avroWriteArray:
		return e.array(dst, v, w, i)
	case avroWriteMap, avroWriteEntries:
		return e.mapping(dst, v, w, i)
	}
	return e.other(dst, v, w, i)
}

func (e *avroEncoder) null(dst []byte, w *avroWriter) []byte {
	switch {
	case w.null >= 0:
		return append(dst, byte(w.null)<<1)
	case w.fill != nil:
		return append(dst, w.fill...)
	case w.op == avroWriteVariant:
		return e.variantNull(dst, w)
	}
	return e.fail(fmt.Sprintf("the value is null, but the type %s of the schema takes no null", w.to.shown()))
}

// appendAvroText appends a text, with U+FFFD for bytes that are not UTF-8.
func appendAvroText(dst []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	return append(binary.AppendVarint(dst, int64(len(text))), text...)
}

func (e *avroEncoder) other(dst []byte, v *column.Vector, w *avroWriter, i int) []byte {
	switch w.op {
	case avroWriteFixed:
		if len(v.Texts[i]) != w.to.size {
			return e.fail(fmt.Sprintf("the value has %d bytes, but %s of the schema takes %d", len(v.Texts[i]), w.to.shown(), w.to.size))
		}
		return append(dst, v.Texts[i]...)
	case avroWriteSymbol:
		n, ok := w.symbols[v.Texts[i]]
		if !ok {
			return e.fail(fmt.Sprintf("%s is no symbol of %s", strconv.Quote(clip(v.Texts[i])), w.to.shown()))
		}
		return binary.AppendVarint(dst, n)
	case avroWriteDecimal:
		return e.decimal(dst, v.Decimals[i], w)
	}
	return e.variant(dst, v, w, i)
}

func (e *avroEncoder) decimal(dst []byte, value types.Decimal, w *avroWriter) []byte {
	var buf [16]byte
	part := appendDecimalBytes(buf[:0], value)
	if w.to.kind == avroBytes {
		return append(binary.AppendVarint(dst, int64(len(part))), part...)
	}
	if len(part) > w.to.size {
		return e.fail(fmt.Sprintf("%s does not fit %s of %d bytes", value.Text(w.to.scale), w.to.shown(), w.to.size))
	}
	return append(appendSign(dst, value.High < 0, w.to.size-len(part)), part...)
}

// appendSign appends the n leading bytes of a number in two's complement.
func appendSign(dst []byte, negative bool, n int) []byte {
	fill := byte(0)
	if negative {
		fill = 0xFF
	}
	for range n {
		dst = append(dst, fill)
	}
	return dst
}

func (e *avroEncoder) record(dst []byte, v *column.Vector, w *avroWriter, i int) []byte {
	for k := range w.steps {
		step := &w.steps[k]
		switch {
		case step.child >= 0:
			if dst = e.value(dst, v.Children[step.child], step.writer, i); dst == nil {
				e.fault.path = "->" + step.name + e.fault.path
				return nil
			}
		case step.missing:
			e.fault = avroFault{path: "->" + step.name, reason: "the schema requires the field, and the row has no column for it"}
			return nil
		default:
			dst = append(dst, step.constant...)
		}
	}
	return dst
}

func (e *avroEncoder) array(dst []byte, v *column.Vector, w *avroWriter, i int) []byte {
	span := v.Spans[i]
	if span.Len > 0 {
		dst = binary.AppendVarint(dst, int64(span.Len))
	}
	for n := range int(span.Len) {
		if dst = e.value(dst, v.Children[0], w.elem, int(span.Start)+n); dst == nil {
			e.fault.path = "[" + strconv.Itoa(n+1) + "]" + e.fault.path
			return nil
		}
	}
	return append(dst, 0)
}

// mapping writes a null key as the text null: an Avro map has no other.
func (e *avroEncoder) mapping(dst []byte, v *column.Vector, w *avroWriter, i int) []byte {
	span := v.Spans[i]
	keys, values := v.Children[0], v.Children[1]
	if span.Len > 0 {
		dst = binary.AppendVarint(dst, int64(span.Len))
	}
	for n := range int(span.Len) {
		at := int(span.Start) + n
		switch {
		case w.op == avroWriteEntries:
			dst = e.value(dst, keys, w.key, at)
		case keys.Null(at):
			dst = appendAvroText(dst, "null")
		default:
			dst = appendAvroText(dst, keys.Texts[at])
		}
		if dst != nil {
			dst = e.value(dst, values, w.elem, at)
		}
		if dst == nil {
			e.fault.path = "['" + clip(keys.Texts[at]) + "']" + e.fault.path
			return nil
		}
	}
	return append(dst, 0)
}

// variant writes the branch of a union whose field of the STRUCT is not null.
func (e *avroEncoder) variant(dst []byte, v *column.Vector, w *avroWriter, i int) []byte {
	for k := range w.steps {
		step := &w.steps[k]
		if step.child < 0 || v.Children[step.child].Null(i) {
			continue
		}
		dst = e.value(binary.AppendVarint(dst, int64(k)), v.Children[step.child], step.writer, i)
		if dst == nil {
			e.fault.path = "->" + step.name + e.fault.path
		}
		return dst
	}
	return e.variantNull(dst, w)
}

func (e *avroEncoder) variantNull(dst []byte, w *avroWriter) []byte {
	for k, branch := range w.to.branches {
		if branch.kind == avroNull {
			return binary.AppendVarint(dst, int64(k))
		}
	}
	return e.fail("no branch of the union has a value, and none is null")
}
