package format

import (
	"math"
	"slices"
	"strconv"

	"millrace/exec/column"
	"millrace/sql/types"
)

// value reads the value at i, inside depth open brackets, into row of v.
func (d *jsonDecoder) value(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	if i >= len(b) {
		return d.syntax(i, faultValue)
	}
	if b[i] == 'n' {
		v.SetNull(row)
		return d.skip(b, i, depth)
	}
	switch t.Kind {
	case types.KindString:
		return d.string(b, i, v, row, depth)
	case types.KindDouble:
		return d.double(b, i, v, t, row, depth)
	case types.KindBoolean:
		return d.boolean(b, i, v, t, row, depth)
	case types.KindDecimal, types.KindBytes:
		return d.textual(b, i, v, t, row, depth)
	case types.KindArray:
		return d.array(b, i, v, t, row, depth)
	case types.KindMap:
		return d.mapping(b, i, v, t, row, depth)
	case types.KindStruct:
		if b[i] != '{' {
			return d.wrongType(b, i, t, depth)
		}
		if depth >= maxJSONDepth {
			return d.syntax(i, faultDepth)
		}
		for _, child := range v.Children {
			child.SetNull(row)
		}
		v.Valid.Set(row)
		return d.object(b, i, v.Children, t.object, row, depth+1)
	}
	return d.whole(b, i, v, t, row, depth)
}

// wrongType says that the value at i has no form of the type, if it is a value.
func (d *jsonDecoder) wrongType(b []byte, i int, t *jsonType, depth int) int {
	next := d.skip(b, i, depth)
	if next < 0 {
		return -1
	}
	return d.mismatch(noValue(shown(b[i:next]), t.Type))
}

func (d *jsonDecoder) string(b []byte, i int, v *column.Vector, row, depth int) int {
	if b[i] == '"' {
		return d.plainText(b, i, v, row)
	}
	return d.otherString(b, i, v, row, depth)
}

// otherString makes a STRING of what is no text: numbers and booleans as they
// stand, an object as its JSON, an array as [a, b].
func (d *jsonDecoder) otherString(b []byte, i int, v *column.Vector, row, depth int) int {
	next := d.skip(b, i, depth)
	if next < 0 {
		return -1
	}
	part := b[i:next]
	switch b[i] {
	case '{':
		v.SetText(row, d.arena.Keep(appendCompact(d.arena.Tail(2*len(part)), part)))
	case '[':
		text, _ := appendArrayText(d.arena.Tail(2*len(part)), part, 0)
		v.SetText(row, d.arena.Keep(text))
	default:
		v.SetText(row, column.View(part))
	}
	return next
}

func (d *jsonDecoder) boolean(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	switch {
	case hasWord(b, i, "true"):
		v.SetBool(row, true)
		return i + 4
	case hasWord(b, i, "false"):
		v.SetBool(row, false)
		return i + 5
	}
	return d.wrongType(b, i, t, depth)
}

// whole reads a number without its fraction, or a text that is a whole number,
// exactly: never by way of a DOUBLE.
func (d *jsonDecoder) whole(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	start := i
	negative := b[i] == '-'
	if negative {
		i++
	}
	digits := i
	var n uint64
	for i < len(b) && b[i]-'0' <= 9 {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	if i == digits || i-digits > 18 || b[digits] == '0' && i-digits > 1 ||
		i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e') {
		return d.otherWhole(b, start, v, t, row, depth)
	}
	value := int64(n)
	if negative {
		value = -value
	}
	if value < t.low || value > t.high {
		return d.mismatch(outOfRange(string(b[start:i]), t.Type))
	}
	v.SetInt(row, value)
	return i
}

func (d *jsonDecoder) otherWhole(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	if b[i] != '-' && b[i]-'0' > 9 {
		return d.textual(b, i, v, t, row, depth)
	}
	end := scanNumber(b, i)
	if end < 0 {
		return d.syntax(i, faultNumber)
	}
	value, ok := truncate(b[i:end])
	if !ok || value < t.low || value > t.high {
		return d.mismatch(outOfRange(string(b[i:end]), t.Type))
	}
	v.SetInt(row, value)
	return end
}

// textual reads a value by its text form: a text of any scalar type, a number
// of DECIMAL.
func (d *jsonDecoder) textual(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	var text string
	next := i
	switch {
	case b[i] == '"':
		if text, next = d.text(b, i); next < 0 {
			return -1
		}
	case t.Kind == types.KindDecimal && (b[i] == '-' || b[i]-'0' <= 9):
		if next = scanNumber(b, i); next < 0 {
			return d.syntax(i, faultNumber)
		}
		text = column.View(b[i:next])
	default:
		return d.wrongType(b, i, t, depth)
	}
	if reason := setFromText(v, row, text, d.arena); reason != "" {
		return d.mismatch(reason)
	}
	return next
}

var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// double reads a DOUBLE. Up to 15 digits and powers of ten up to 10^22 are
// exact doubles, so that one division rounds correctly (Clinger 1990).
func (d *jsonDecoder) double(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	start := i
	negative := b[i] == '-'
	if negative {
		i++
	}
	digits := i
	var n uint64
	for i < len(b) && b[i]-'0' <= 9 {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	count, fraction := i-digits, 0
	if count > 0 && i < len(b) && b[i] == '.' {
		point := i
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			n = n*10 + uint64(b[i]-'0')
		}
		if fraction = i - point - 1; fraction == 0 {
			return d.syntax(start, faultNumber)
		}
	}
	if count == 0 || count+fraction > 15 || b[digits] == '0' && count > 1 || i < len(b) && b[i]|0x20 == 'e' {
		return d.otherDouble(b, start, v, t, row, depth)
	}
	value := float64(n)
	if fraction > 0 {
		value /= exactPowers[fraction]
	}
	if negative {
		value = -value
	}
	v.SetDouble(row, value)
	return i
}

func (d *jsonDecoder) otherDouble(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	if b[i] != '-' && b[i]-'0' > 9 {
		return d.textual(b, i, v, t, row, depth)
	}
	end := scanNumber(b, i)
	if end < 0 {
		return d.syntax(i, faultNumber)
	}
	value, err := strconv.ParseFloat(column.View(b[i:end]), 64)
	if err != nil {
		return d.mismatch(outOfRange(string(b[i:end]), t.Type))
	}
	v.SetDouble(row, value)
	return end
}

func (d *jsonDecoder) array(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	if b[i] != '[' {
		return d.wrongType(b, i, t, depth)
	}
	if depth >= maxJSONDepth {
		return d.syntax(i, faultDepth)
	}
	elements := v.Children[0]
	start := elements.Len()
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		v.SetSpan(row, start, 0)
		return i + 1
	}
	for n := 1; ; n++ {
		if i = d.value(b, i, elements, t.elem, elements.Extend(1), depth+1); i < 0 {
			d.fault.path = "[" + strconv.Itoa(n) + "]" + d.fault.path
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = skipSpace(b, i+1)
		case i < len(b) && b[i] == ']':
			v.SetSpan(row, start, n)
			return i + 1
		default:
			return d.syntax(i, faultComma)
		}
	}
}

func (d *jsonDecoder) mapping(b []byte, i int, v *column.Vector, t *jsonType, row, depth int) int {
	if b[i] != '{' && (b[i] != '[' || !d.entryMaps) {
		return d.wrongType(b, i, t, depth)
	}
	if depth >= maxJSONDepth {
		return d.syntax(i, faultDepth)
	}
	closing := byte('}')
	if b[i] == '[' {
		closing = ']'
	}
	entries := mapEntries{keys: v.Children[0], values: v.Children[1], start: v.Children[0].Len()}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == closing {
		v.SetSpan(row, entries.start, 0)
		return i + 1
	}
	for {
		if closing == '}' {
			i = d.mapMember(b, i, &entries, t, depth+1)
		} else {
			i = d.mapEntry(b, i, &entries, t, depth+1)
		}
		if i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = skipSpace(b, i+1)
		case i < len(b) && b[i] == closing:
			v.SetSpan(row, entries.start, entries.keys.Len()-entries.start)
			return i + 1
		default:
			return d.syntax(i, faultComma)
		}
	}
}

// mapMember reads the member at i of the object that is a MAP.
func (d *jsonDecoder) mapMember(b []byte, i int, entries *mapEntries, t *jsonType, depth int) int {
	if i >= len(b) || b[i] != '"' {
		return d.syntax(i, faultName)
	}
	var key string
	if key, i = d.text(b, i); i < 0 {
		return -1
	}
	if i = d.colon(b, i); i < 0 {
		return -1
	}
	if i = d.value(b, i, entries.values, t.elem, entries.at(key), depth); i < 0 {
		d.fault.path = "['" + clip(key) + "']" + d.fault.path
	}
	return i
}

// mapEntries are the entries of the MAP being read, from row start on.
type mapEntries struct {
	keys, values *column.Vector
	start        int
	index        map[string]int // of a map that is too large to be searched
}

// at is the row of a key's entry: an existing one if the key came before,
// since the last value wins.
func (m *mapEntries) at(key string) int {
	const few = 16
	count := m.keys.Len() - m.start
	if count == few && m.index == nil {
		m.index = make(map[string]int, 2*few)
		for at := m.start; at < m.start+count; at++ {
			m.index[m.keys.Texts[at]] = at
		}
	}
	if m.index != nil {
		if at, ok := m.index[key]; ok {
			return at
		}
	} else if at := slices.Index(m.keys.Texts[m.start:m.keys.Len()], key); at >= 0 {
		return m.start + at
	}
	at := m.keys.Extend(1)
	m.values.Extend(1)
	m.keys.SetText(at, key)
	if m.index != nil {
		m.index[key] = at
	}
	return at
}

// truncate is a JSON number without its fraction, if it fits 64 bits.
func truncate(number []byte) (int64, bool) {
	negative := number[0] == '-'
	if negative {
		number = number[1:]
	}
	// The digits before the point count point, more by the exponent.
	point, seen, exponent := 0, false, 0
	end := len(number)
	for i, c := range number {
		if c|0x20 == 'e' {
			exponent, end = clampedExponent(number[i+1:]), i
			break
		}
	}
	var digits [20]byte
	count := 0
	for _, c := range number[:end] {
		switch {
		case c == '.':
			seen = true
			continue
		case !seen:
			point++
		}
		if c == '0' && count == 0 {
			point--
			continue
		}
		if count < len(digits) {
			digits[count] = c - '0'
		}
		count++
	}
	point += exponent
	if count == 0 || point <= 0 {
		return 0, true
	}
	if point > 19 {
		return 0, false
	}
	var n uint64
	for k := range point {
		n *= 10
		if k < count {
			n += uint64(digits[k])
		}
	}
	if negative {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n <= math.MaxInt64
}

// clampedExponent reads an exponent; beyond a million its size no longer
// matters, since payloads are shorter.
func clampedExponent(text []byte) int {
	sign := 1
	if text[0] == '-' || text[0] == '+' {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	const most = 1 << 40
	n := 0
	for _, c := range text {
		n = min(n*10+int(c-'0'), most)
	}
	return sign * n
}
