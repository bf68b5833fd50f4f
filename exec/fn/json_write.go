package fn

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"

	"millrace/exec/column"
	"millrace/sql/types"
)

// append appends v without blanks.
func (p *jsonParser) append(dst []byte, v int32) []byte {
	n := &p.nodes[v]
	switch n.kind {
	case jsonBoolean:
		return strconv.AppendBool(dst, n.truth)
	case jsonNumber:
		return append(dst, n.text...)
	case jsonString:
		return appendJSONString(dst, n.text)
	case jsonArray:
		return append(p.appendChildren(append(dst, '['), n), ']')
	case jsonObject:
		return append(p.appendChildren(append(dst, '{'), n), '}')
	}
	return append(dst, "null"...)
}

func (p *jsonParser) appendChildren(dst []byte, n *jsonNode) []byte {
	for child := n.first; child != noNode; child = p.nodes[child].next {
		if child != n.first {
			dst = append(dst, ',')
		}
		if n.kind == jsonObject {
			dst = append(appendJSONString(dst, p.nodes[child].key), ':')
		}
		dst = p.append(dst, child)
	}
	return dst
}

// appendBare appends the text of a string, and the JSON text of all else.
func (p *jsonParser) appendBare(dst []byte, v int32) []byte {
	if n := &p.nodes[v]; n.kind == jsonString {
		return append(dst, n.text...)
	}
	return p.append(dst, v)
}

// appendJSONString escapes quotes, backslashes and control characters only.
func appendJSONString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	plain := 0
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			dst = appendJSONEscape(append(dst, text[plain:i]...), c)
			plain = i + 1
		}
	}
	return append(append(dst, text[plain:]...), '"')
}

func appendJSONEscape(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// appendJSON appends row i of v as TO_JSON_STRING writes it: fields and keys
// sorted, times in the form of CAST, BYTES in base64.
func appendJSON(dst []byte, v *column.Vector, i int) []byte {
	if v.Null(i) {
		return append(dst, "null"...)
	}
	switch v.Type.Kind {
	case types.KindString:
		return appendJSONString(dst, v.Texts[i])
	case types.KindBytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), column.Bytes(v.Texts[i]))
		return append(dst, '"')
	case types.KindDate, types.KindTime, types.KindTimestamp:
		return append(AppendText(append(dst, '"'), v, i), '"')
	case types.KindDouble:
		if d := v.Doubles[i]; d != d || math.IsInf(d, 0) {
			return append(AppendText(append(dst, '"'), v, i), '"')
		}
	case types.KindArray:
		dst = append(dst, '[')
		for n := range int(v.Spans[i].Len) {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, v.Children[0], int(v.Spans[i].Start)+n)
		}
		return append(dst, ']')
	case types.KindMap, types.KindStruct:
		return appendJSONObject(dst, v, i)
	}
	return AppendText(dst, v, i)
}

// jsonMember is a member of an object to be written.
type jsonMember struct {
	key    string
	vector *column.Vector
	at     int
}

func appendJSONObject(dst []byte, v *column.Vector, i int) []byte {
	var room [16]jsonMember
	members := room[:0]
	if v.Type.Kind == types.KindStruct {
		for k, field := range v.Type.Fields {
			members = append(members, jsonMember{field.Name, v.Children[k], i})
		}
	} else {
		members = appendEntries(members, v, i)
	}
	slices.SortStableFunc(members, func(a, b jsonMember) int { return types.CompareText(a.key, b.key) })
	dst = append(dst, '{')
	for n, m := range members {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, m.key), ':')
		dst = appendJSON(dst, m.vector, m.at)
	}
	return append(dst, '}')
}

// appendEntries appends the entries of the MAP in row i; keys that are no texts
// are printed.
func appendEntries(members []jsonMember, v *column.Vector, i int) []jsonMember {
	keys, span := v.Children[0], v.Spans[i]
	for n := range int(span.Len) {
		at := int(span.Start) + n
		m := jsonMember{vector: v.Children[1], at: at}
		if keys.Type.Kind == types.KindString && !keys.Null(at) {
			m.key = keys.Texts[at]
		} else {
			m.key = string(AppendText(nil, keys, at))
		}
		members = append(members, m)
	}
	return members
}
