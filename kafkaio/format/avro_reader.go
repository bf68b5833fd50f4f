package format

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"millrace/sql/types"
)

// avroOp is what a reader does with the bytes of a value.
type avroOp uint8

const (
	avroReadNull avroOp = iota
	avroReadBoolean
	avroReadWhole   // int and long into Ints
	avroReadFloat   // into DOUBLE
	avroReadDouble  // into DOUBLE
	avroReadText    // STRING
	avroReadBytes   // bytes and fixed into BYTES
	avroReadSymbol  // an enum into STRING
	avroReadOther   // scalars that are converted, see convert
	avroReadArray   // ARRAY
	avroReadMap     // MAP
	avroReadEntries // an array of key and value into MAP
	avroReadRecord  // STRUCT
	avroReadBranch  // a union, each branch into the same vector
	avroReadVariant // a union into a STRUCT of its branches
	avroReadMisfit  // no value of the SQL type can be made of this Avro type

	avroSkipNull
	avroSkipVarint
	avroSkipFixed // size bytes
	avroSkipBytes
	avroSkipBlocks // array, map
	avroSkipRecord
	avroSkipUnion
)

// avroReader reads values of a writer's type into a vector, or skips them.
type avroReader struct {
	op   avroOp
	null int // the branch of null where the value is in a union of it and one type, else -1
	// present is the byte before a value in such a union; that before null is 2-present.
	present byte
	from    *avroType
	to      *types.Type // nil: skipped
	low     int64       // the range of whole numbers
	high    int64
	divide  int64 // what makes milliseconds of a whole number
	size    int   // bytes that are skipped
	// least is how many bytes a value takes at least; 0 only if it may take none.
	least int
	elem  *avroReader // of an array or map; the values of entries
	keyed bool        // blocks have a text before each value
	key   *avroReader // of entries
	steps []avroStep  // of a record in the writer's order; the branches of a union
	// partial says that a STRUCT has fields that the steps do not set.
	partial bool
}

// avroStep is one field of a record or one branch of a union.
type avroStep struct {
	name   string
	child  int // the field of the STRUCT, -1: skipped
	reader *avroReader
}

// avroCompiler makes readers for one schema.
type avroCompiler struct {
	skips map[*avroType]*avroReader
	count int
	err   error
}

// newAvroReader compiles the reading of values of type from into type to.
// wanted[i] is false for a field of the STRUCT to that is skipped; nil wants all.
func newAvroReader(from *avroType, to *types.Type, wanted []bool) (*avroReader, error) {
	c := avroCompiler{skips: map[*avroType]*avroReader{}}
	r := c.reader(from, to, wanted)
	return r, c.err
}

func (c *avroCompiler) reader(from *avroType, to *types.Type, wanted []bool) *avroReader {
	if to == nil {
		return c.skip(from)
	}
	inner, null := from.nullable()
	r := &avroReader{op: avroReadMisfit, null: null, present: presentByte(null), from: inner, to: to, divide: 1}
	r.low, r.high = wholeRange(to.Kind)
	if c.count++; c.count > maxAvroFields {
		c.err = fmt.Errorf("the schema and the columns have more than %d fields together", maxAvroFields)
		return r
	}
	switch inner.kind {
	case avroUnion:
		c.union(r, wanted)
	case avroArray, avroMap:
		c.collection(r)
	case avroRecord:
		if to.Kind == types.KindStruct {
			c.record(r, wanted)
		}
	default:
		r.op = scalarOp(inner, to, r)
	}
	r.least = leastBytes(r)
	return r
}

// presentByte is the byte before a value in a union of null and one type.
func presentByte(null int) byte { return byte(1-null) << 1 }

// scalarOp is the op for a type that is not nested.
func scalarOp(from *avroType, to *types.Type, r *avroReader) avroOp {
	decimal := from.logical == logicalDecimal && from.scale >= 0 && from.scale <= types.MaxPrecision
	switch from.kind {
	case avroNull:
		return avroReadNull
	case avroBoolean:
		switch to.Kind {
		case types.KindBoolean:
			return avroReadBoolean
		case types.KindString:
			return avroReadOther
		}
	case avroInt, avroLong:
		return wholeOp(from, to, r)
	case avroFloat, avroDouble:
		switch {
		case to.Kind == types.KindString:
			return avroReadOther
		case to.Kind == types.KindDouble && from.kind == avroFloat:
			return avroReadFloat
		case to.Kind == types.KindDouble:
			return avroReadDouble
		}
	case avroString:
		if to.Kind == types.KindString {
			return avroReadText
		}
	case avroEnum:
		if to.Kind == types.KindString {
			return avroReadSymbol
		}
	case avroBytes, avroFixed:
		switch {
		case to.Kind == types.KindBytes:
			return avroReadBytes
		case decimal && (to.Kind == types.KindDecimal || to.Kind == types.KindDouble || to.Kind == types.KindString):
			return avroReadOther
		}
	}
	return avroReadMisfit
}

// wholeOp lets times of other units into TIME and TIMESTAMP, and any whole
// number into the types of numbers and, as it stands, into STRING.
func wholeOp(from *avroType, to *types.Type, r *avroReader) avroOp {
	switch to.Kind {
	case types.KindInteger, types.KindBigint, types.KindDate:
		return avroReadWhole
	case types.KindTime, types.KindTimestamp:
		switch from.logical {
		case logicalTimeMicros, logicalTimestampMicros:
			r.divide = 1e3
		case logicalTimestampNanos:
			r.divide = 1e6
		}
		return avroReadWhole
	case types.KindDouble, types.KindDecimal, types.KindString:
		return avroReadOther
	}
	return avroReadMisfit
}

func (c *avroCompiler) collection(r *avroReader) {
	key, value, isEntry := r.from.entry()
	switch {
	case r.from.kind == avroArray && r.to.Kind == types.KindArray:
		r.op, r.elem = avroReadArray, c.reader(r.from.elem, r.to.Elem, nil)
	case r.from.kind == avroMap && r.to.Kind == types.KindMap && r.to.Key.Kind == types.KindString:
		r.op, r.elem = avroReadMap, c.reader(r.from.elem, r.to.Elem, nil)
	case isEntry && r.to.Kind == types.KindMap && r.to.Key.Kind == types.KindString:
		fields := r.from.elem.fields
		r.op = avroReadEntries
		r.key, r.elem = c.reader(fields[key].kind, r.to.Key, nil), c.reader(fields[value].kind, r.to.Elem, nil)
	}
}

// record matches the writer's fields with those of the STRUCT. A field that no
// writer's field matches stays null.
func (c *avroCompiler) record(r *avroReader, wanted []bool) {
	r.op = avroReadRecord
	children := make([]int, len(r.from.fields))
	for i := range children {
		children[i] = -1
	}
	for i, at := range r.from.matches(r.to.Fields) {
		switch {
		case at < 0:
			r.partial = true
		case wanted == nil || wanted[i]:
			children[at] = i
		}
	}
	for i := range r.from.fields {
		field := &r.from.fields[i]
		r.steps = append(r.steps, c.step(field.name, field.kind, r.to, children[i]))
	}
}

func (c *avroCompiler) step(name string, from *avroType, to *types.Type, child int) avroStep {
	if child < 0 {
		return avroStep{name: name, child: -1, reader: c.skip(from)}
	}
	return avroStep{name: to.Fields[child].Name, child: child, reader: c.reader(from, to.Fields[child].Type, nil)}
}

// union reads a union of several types. A STRUCT with a field of a branch's name
// is Connect's form of the union; else each branch is made a value of the type.
func (c *avroCompiler) union(r *avroReader, wanted []bool) {
	r.op = avroReadBranch
	child := func(branch *avroType) int {
		return slices.IndexFunc(r.to.Fields, func(field types.Field) bool {
			return strings.EqualFold(field.Name, branch.branchName())
		})
	}
	variant := slices.ContainsFunc(r.from.branches, func(branch *avroType) bool { return child(branch) >= 0 })
	for _, branch := range r.from.branches {
		step := avroStep{name: branch.branchName(), child: -1}
		switch at := child(branch); {
		case !variant:
			step.child, step.reader = 0, c.reader(branch, r.to, wanted)
		case at < 0 || wanted != nil && !wanted[at]:
			step.reader = c.skip(branch)
		default:
			step = c.step(step.name, branch, r.to, at)
		}
		r.steps = append(r.steps, step)
	}
	if variant {
		r.op, r.partial = avroReadVariant, true
	}
}

// skip is the reader that skips a type; there is one for each, since recursive
// types skip themselves.
func (c *avroCompiler) skip(from *avroType) *avroReader {
	if r := c.skips[from]; r != nil {
		return r
	}
	r := &avroReader{null: -1, from: from}
	c.skips[from] = r
	switch from.kind {
	case avroNull:
		r.op = avroSkipNull
	case avroBoolean:
		r.op, r.size = avroSkipFixed, 1
	case avroInt, avroLong, avroEnum:
		r.op = avroSkipVarint
	case avroFloat:
		r.op, r.size = avroSkipFixed, 4
	case avroDouble:
		r.op, r.size = avroSkipFixed, 8
	case avroFixed:
		r.op, r.size = avroSkipFixed, from.size
	case avroBytes, avroString:
		r.op = avroSkipBytes
	case avroArray, avroMap:
		r.op, r.keyed, r.elem = avroSkipBlocks, from.kind == avroMap, c.skip(from.elem)
	case avroRecord:
		r.op = avroSkipRecord
		for i := range from.fields {
			r.steps = append(r.steps, avroStep{name: from.fields[i].name, child: -1, reader: c.skip(from.fields[i].kind)})
		}
	case avroUnion:
		inner, null := from.nullable()
		if null >= 0 && len(inner.fields) == 0 && inner.elem == nil && len(inner.branches) == 0 {
			*r = *c.skip(inner)
			r.null, r.present, r.least = null, presentByte(null), 1
			return r
		}
		r.op = avroSkipUnion
		for _, branch := range from.branches {
			r.steps = append(r.steps, avroStep{name: branch.branchName(), child: -1, reader: c.skip(branch)})
		}
	}
	r.least = leastBytes(r)
	return r
}

// leastBytes is avroReader.least of r, whose parts have theirs. Of a record that
// is still being made, inside itself, it is 0: never too much.
func leastBytes(r *avroReader) int {
	if r.null >= 0 {
		return 1
	}
	switch r.from.kind {
	case avroNull:
		return 0
	case avroFloat:
		return 4
	case avroDouble:
		return 8
	case avroFixed:
		return r.from.size
	case avroRecord:
		sum := 0
		for _, step := range r.steps {
			sum = min(sum+step.reader.least, math.MaxInt32)
		}
		return sum
	}
	return 1
}
