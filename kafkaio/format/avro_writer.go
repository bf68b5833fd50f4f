package format

import (
	"fmt"
	"slices"
	"strings"

	"millrace/sql/types"
)

// avroWriteOp is how a writer writes a value that is not null.
type avroWriteOp uint8

const (
	avroWriteBoolean avroWriteOp = iota
	avroWriteWhole               // int, long
	avroWriteFloat
	avroWriteDouble
	avroWriteText  // string
	avroWriteBytes // bytes
	avroWriteFixed
	avroWriteSymbol  // enum
	avroWriteDecimal // decimal in bytes or fixed
	avroWriteArray
	avroWriteMap
	avroWriteEntries
	avroWriteRecord
	avroWriteVariant // the branch of a union that a field of the STRUCT is
)

// avroWriter writes values of a SQL type as a type of a schema.
type avroWriter struct {
	op   avroWriteOp
	null int // the branch of null in a union of it and one type, else -1
	tag  int // the byte of the branch before a value in a union of at most two types, else -1
	to   *avroType
	// fill is what is written for null where the type has none: the default of
	// the field. nil: there is none.
	fill    []byte
	symbols map[string]int64
	key     *avroWriter // of entries
	elem    *avroWriter
	steps   []avroWriteStep // the fields of a record; the branches of a union
}

// avroWriteStep is a field of a record in the schema's order, or a branch of a
// union.
type avroWriteStep struct {
	name   string
	child  int         // the field of the STRUCT, -1: none
	writer *avroWriter // where child is not -1
	// constant is what a field is that no child is written to; missing says that
	// it has no default and takes no null.
	constant []byte
	missing  bool
}

// newAvroWriter compiles the writing of values of type from as type to.
func newAvroWriter(from *types.Type, to *avroType) (*avroWriter, error) {
	inner, null := to.nullable()
	w := &avroWriter{null: null, tag: -1, to: inner}
	if null >= 0 {
		w.tag = (1 - null) << 1
	} else if to.kind == avroUnion && len(to.branches) == 1 {
		inner, w.tag, w.to = to.branches[0], 0, to.branches[0]
	}
	op, ok := avroWriteOpOf(from, inner)
	if !ok {
		return nil, fmt.Errorf("a value of type %s cannot be written as %s", from, inner.shown())
	}
	w.op = op
	var err error
	switch op {
	case avroWriteSymbol:
		w.symbols = map[string]int64{}
		for i, symbol := range inner.symbols {
			w.symbols[symbol] = int64(i)
		}
	case avroWriteArray:
		w.elem, err = newAvroWriter(from.Elem, inner.elem)
	case avroWriteMap:
		w.elem, err = newAvroWriter(from.Elem, inner.elem)
	case avroWriteEntries:
		if w.key, err = newAvroWriter(from.Key, inner.elem.fields[0].kind); err == nil {
			w.elem, err = newAvroWriter(from.Elem, inner.elem.fields[1].kind)
		}
	case avroWriteRecord:
		w.steps, err = avroFieldSteps(from, inner)
	case avroWriteVariant:
		w.steps, err = avroBranchSteps(from, inner)
	}
	return w, err
}

// avroWriteOpOf pairs a SQL type with the type of a schema that Infer maps to it.
func avroWriteOpOf(from *types.Type, to *avroType) (avroWriteOp, bool) {
	_, _, isEntries := to.entry()
	switch from.Kind {
	case types.KindBoolean:
		return avroWriteBoolean, to.kind == avroBoolean
	case types.KindInteger, types.KindDate, types.KindTime:
		return avroWriteWhole, to.kind == avroInt
	case types.KindBigint, types.KindTimestamp:
		return avroWriteWhole, to.kind == avroLong
	case types.KindDouble:
		if to.kind == avroFloat {
			return avroWriteFloat, true
		}
		return avroWriteDouble, to.kind == avroDouble
	case types.KindString:
		if to.kind == avroEnum {
			return avroWriteSymbol, true
		}
		return avroWriteText, to.kind == avroString
	case types.KindBytes:
		if to.kind == avroFixed {
			return avroWriteFixed, true
		}
		return avroWriteBytes, to.kind == avroBytes
	case types.KindDecimal:
		return avroWriteDecimal, to.logical == logicalDecimal && to.scale == from.Scale
	case types.KindArray:
		return avroWriteArray, to.kind == avroArray
	case types.KindMap:
		if isEntries {
			return avroWriteEntries, true
		}
		return avroWriteMap, to.kind == avroMap
	}
	if to.kind == avroUnion {
		return avroWriteVariant, true
	}
	return avroWriteRecord, to.kind == avroRecord
}

// avroFieldSteps pairs the fields of a STRUCT with those of a record.
func avroFieldSteps(from *types.Type, to *avroType) ([]avroWriteStep, error) {
	steps := make([]avroWriteStep, len(to.fields))
	for i := range steps {
		steps[i] = avroWriteStep{name: to.fields[i].name, child: -1}
	}
	for i, at := range to.matches(from.Fields) {
		if at < 0 {
			return nil, fmt.Errorf("%s of the schema has no field for %s", to.shown(), types.QuoteName(from.Fields[i].Name))
		}
		steps[at].child = i
	}
	for i := range steps {
		step, field := &steps[i], &to.fields[i]
		fill, ok := avroFill(field)
		if step.child < 0 {
			step.constant, step.missing = fill, !ok
			continue
		}
		writer, err := newAvroWriter(from.Fields[step.child].Type, field.kind)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", types.QuoteName(field.name), err)
		}
		if writer.null < 0 && field.hasDefault {
			writer.fill = fill
		}
		step.writer = writer
	}
	return steps, nil
}

// avroFill is what is written for a field without a value: its default, or null.
func avroFill(field *avroField) (fill []byte, ok bool) {
	var value any
	if field.hasDefault {
		value = field.value
	}
	fill, err := appendAvroValue([]byte{}, field.kind, value, 0)
	return fill, err == nil
}

// avroBranchSteps pairs the fields of a STRUCT with the branches of a union.
func avroBranchSteps(from *types.Type, to *avroType) ([]avroWriteStep, error) {
	var steps []avroWriteStep
	for _, branch := range to.branches {
		step := avroWriteStep{name: branch.branchName()}
		step.child = slices.IndexFunc(from.Fields, func(field types.Field) bool { return strings.EqualFold(field.Name, step.name) })
		if step.child >= 0 {
			var err error
			if step.writer, err = newAvroWriter(from.Fields[step.child].Type, branch); err != nil {
				return nil, err
			}
		}
		steps = append(steps, step)
	}
	return steps, nil
}
