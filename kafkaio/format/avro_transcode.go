package format

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
	"millrace/sql/types"
)

// avroTranscoder reads and writes values by walking the schema.
type avroTranscoder struct {
	root    *avroType
	header  []byte // what stands before each value of root
	schemas Schemas
	roots   map[int32]*avroType // of payloads that were read
}

func newAvroTranscoder(spec Spec, key bool, fields []Field) (*avroTranscoder, error) {
	if spec.Schema == nil {
		derived, err := (avroFormat{}).Derive(spec, key, fields)
		if err != nil {
			return nil, err
		}
		spec.Schema = &derived
	}
	root, prefix, err := avroSpecSchema(spec)
	if err != nil {
		return nil, err
	}
	return &avroTranscoder{
		root: root, header: append(appendSchemaHeader(nil, spec.SchemaID), prefix...),
		schemas: spec.Schemas, roots: map[int32]*avroType{},
	}, nil
}

// FromJSON implements Transcoder.
func (t *avroTranscoder) FromJSON(dst, text []byte) ([]byte, error) {
	value, err := parseOrderedJSON(text)
	if err != nil {
		return dst, err
	}
	out, fault := appendAvroValue(append(dst, t.header...), t.root, value, 0)
	if fault != nil {
		return dst, avroFault{fault.Path, fault.Reason}.recordError()
	}
	return out, nil
}

// ToJSON implements Transcoder.
func (t *avroTranscoder) ToJSON(dst, payload []byte) ([]byte, error) {
	id, reason := schemaID(payload)
	if reason != "" {
		return dst, &RecordError{Reason: reason}
	}
	root, err := t.rootOf(id)
	if err != nil {
		return dst, err
	}
	p := avroPrinter{avroDecoder: avroDecoder{empty: maxEmptyElements}, text: dst}
	i := p.print(payload, schemaHeader, root, 0)
	if i >= 0 && i < len(payload) {
		i = p.fail(bytesLeft(len(payload) - i))
	}
	if i < 0 {
		return dst, p.fault.recordError()
	}
	return p.text, nil
}

// rootOf is the type of the schema with an id; without a registry, that of the
// transcoder's own.
func (t *avroTranscoder) rootOf(id int32) (*avroType, error) {
	if root := t.roots[id]; root != nil {
		return root, nil
	}
	if t.schemas == nil {
		return t.root, nil
	}
	schema, err := t.schemas.Schema(id)
	if errors.Is(err, registry.ErrUnavailable) {
		return nil, err
	}
	if err != nil {
		return nil, &RecordError{Reason: fmt.Sprintf("the payload's schema: %v", err)}
	}
	root, err := parseAvro(schema)
	if err != nil {
		return nil, &RecordError{Reason: fmt.Sprintf("schema id %d: %v", id, err)}
	}
	t.roots[id] = root
	return root, nil
}

// avroPrinter prints a payload as JSON, with all fields of its schema. It
// appends to text, and its methods go along the payload as the decoder's do.
type avroPrinter struct {
	avroDecoder
	text []byte
}

func (p *avroPrinter) write(text string) { p.text = append(p.text, text...) }

func (p *avroPrinter) print(b []byte, i int, t *avroType, depth int) int {
	if depth >= maxAvroDepth {
		return p.fail(avroTooDeep)
	}
	switch t.kind {
	case avroNull:
		p.write("null")
		return i
	case avroUnion:
		branch, next := zigzag(b, i)
		if next < 0 || branch < 0 || branch >= int64(len(t.branches)) {
			return p.fail(badBranch(branch, next, len(t.branches)))
		}
		return p.print(b, next, t.branches[branch], depth+1)
	case avroRecord:
		return p.record(b, i, t, depth)
	case avroArray, avroMap:
		return p.collection(b, i, t, depth)
	}
	return p.scalar(b, i, t)
}

func (p *avroPrinter) record(b []byte, i int, t *avroType, depth int) int {
	open := byte('{')
	for k := range t.fields {
		p.text = append(p.text, open)
		open = ','
		p.text = append(appendJSONText(p.text, t.fields[k].name), ':')
		if i = p.print(b, i, t.fields[k].kind, depth+1); i < 0 {
			p.fault.path = "->" + t.fields[k].name + p.fault.path
			return -1
		}
	}
	if open == '{' {
		p.write("{")
	}
	p.write("}")
	return i
}

// collection prints an array, and as an object a map or what Connect wrote for one.
func (p *avroPrinter) collection(b []byte, i int, t *avroType, depth int) int {
	_, _, entries := t.entry()
	entries = entries && t.elem.mapEntry
	brackets := "[]"
	if entries || t.kind == avroMap {
		brackets = "{}"
	}
	p.write(brackets[:1])
	for n := 0; ; {
		count, _, next := p.block(b, i, leastAvroBytes(t.elem))
		if next < 0 {
			return -1
		}
		if i = next; count == 0 {
			p.write(brackets[1:])
			return i
		}
		for range count {
			if n++; n > 1 {
				p.write(",")
			}
			switch {
			case entries:
				i = p.entry(b, i, t.elem, depth)
			case t.kind == avroMap:
				i = p.mapEntry(b, i, t.elem, depth)
			default:
				i = p.print(b, i, t.elem, depth+1)
			}
			if i < 0 {
				p.fault.path = "[" + strconv.Itoa(n) + "]" + p.fault.path
				return -1
			}
		}
	}
}

// leastAvroBytes is how many bytes a value takes at least, or less.
func leastAvroBytes(t *avroType) int {
	kinds := []*avroType{t}
	for _, field := range t.fields {
		kinds = append(kinds, field.kind)
	}
	for _, kind := range kinds {
		if kind.kind != avroNull && kind.kind != avroRecord && (kind.kind != avroFixed || kind.size > 0) {
			return 1
		}
	}
	return 0
}

func (p *avroPrinter) mapEntry(b []byte, i int, elem *avroType, depth int) int {
	key, i := p.bytes(b, i)
	if i < 0 {
		return -1
	}
	p.text = append(appendJSONText(p.text, column.View(key)), ':')
	return p.print(b, i, elem, depth+1)
}

func (p *avroPrinter) entry(b []byte, i int, entry *avroType, depth int) int {
	start := len(p.text)
	if i = p.print(b, i, entry.fields[0].kind, depth+1); i < 0 {
		return -1
	}
	if key := string(p.text[start:]); key == "" || key[0] != '"' {
		p.text = appendJSONText(p.text[:start], key)
	}
	p.write(":")
	return p.print(b, i, entry.fields[1].kind, depth+1)
}

func (p *avroPrinter) scalar(b []byte, i int, t *avroType) int {
	switch t.kind {
	case avroBoolean:
		value, next := p.boolean(b, i)
		p.text = strconv.AppendBool(p.text, value)
		return next
	case avroInt, avroLong, avroEnum:
		value, next := zigzag(b, i)
		switch {
		case next < 0:
			return p.fail(avroCut)
		case t.kind != avroEnum:
			p.text = strconv.AppendInt(p.text, value, 10)
		case value < 0 || value >= int64(len(t.symbols)):
			return p.fail(badSymbol(t, value))
		default:
			p.text = appendJSONText(p.text, t.symbols[value])
		}
		return next
	case avroFloat, avroDouble:
		value, next := p.float(b, i, t)
		if value-value != 0 { // JSON has no number for them
			p.text = append(types.AppendDouble(append(p.text, '"'), value), '"')
		} else {
			p.text = types.AppendDouble(p.text, value)
		}
		return next
	}
	part, next := p.part(b, i, t)
	switch {
	case next < 0:
	case t.kind == avroString:
		p.text = appendJSONText(p.text, column.View(part))
	case t.logical == logicalDecimal:
		p.text = appendDecimalNumber(p.text, part, t.scale)
	default:
		p.text = append(base64.StdEncoding.AppendEncode(append(p.text, '"'), part), '"')
	}
	return next
}

// appendDecimalNumber appends a decimal as a JSON number, with the digits of its
// scale if it is of a size that SQL knows.
func appendDecimalNumber(dst, part []byte, scale int) []byte {
	if value, ok := decimalOfBytes(part); ok && scale >= 0 && scale <= types.MaxPrecision {
		return value.Append(dst, scale)
	}
	value := bigOfBytes(part)
	return strconv.AppendInt(append(value.Append(dst, 10), 'e'), int64(-scale), 10)
}

// bigOfBytes is a number in two's complement, big-endian.
func bigOfBytes(part []byte) *big.Int {
	value := new(big.Int).SetBytes(part)
	if len(part) > 0 && part[0] >= 0x80 {
		value.Sub(value, new(big.Int).Lsh(big.NewInt(1), uint(8*len(part))))
	}
	return value
}
