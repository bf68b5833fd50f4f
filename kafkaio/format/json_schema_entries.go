package format

import "millrace/exec/column"

// Kafka Connect writes a MAP whose keys may be null as an array of objects,
// each with a key and a value.
const (
	entryKey   = "key"
	entryValue = "value"
)

// entries reads the MAP that stands as an array at i.
func (d *jsonDecoder) entries(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	entries := mapEntries{keys: v.Children[0], values: v.Children[1], start: v.Children[0].Len()}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		v.SetSpan(row, entries.start, 0)
		return i + 1
	}
	for {
		if i = d.entry(b, i, &entries, t, depth+1); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = skipSpace(b, i+1)
		case i < len(b) && b[i] == ']':
			v.SetSpan(row, entries.start, entries.keys.Len()-entries.start)
			return i + 1
		default:
			return d.syntax(i, faultComma)
		}
	}
}

// entry reads the object at i. Its value may stand before its key.
func (d *jsonDecoder) entry(b []byte, i int, entries *mapEntries, t *jsonType, depth int) int {
	end := d.skip(b, i, depth)
	if end < 0 {
		return -1
	}
	if b[i] != '{' {
		return d.mismatch("an object with a key and a value is expected, not " + shown(b[i:end]))
	}
	var key string
	hasKey, value := false, -1
	for at := skipSpace(b, i+1); b[at] != '}'; at = skipComma(b, at) {
		var name string
		name, at = d.text(b, at)
		at = d.colon(b, at)
		switch {
		case name == entryKey && b[at] == '"':
			hasKey = true
			key, at = d.text(b, at)
		case name == entryValue:
			value = at
			at = d.skip(b, at, depth+1)
		default:
			at = d.skip(b, at, depth+1)
		}
	}
	if !hasKey {
		return d.mismatch("an entry of a MAP has no key that is a text: " + shown(b[i:end]))
	}
	at := entries.at(key)
	entries.values.SetNull(at)
	if value >= 0 && d.value(b, value, entries.values, t.elem, at, depth+1) < 0 {
		d.fault.path = "['" + clip(key) + "']" + d.fault.path
		return -1
	}
	return end
}
