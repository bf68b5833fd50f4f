package format

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"millrace/sql/types"
)

var (
	errAvroRequired = &RecordError{Reason: "the value is missing or null, but the schema requires one"}
	errAvroNested   = &RecordError{Reason: avroTooDeep}
)

// appendAvroValue appends a value as type t. Values are those of JSON, objects
// as orderedMembers, and those that the Avro library gives for defaults: []byte for
// bytes, and the sized numbers. nil is a missing value too. The paths of faults
// start with the step to the outermost field.
func appendAvroValue(dst []byte, t *avroType, value any, depth int) ([]byte, *RecordError) {
	if depth > maxAvroDepth {
		return nil, errAvroNested
	}
	switch t.kind {
	case avroNull:
		if value != nil {
			return nil, unfitValue(value, t)
		}
		return dst, nil
	case avroUnion:
		return appendAvroUnion(dst, t, value, depth)
	}
	if value == nil {
		return nil, errAvroRequired
	}
	switch t.kind {
	case avroRecord:
		return appendAvroRecord(dst, t, value, depth)
	case avroArray, avroMap:
		return appendAvroCollection(dst, t, value, depth)
	case avroBytes, avroFixed:
		return appendAvroBytes(dst, t, value)
	}
	text, ok := scalarText(value)
	if !ok {
		return nil, unfitValue(value, t)
	}
	return appendAvroScalar(dst, t, text)
}

func unfitValue(value any, t *avroType) *RecordError {
	return &RecordError{Reason: shownValue(value) + " is no value of the type " + t.shown()}
}

// inside puts a step before the path of a fault.
func inside(step string, fault *RecordError) *RecordError {
	return &RecordError{Path: step + fault.Path, Reason: fault.Reason}
}

func shownValue(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(clip(text))
	}
	if text, ok := scalarText(value); ok {
		return clip(text)
	}
	if _, ok := value.([]any); ok {
		return "an array"
	}
	return "an object"
}

// scalarText is the text of a scalar.
func scalarText(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return strconv.FormatBool(value), true
	case int32:
		return strconv.FormatInt(int64(value), 10), true
	case int64:
		return strconv.FormatInt(value, 10), true
	case float32:
		return string(types.AppendDouble(nil, float64(value))), true
	case float64:
		return string(types.AppendDouble(nil, value)), true
	}
	return "", false
}

func appendAvroScalar(dst []byte, t *avroType, text string) ([]byte, *RecordError) {
	switch t.kind {
	case avroString:
		return appendAvroText(dst, text), nil
	case avroEnum:
		if at := slices.Index(t.symbols, text); at >= 0 {
			return binary.AppendVarint(dst, int64(at)), nil
		}
	case avroBoolean:
		switch {
		case strings.EqualFold(text, "true"):
			return append(dst, 1), nil
		case strings.EqualFold(text, "false"):
			return append(dst, 0), nil
		}
	case avroInt, avroLong:
		whole, err := types.ParseDecimal(text, types.DecimalOf(19, 0))
		value, small := whole.Small()
		if err == nil && small && (t.kind == avroLong || value == int64(int32(value))) {
			return binary.AppendVarint(dst, value), nil
		}
	case avroFloat, avroDouble:
		value, reason := parseDouble(text)
		switch {
		case reason != "":
		case t.kind == avroFloat:
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(value))), nil
		default:
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(value)), nil
		}
	}
	return nil, unfitValue(text, t)
}

// appendAvroBytes appends bytes or a fixed of base64 text, or a decimal of a
// number or its text.
func appendAvroBytes(dst []byte, t *avroType, value any) ([]byte, *RecordError) {
	part, raw := value.([]byte)
	if !raw {
		text, ok := scalarText(value)
		if !ok {
			return nil, unfitValue(value, t)
		}
		var err error
		if t.logical == logicalDecimal {
			part, err = decimalBytes(text, t)
		} else {
			part, err = base64.StdEncoding.DecodeString(text)
		}
		if err != nil {
			fault := unfitValue(value, t)
			fault.Reason += ": " + err.Error()
			return nil, fault
		}
	}
	if t.kind == avroBytes {
		return append(binary.AppendVarint(dst, int64(len(part))), part...), nil
	}
	if !raw && t.logical == logicalDecimal && len(part) <= t.size {
		dst = appendSign(dst, part[0] >= 0x80, t.size-len(part))
	} else if len(part) != t.size {
		return nil, &RecordError{Reason: fmt.Sprintf("%s takes %d bytes, not %d", t.shown(), t.size, len(part))}
	}
	return append(dst, part...), nil
}

// decimalBytes are the bytes of a number with the scale and precision of t.
func decimalBytes(text string, t *avroType) ([]byte, error) {
	value, scale, err := types.ParseUnscaled(text)
	if err != nil {
		return nil, err
	}
	ten := big.NewInt(10)
	const most = 1000 // digits that are worth computing with
	if scale > t.scale+most || scale < t.scale-most {
		return nil, types.ErrDecimalOverflow
	}
	for ; scale < t.scale; scale++ {
		value.Mul(value, ten)
	}
	for rest := new(big.Int); scale > t.scale; scale-- {
		if value.QuoRem(value, ten, rest); rest.Sign() != 0 {
			return nil, types.ErrDecimalRounding
		}
	}
	if len(new(big.Int).Abs(value).String()) > t.precision && value.Sign() != 0 {
		return nil, types.ErrDecimalOverflow
	}
	return bytesOfBig(value), nil
}

// bytesOfBig is a number in as few bytes as hold it in two's complement,
// big-endian, and at least one.
func bytesOfBig(value *big.Int) []byte {
	size := value.BitLen()/8 + 1
	if value.Sign() < 0 {
		size = new(big.Int).Not(value).BitLen()/8 + 1
		value = new(big.Int).Add(value, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return value.FillBytes(make([]byte, size))
}

func appendAvroRecord(dst []byte, t *avroType, value any, depth int) ([]byte, *RecordError) {
	members, ok := orderedMembersOf(value)
	if !ok {
		return nil, unfitValue(value, t)
	}
	for i := range t.fields {
		field := &t.fields[i]
		value := members.find(field.name)
		if value == nil && field.hasDefault && !avroTakesNull(field.kind) {
			value = field.value
		}
		var err *RecordError
		if dst, err = appendAvroValue(dst, field.kind, value, depth+1); err != nil {
			return nil, inside("->"+field.name, err)
		}
	}
	return dst, nil
}

func avroTakesNull(t *avroType) bool {
	return t.kind == avroNull || slices.ContainsFunc(t.branches, func(branch *avroType) bool { return branch.kind == avroNull })
}

// appendAvroCollection appends an array of an array, and a map, or the array of
// entries that stands for one, of an object.
func appendAvroCollection(dst []byte, t *avroType, value any, depth int) ([]byte, *RecordError) {
	elements, isArray := value.([]any)
	if isArray != (t.kind == avroArray) || !isArray {
		members, ok := orderedMembersOf(value)
		_, _, entries := t.entry()
		if !ok || t.kind == avroArray && !entries {
			return nil, unfitValue(value, t)
		}
		return appendAvroMembers(dst, t, members, depth)
	}
	if len(elements) > 0 {
		dst = binary.AppendVarint(dst, int64(len(elements)))
	}
	for n, element := range elements {
		var err *RecordError
		if dst, err = appendAvroValue(dst, t.elem, element, depth+1); err != nil {
			return nil, inside("["+strconv.Itoa(n+1)+"]", err)
		}
	}
	return append(dst, 0), nil
}

func appendAvroMembers(dst []byte, t *avroType, members orderedMembers, depth int) ([]byte, *RecordError) {
	if len(members) > 0 {
		dst = binary.AppendVarint(dst, int64(len(members)))
	}
	for _, member := range members {
		var err *RecordError
		elem := t.elem
		if t.kind == avroMap {
			dst = appendAvroText(dst, member.name)
		} else {
			elem = t.elem.fields[1].kind
			if dst, err = appendAvroValue(dst, t.elem.fields[0].kind, member.name, depth+1); err != nil {
				return nil, err
			}
		}
		if dst, err = appendAvroValue(dst, elem, member.value, depth+1); err != nil {
			return nil, inside("['"+clip(member.name)+"']", err)
		}
	}
	return append(dst, 0), nil
}

// appendAvroUnion appends the branch that the value is of: one that an object's
// only member names, else the first one of the kind that JSON has the value in,
// else the first one that the value can be made of.
func appendAvroUnion(dst []byte, t *avroType, value any, depth int) ([]byte, *RecordError) {
	if _, null := t.nullable(); null < 0 {
		if members, ok := orderedMembersOf(value); ok && len(members) == 1 {
			named := func(branch *avroType) bool {
				return strings.EqualFold(branch.branchName(), members[0].name) || branch.name != "" && branch.name == members[0].name
			}
			if at := slices.IndexFunc(t.branches, named); at >= 0 {
				return appendAvroValue(binary.AppendVarint(dst, int64(at)), t.branches[at], members[0].value, depth+1)
			}
		}
	}
	fault, ofKind := errAvroRequired, false
	for _, strict := range []bool{true, false} {
		for i, branch := range t.branches {
			if strict != sameJSONKind(branch, value) {
				continue // each is tried once, however deep unions nest
			}
			out, err := appendAvroValue(binary.AppendVarint(dst, int64(i)), branch, value, depth+1)
			if err == nil {
				return out, nil
			}
			if branch.kind != avroNull && (strict || !ofKind) {
				fault, ofKind = err, strict
			}
		}
	}
	return nil, fault
}

// sameJSONKind tells whether values of t are of the kind that value is in JSON,
// or of the very type that a default is given in.
func sameJSONKind(t *avroType, value any) bool {
	kinds := ""
	switch value.(type) {
	case nil:
		kinds = avroNull
	case bool:
		kinds = avroBoolean
	case json.Number:
		kinds = avroInt + avroLong + avroFloat + avroDouble
	case string:
		kinds = avroString + avroEnum
	case int32:
		kinds = avroInt
	case int64:
		kinds = avroLong
	case float32:
		kinds = avroFloat
	case float64:
		kinds = avroDouble
	case []byte:
		kinds = avroBytes + avroFixed
	case []any:
		kinds = avroArray
	default:
		kinds = avroRecord + avroMap
	}
	return strings.Contains(kinds, t.kind)
}
