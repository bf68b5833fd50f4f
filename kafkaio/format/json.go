package format

import (
	"millrace/exec/column"
	"millrace/sql/types"
)

// jsonFormat is one JSON value a record, by RFC 8259: an object with a member
// a column, or the bare value of the only column.
type jsonFormat struct{}

func (jsonFormat) Check(spec Spec, key bool, fields []Field) error {
	if err := checkKeyMaps(key, fields); err != nil {
		return err
	}
	for _, field := range fields {
		otherKey := func(t *types.Type) bool { return t.Kind == types.KindMap && t.Key.Kind != types.KindString }
		if field.Type.Contains(otherKey) {
			return types.Errorf(types.CodeType, "%s only supports MAP types with STRING keys, and column %s is of type %s",
				spec.Name, types.QuoteName(field.Name), field.Type).
				WithHint("cast the keys to STRING")
		}
	}
	if spec.Unwrapped && len(fields) != 1 {
		return types.Errorf(types.CodeProperty, "WRAP_SINGLE_VALUE needs a single column, but there are %d", len(fields)).
			WithHint("leave WRAP_SINGLE_VALUE out")
	}
	return checkNoDelimiter(spec, key)
}

func (jsonFormat) Wraps() bool { return true }

func (jsonFormat) NewDecoder(spec Spec, fields []Field, wanted []bool) Decoder {
	d := &jsonDecoder{}
	if spec.Unwrapped && len(fields) == 1 {
		d.bareName, d.bare = fields[0].Name, newJSONType(fields[0].Type)
		return d
	}
	d.root = newJSONObject(len(fields))
	for i, field := range fields {
		d.root.add(i, field.Name, field.Type, wanted == nil || wanted[i])
	}
	return d
}

func (jsonFormat) NewEncoder(spec Spec, fields []Field) Encoder {
	members := make([]types.Field, len(fields))
	for i, field := range fields {
		members[i] = types.Field{Name: field.Name, Type: field.Type}
	}
	return &jsonEncoder{bare: spec.Unwrapped && len(fields) == 1, row: newJSONLayout(types.StructOf(members...))}
}

// jsonDecoder reads JSON in one pass, straight into vectors. Members that no
// one wants are only checked.
//
// Its methods take the payload b and an offset i into it and return the offset
// behind what they read, or -1 with the fault in d.fault.
type jsonDecoder struct {
	root     *jsonObject // nil: the only field stands bare
	bare     *jsonType
	bareName string
	// entryMaps says that a MAP may also stand as an array of its entries.
	entryMaps bool

	arena      *column.Arena
	generation uint64 // numbers the objects read, to tell their members apart
	open       []byte // the brackets that a skipped value has open
	fault      jsonFault
}

func (d *jsonDecoder) Decode(
	payloads [][]byte, rows []int32, out []*column.Vector, arena *column.Arena, bad func(int32, error),
) {
	d.arena = arena
	for _, row := range rows {
		b := payloads[row]
		i := d.payload(b, skipSpace(b, 0), out, int(row))
		if i >= 0 && i < len(b) {
			if i = skipSpace(b, i); i < len(b) {
				i = d.syntax(i, "there is more behind the value")
			}
		}
		if i < 0 {
			bad(row, d.fault.recordError(b))
		}
	}
}

func (d *jsonDecoder) payload(b []byte, i int, out []*column.Vector, row int) int {
	switch {
	case i == len(b):
		return d.mismatch("the payload is empty")
	case d.root == nil && out[0] == nil:
		return d.skip(b, i, 0)
	case d.root == nil:
		if i = d.value(b, i, out[0], d.bare, row, 0); i < 0 {
			d.fault.path = d.bareName + d.fault.path
		}
		return i
	case b[i] == '{':
		return d.object(b, i, out, d.root, row, 1)
	case b[i] == 0:
		return d.mismatch("the payload starts with a zero byte, as those of schema registry formats do")
	}
	next := d.skip(b, i, 0)
	if next < 0 || b[i] == 'n' {
		return next
	}
	return d.mismatch("an object is expected, not " + shown(b[i:next]))
}

// jsonFault is the first fault of a payload.
type jsonFault struct {
	syntax       string // what is wrong with the JSON at offset at; else:
	at           int
	path, reason string
}

func (f *jsonFault) recordError(b []byte) error {
	if f.syntax != "" {
		return &RecordError{Reason: syntaxReason(b, f.at, f.syntax)}
	}
	path := f.path
	if len(path) > 2 && path[:2] == "->" {
		path = path[2:]
	}
	return &RecordError{Path: path, Reason: f.reason}
}

// syntax notes that the payload is not JSON.
func (d *jsonDecoder) syntax(at int, what string) int {
	d.fault = jsonFault{syntax: what, at: at}
	return -1
}

// mismatch notes that a value does not fit its type.
func (d *jsonDecoder) mismatch(reason string) int {
	d.fault = jsonFault{reason: reason}
	return -1
}
