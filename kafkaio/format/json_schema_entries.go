package format

// Kafka Connect writes a MAP whose keys may be null as an array of objects,
// each with a key and a value.
const (
	entryKey   = "key"
	entryValue = "value"
)

// mapEntry reads the object at i of the array that is a MAP. Its value may stand
// before its key.
func (d *jsonDecoder) mapEntry(b []byte, i int, entries *mapEntries, t *jsonType, depth int) int {
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
