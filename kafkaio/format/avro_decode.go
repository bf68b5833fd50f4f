package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

const (
	// maxAvroDepth is how many values may be inside each other.
	maxAvroDepth = 512
	// maxAvroPrograms is for how many schemas a decoder keeps programs at once.
	maxAvroPrograms = 1000
	// maxEmptyElements bounds the elements of a payload that take no bytes in it.
	maxEmptyElements = 1 << 16
)

// avroDecoder reads payloads in one pass, straight into vectors, by a program a
// writer's schema. What no one wants is skipped by its type.
//
// Its methods take the payload b and an offset i into it and return the offset
// behind what they read, or -1 with the fault in d.fault.
type avroDecoder struct {
	schemas  Schemas
	bare     bool
	fields   []Field
	wanted   []bool
	row      *column.Vector // a STRUCT of the columns; nil if the only one stands bare
	programs map[int32]*avroProgram
	last     *avroProgram // that of lastID
	lastID   int32

	arena *column.Arena
	key   *column.Vector // the key of the entry being read
	empty int            // how many more elements may take no bytes
	fault avroFault
}

// avroProgram reads the payloads of one schema, or says why it cannot.
type avroProgram struct {
	reader *avroReader
	err    error
}

// avroFault is the first fault of a payload or row. Its path starts with the
// step to the outermost field.
type avroFault struct{ path, reason string }

func (f avroFault) recordError() *RecordError {
	return &RecordError{Path: strings.TrimPrefix(f.path, "->"), Reason: f.reason}
}

func newAvroDecoder(spec Spec, fields []Field, wanted []bool) *avroDecoder {
	d := &avroDecoder{
		schemas: spec.Schemas, fields: fields, wanted: wanted, bare: spec.Unwrapped && len(fields) == 1,
		programs: map[int32]*avroProgram{}, key: column.New(types.String, 1),
	}
	if !d.bare {
		d.row = &column.Vector{Type: rowStruct(fields)}
	}
	return d
}

func (d *avroDecoder) Decode(
	payloads [][]byte, rows []int32, out []*column.Vector, arena *column.Arena, bad func(int32, error),
) {
	if len(rows) == 0 {
		return
	}
	d.arena = arena
	target := d.row
	if d.bare {
		target = out[0]
	} else {
		d.row.Children = out
		d.row.Valid = d.row.Valid.Resize(int(rows[len(rows)-1]) + 1)
	}
	for _, row := range rows {
		err := d.payload(payloads[row], target, int(row))
		if err == nil {
			continue
		}
		bad(row, err)
		if errors.Is(err, registry.ErrUnavailable) {
			return // the batch comes again
		}
	}
}

func (d *avroDecoder) payload(b []byte, target *column.Vector, row int) error {
	id, reason := schemaID(b)
	if reason != "" {
		return &RecordError{Reason: reason}
	}
	program := d.last
	if program == nil || id != d.lastID {
		var err error
		if program, err = d.program(id); err != nil {
			return err
		}
	}
	if program.err != nil {
		return program.err
	}
	d.empty = maxEmptyElements
	var i int
	if target == nil {
		i = d.skip(b, schemaHeader, program.reader, 0)
	} else {
		i = d.value(b, schemaHeader, target, program.reader, row, 0)
	}
	if i >= 0 && i < len(b) {
		i = d.fail(bytesLeft(len(b) - i))
	}
	if i < 0 {
		return d.fault.recordError()
	}
	return nil
}

func bytesLeft(n int) string {
	return "bytes that are left behind the value: " + strconv.Itoa(n)
}

func (d *avroDecoder) fail(reason string) int {
	d.fault = avroFault{reason: reason}
	return -1
}

const avroCut = "the payload ends within a value"

// program finds the program for a schema. A schema that is unknown may be
// registered later, so only those that are known are remembered.
func (d *avroDecoder) program(id int32) (*avroProgram, error) {
	program := d.programs[id]
	if program == nil {
		if d.schemas == nil {
			return nil, &RecordError{Reason: "there is no schema registry to ask for the schema of the payload"}
		}
		schema, err := d.schemas.Schema(id)
		switch {
		case errors.Is(err, registry.ErrUnavailable):
			return nil, err
		case err != nil:
			return nil, &RecordError{Reason: fmt.Sprintf("the payload's schema: %v", err)}
		}
		program = d.compile(id, schema)
		if len(d.programs) >= maxAvroPrograms {
			clear(d.programs)
		}
		d.programs[id] = program
	}
	d.last, d.lastID = program, id
	return program, nil
}

func (d *avroDecoder) compile(id int32, schema registry.Schema) *avroProgram {
	unreadable := func(err error) *avroProgram {
		return &avroProgram{err: &RecordError{Reason: fmt.Sprintf("schema id %d: %v", id, err)}}
	}
	from, err := parseAvro(schema)
	if err != nil {
		return unreadable(err)
	}
	var to *types.Type
	var wanted []bool
	switch {
	case !d.bare:
		to, wanted = d.row.Type, d.wanted
	case d.wanted == nil || d.wanted[0]:
		to = d.fields[0].Type
	}
	reader, err := newAvroReader(from, to, wanted)
	if err != nil {
		return unreadable(err)
	}
	return &avroProgram{reader: reader}
}

// value reads the value at i, inside depth others, into row of v.
func (d *avroDecoder) value(b []byte, i int, v *column.Vector, r *avroReader, row, depth int) int {
	if r.null >= 0 {
		switch {
		case i < len(b) && b[i] == r.present:
			i++
		case i < len(b) && b[i] == 2-r.present:
			v.SetNull(row)
			return i + 1
		default:
			return d.rareBranch(b, i, v, r, row, depth)
		}
	}
	switch r.op {
	case avroReadText:
		n, start := shortLength(b, i)
		if n < 0 || n > len(b)-start {
			return d.text(b, i, v, row)
		}
		text := b[start : start+n]
		if !utf8.Valid(text) {
			return d.fail(avroNotUTF8)
		}
		v.SetText(row, column.View(text))
		return start + n
	case avroReadWhole:
		return d.whole(b, i, v, r, row)
	case avroReadDouble:
		if i+8 > len(b) {
			return d.fail(avroCut)
		}
		v.SetDouble(row, math.Float64frombits(binary.LittleEndian.Uint64(b[i:])))
		return i + 8
	case avroReadBoolean:
		value, next := d.boolean(b, i)
		v.SetBool(row, value)
		return next
	}
	if depth >= maxAvroDepth {
		return d.fail(avroTooDeep)
	}
	return d.other(b, i, v, r, row, depth)
}

const avroNotUTF8 = "the text is not valid UTF-8"

// rareBranch reads the branch of a union of null and one type where it is not
// written in its one byte, or wrong.
func (d *avroDecoder) rareBranch(b []byte, i int, v *column.Vector, r *avroReader, row, depth int) int {
	branch, next := zigzag(b, i)
	switch {
	case next < 0 || branch != 0 && branch != 1:
		return d.fail(badBranch(branch, next, 2))
	case int(branch) == r.null:
		v.SetNull(row)
		return next
	}
	bare := *r
	bare.null = -1
	return d.value(b, next, v, &bare, row, depth)
}

func (d *avroDecoder) text(b []byte, i int, v *column.Vector, row int) int {
	text, next := d.bytes(b, i)
	if next >= 0 && !utf8.Valid(text) {
		return d.fail(avroNotUTF8)
	}
	v.SetText(row, column.View(text))
	return next
}

// shortLength is a length that is written in one byte, and the offset behind it;
// else -1.
func shortLength(b []byte, i int) (n, next int) {
	if i < len(b) && b[i]&0x81 == 0 {
		return int(b[i] >> 1), i + 1
	}
	return -1, i
}

const avroTooDeep = "values are nested deeper than 512 levels"

func badBranch(branch int64, next, count int) string {
	if next < 0 {
		return avroCut
	}
	return fmt.Sprintf("a union of %d types has no branch %d", count, branch)
}

// zigzag reads a number; next is -1 where there is none.
func zigzag(b []byte, i int) (value int64, next int) {
	var n uint64
	for shift := uint(0); i < len(b) && shift < 64; shift += 7 {
		c := b[i]
		i++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if shift == 63 && c > 1 {
				break
			}
			return int64(n>>1) ^ -int64(n&1), i
		}
	}
	return 0, -1
}

func (d *avroDecoder) whole(b []byte, i int, v *column.Vector, r *avroReader, row int) int {
	value, next := zigzag(b, i)
	if next < 0 {
		return d.fail(avroCut)
	}
	if r.divide > 1 {
		value = floorDivide(value, r.divide)
	}
	if value < r.low || value > r.high {
		return d.fail(outOfRange(strconv.FormatInt(value, 10), r.to))
	}
	v.SetInt(row, value)
	return next
}

func floorDivide(value, by int64) int64 {
	quotient := value / by
	if value%by < 0 {
		quotient--
	}
	return quotient
}

func (d *avroDecoder) boolean(b []byte, i int) (value bool, next int) {
	switch {
	case i >= len(b):
		return false, d.fail(avroCut)
	case b[i] > 1:
		return false, d.fail(fmt.Sprintf("a BOOLEAN is a byte 0 or 1, not %d", b[i]))
	}
	return b[i] == 1, i + 1
}

// bytes reads a length and as many bytes.
func (d *avroDecoder) bytes(b []byte, i int) (part []byte, next int) {
	n, start := zigzag(b, i)
	switch {
	case start < 0 || n >= 0 && n > int64(len(b)-start):
		return nil, d.fail(avroCut)
	case n < 0:
		return nil, d.fail(fmt.Sprintf("a length of %d bytes", n))
	}
	next = start + int(n)
	return b[start:next], next
}

// part reads the bytes of a string, of bytes or of a fixed.
func (d *avroDecoder) part(b []byte, i int, t *avroType) (part []byte, next int) {
	if t.kind != avroFixed {
		return d.bytes(b, i)
	}
	if t.size > len(b)-i {
		return nil, d.fail(avroCut)
	}
	return b[i : i+t.size], i + t.size
}

// other reads what value has no short way for.
func (d *avroDecoder) other(b []byte, i int, v *column.Vector, r *avroReader, row, depth int) int {
	switch r.op {
	case avroReadNull:
		v.SetNull(row)
		return i
	case avroReadRecord:
		return d.record(b, i, v, r, row, depth)
	case avroReadArray:
		return d.array(b, i, v, r, row, depth)
	case avroReadMap, avroReadEntries:
		return d.mapping(b, i, v, r, row, depth)
	case avroReadBranch, avroReadVariant:
		return d.union(b, i, v, r, row, depth)
	case avroReadBytes:
		part, next := d.part(b, i, r.from)
		v.SetText(row, column.View(part))
		return next
	case avroReadFloat:
		if i+4 > len(b) {
			return d.fail(avroCut)
		}
		v.SetDouble(row, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i:]))))
		return i + 4
	case avroReadSymbol:
		n, next := zigzag(b, i)
		switch {
		case next < 0:
			return d.fail(avroCut)
		case n < 0 || n >= int64(len(r.from.symbols)):
			return d.fail(badSymbol(r.from, n))
		}
		v.SetText(row, r.from.symbols[n])
		return next
	case avroReadMisfit:
		return d.fail(misfitOf(r))
	}
	return d.convert(b, i, v, r, row)
}

func (d *avroDecoder) record(b []byte, i int, v *column.Vector, r *avroReader, row, depth int) int {
	if r.partial {
		setChildrenNull(v, row)
	}
	v.Valid.Set(row)
	for k := range r.steps {
		step := &r.steps[k]
		if step.child < 0 {
			i = d.skip(b, i, step.reader, depth+1)
		} else {
			i = d.value(b, i, v.Children[step.child], step.reader, row, depth+1)
		}
		if i < 0 {
			d.fault.path = "->" + step.name + d.fault.path
			return -1
		}
	}
	return i
}

func setChildrenNull(v *column.Vector, row int) {
	for _, child := range v.Children {
		if child != nil {
			child.SetNull(row)
		}
	}
}

func (d *avroDecoder) union(b []byte, i int, v *column.Vector, r *avroReader, row, depth int) int {
	branch, next := zigzag(b, i)
	if next < 0 || branch < 0 || branch >= int64(len(r.steps)) {
		return d.fail(badBranch(branch, next, len(r.steps)))
	}
	step := &r.steps[branch]
	if r.op == avroReadBranch {
		return d.value(b, next, v, step.reader, row, depth+1)
	}
	if step.reader.op == avroSkipNull {
		v.SetNull(row)
		return next
	}
	setChildrenNull(v, row)
	v.Valid.Set(row)
	if step.child < 0 {
		return d.skip(b, next, step.reader, depth+1)
	}
	if next = d.value(b, next, v.Children[step.child], step.reader, row, depth+1); next < 0 {
		d.fault.path = "->" + step.name + d.fault.path
	}
	return next
}

// misfitOf says that a type cannot become that of a column or row. The columns of
// a row would say too much.
func misfitOf(r *avroReader) string {
	to := r.to.String()
	if r.to.Kind == types.KindStruct {
		to = "row or STRUCT"
	}
	return fmt.Sprintf("the schema has the type %s, of which no %s can be made", r.from.shown(), to)
}

func badSymbol(t *avroType, n int64) string {
	return fmt.Sprintf("%s of %d symbols has no symbol %d", t.shown(), len(t.symbols), n)
}
