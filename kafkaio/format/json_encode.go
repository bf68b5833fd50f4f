package format

import (
	"encoding/base64"
	"strconv"

	"millrace/exec/column"
	"millrace/sql/types"
)

// jsonEncoder writes rows with all their fields, nulls too, under the declared
// names. DOUBLE is as Java prints it, DECIMAL has all the digits of its scale.
type jsonEncoder struct {
	bare bool
	row  *jsonLayout
}

// jsonLayout is what is written before each field of a STRUCT or row.
type jsonLayout struct {
	prefixes []string      // {"A": and then ,"B":
	layouts  []*jsonLayout // of the fields' types
	elem     *jsonLayout   // of an ARRAY or MAP
}

func newJSONLayout(t *types.Type) *jsonLayout {
	switch t.Kind {
	case types.KindStruct:
		layout := &jsonLayout{}
		open := byte('{')
		for _, field := range t.Fields {
			prefix := append(appendJSONText([]byte{open}, field.Name), ':')
			layout.prefixes = append(layout.prefixes, string(prefix))
			layout.layouts = append(layout.layouts, newJSONLayout(field.Type))
			open = ','
		}
		return layout
	case types.KindArray, types.KindMap:
		return &jsonLayout{elem: newJSONLayout(t.Elem)}
	}
	return nil
}

func (e *jsonEncoder) Append(dst []byte, columns []*column.Vector, i int) ([]byte, bool, error) {
	if !e.bare {
		return appendJSONRow(dst, columns, e.row, i), false, nil
	}
	if columns[0].Null(i) {
		return dst, true, nil
	}
	return appendJSONValue(dst, columns[0], e.row.layouts[0], i), false, nil
}

func appendJSONRow(dst []byte, columns []*column.Vector, layout *jsonLayout, i int) []byte {
	if len(columns) == 0 {
		return append(dst, "{}"...)
	}
	for c, v := range columns {
		dst = append(dst, layout.prefixes[c]...)
		if v.Null(i) {
			dst = append(dst, "null"...)
			continue
		}
		switch v.Type.Kind {
		case types.KindString:
			dst = appendJSONText(dst, v.Texts[i])
		case types.KindInteger, types.KindBigint:
			dst = strconv.AppendInt(dst, v.Ints[i], 10)
		default:
			dst = appendJSONValue(dst, v, layout.layouts[c], i)
		}
	}
	return append(dst, '}')
}

// appendJSONValue appends row i of v, null or not.
func appendJSONValue(dst []byte, v *column.Vector, layout *jsonLayout, i int) []byte {
	if v.Null(i) {
		return append(dst, "null"...)
	}
	switch v.Type.Kind {
	case types.KindString:
		return appendJSONText(dst, v.Texts[i])
	case types.KindDouble:
		value := v.Doubles[i]
		if value-value != 0 { // JSON has no number for them
			return append(types.AppendDouble(append(dst, '"'), value), '"')
		}
		return types.AppendDouble(dst, value)
	case types.KindBytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), column.Bytes(v.Texts[i]))
		return append(dst, '"')
	case types.KindArray:
		return appendJSONArray(dst, v, layout, i)
	case types.KindMap:
		return appendJSONMap(dst, v, layout, i)
	case types.KindStruct:
		return appendJSONRow(dst, v.Children, layout, i)
	}
	return appendText(dst, v, i)
}

func appendJSONArray(dst []byte, v *column.Vector, layout *jsonLayout, i int) []byte {
	span := v.Spans[i]
	dst = append(dst, '[')
	for n := range int(span.Len) {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONValue(dst, v.Children[0], layout.elem, int(span.Start)+n)
	}
	return append(dst, ']')
}

// appendJSONMap writes a null key as the text null: JSON has no other.
func appendJSONMap(dst []byte, v *column.Vector, layout *jsonLayout, i int) []byte {
	span := v.Spans[i]
	keys, values := v.Children[0], v.Children[1]
	dst = append(dst, '{')
	for n := range int(span.Len) {
		if n > 0 {
			dst = append(dst, ',')
		}
		at := int(span.Start) + n
		switch {
		case keys.Null(at):
			dst = append(dst, `"null"`...)
		case keys.Type.Kind == types.KindString:
			dst = appendJSONText(dst, keys.Texts[at])
		case keys.Type.Nested():
			dst = appendJSONText(dst, string(appendJSONValue(nil, keys, newJSONLayout(keys.Type), at)))
		default:
			dst = append(appendText(append(dst, '"'), keys, at), '"')
		}
		dst = append(dst, ':')
		dst = appendJSONValue(dst, values, layout.elem, at)
	}
	return append(dst, '}')
}
