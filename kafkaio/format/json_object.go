package format

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

// jsonType is a type with what reading a value of it needs.
type jsonType struct {
	*types.Type
	low, high int64       // of a kind that is held in Ints
	elem      *jsonType   // ARRAY, MAP
	object    *jsonObject // STRUCT
}

func newJSONType(t *types.Type) *jsonType {
	j := &jsonType{Type: t}
	j.low, j.high = wholeRange(t.Kind)
	switch t.Kind {
	case types.KindArray, types.KindMap:
		j.elem = newJSONType(t.Elem)
	case types.KindStruct:
		j.object = newJSONObject(len(t.Fields))
		for i, field := range t.Fields {
			j.object.add(i, field.Name, field.Type, true)
		}
	}
	return j
}

const (
	nameSlots     = 128
	namePositions = 64
	maxCachedName = 128
)

// jsonObject finds the fields of one STRUCT or row by the names of members.
//
// Producers write the same members in the same order, so the raw name that
// stood last at a position is compared first; then a direct-mapped cache of
// raw names is asked; only then is a name unescaped and looked up.
type jsonObject struct {
	names []string
	types []*jsonType
	index map[string]int
	// exact[f] is the number of the last object that had field f by its exact
	// name, which beats a name that is only equal in capitals.
	exact   []uint64
	guesses []jsonGuess
	cache   []jsonName
	long    jsonName // a name too long to be remembered
}

// jsonName is a member's name as it stands in a payload, with its quotes.
type jsonName struct {
	raw   []byte
	field int // -1: not wanted
	exact bool
	// text says that a text is all the field takes as it is: it is a STRING or
	// not wanted.
	text bool
}

// jsonGuess is the name that stood last at a position, with its colon if that
// followed at once. Names of at most 16 bytes are compared as two words that
// may overlap: the bytes from 0 and from last on, under their masks.
type jsonGuess struct {
	jsonName
	short          bool // at most 16 bytes, colon included
	head, headMask uint64
	tail, tailMask uint64
	last           int
}

func newJSONGuess(name *jsonName, colon bool) jsonGuess {
	g := jsonGuess{jsonName: *name}
	if !colon {
		return g
	}
	g.raw = append(bytes.Clone(name.raw), ':')
	var words [16]byte
	n := copy(words[:], g.raw)
	g.short = n == len(g.raw)
	g.last = max(n-8, 0)
	g.head, g.headMask = binary.LittleEndian.Uint64(words[:]), firstBytes(n)
	g.tail, g.tailMask = binary.LittleEndian.Uint64(words[g.last:]), firstBytes(n)
	return g
}

// firstBytes masks the first n bytes of a little-endian word.
func firstBytes(n int) uint64 { return ^uint64(0) >> (8 * (8 - min(n, 8))) }

// matches tells whether a short guess stands at i, where 16 bytes are left.
func (g *jsonGuess) matches(b []byte, i int) bool {
	return binary.LittleEndian.Uint64(b[i:])&g.headMask == g.head &&
		binary.LittleEndian.Uint64(b[i+g.last:])&g.tailMask == g.tail
}

func newJSONObject(size int) *jsonObject {
	return &jsonObject{
		names:   make([]string, size),
		types:   make([]*jsonType, size),
		index:   make(map[string]int, size),
		exact:   make([]uint64, size),
		guesses: make([]jsonGuess, 0, namePositions),
		cache:   make([]jsonName, nameSlots),
	}
}

func (o *jsonObject) add(i int, name string, t *types.Type, wanted bool) {
	o.names[i] = name
	if _, ok := o.index[name]; ok {
		return
	}
	o.index[name] = i
	if wanted {
		o.types[i] = newJSONType(t)
	}
}

// find looks up a member's unescaped name.
func (o *jsonObject) find(name string) (field int, exact bool) {
	field, exact = o.index[name]
	if !exact {
		var ok bool
		if field, ok = o.index[strings.ToUpper(name)]; !ok {
			return -1, false
		}
	}
	if o.types[field] == nil {
		return -1, exact
	}
	return field, exact
}

// object reads the object at i into row of columns. Members that are missing
// stay as they are. depth counts the open brackets, its own included.
func (d *jsonDecoder) object(b []byte, i int, columns []*column.Vector, o *jsonObject, row, depth int) int {
	d.generation++
	generation := d.generation
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for position := 0; ; position++ {
		var name *jsonName
		if position < len(o.guesses) && o.guesses[position].short && i+16 <= len(b) && o.guesses[position].matches(b, i) {
			name = &o.guesses[position].jsonName
			i += len(name.raw)
		} else if name, i = d.name(b, i, o, position); i < 0 {
			return -1
		}
		if i < len(b) && b[i] <= ' ' {
			i = skipSpace(b, i)
		}
		field := name.field
		if field >= 0 {
			if name.exact {
				o.exact[field] = generation
			} else if o.exact[field] == generation {
				field = -1
			}
		}
		switch {
		case name.text && i < len(b) && b[i] == '"':
			var v *column.Vector
			if field >= 0 {
				v = columns[field]
			}
			i = d.plainText(b, i, v, row)
		case field < 0:
			i = d.skip(b, i, depth)
		default:
			if i = d.value(b, i, columns[field], o.types[field], row, depth); i < 0 {
				d.fault.path = "->" + o.names[field] + d.fault.path
			}
		}
		if i < 0 {
			return -1
		}
		if i < len(b) && b[i] <= ' ' {
			i = skipSpace(b, i)
		}
		if i == len(b) || b[i] != ',' {
			if i < len(b) && b[i] == '}' {
				return i + 1
			}
			return d.syntax(i, faultComma)
		}
		if i++; i < len(b) && b[i] <= ' ' {
			i = skipSpace(b, i)
		}
	}
}

// name reads the name at i that was not guessed and its colon, and remembers
// it.
func (d *jsonDecoder) name(b []byte, i int, o *jsonObject, position int) (*jsonName, int) {
	if i >= len(b) || b[i] != '"' {
		return nil, d.syntax(i, faultName)
	}
	if position < len(o.guesses) && bytes.HasPrefix(b[i:], o.guesses[position].raw) {
		guess := &o.guesses[position]
		if i += len(guess.raw); guess.raw[len(guess.raw)-1] == ':' {
			return &guess.jsonName, i
		}
		return &guess.jsonName, d.colon(b, i)
	}
	end, escaped, wide := scanText(b, i+1)
	if end < 0 {
		return nil, d.syntax(i, faultText)
	}
	raw := b[i : end+1]
	found := &o.long
	if len(raw) <= maxCachedName {
		found = &o.cache[nameSlot(raw)]
	}
	if found == &o.long || !bytes.Equal(found.raw, raw) {
		content := raw[1 : len(raw)-1]
		if wide && !utf8.Valid(content) {
			return nil, d.syntax(i, faultUTF8)
		}
		if escaped {
			content = appendUnescaped(nil, content)
		}
		found.field, found.exact = o.find(column.View(content))
		found.text = found.field < 0 || o.types[found.field].Kind == types.KindString
		if found != &o.long {
			found.raw = bytes.Clone(raw)
		}
	}
	if position < namePositions && found != &o.long {
		for len(o.guesses) <= position {
			o.guesses = append(o.guesses, newJSONGuess(&jsonName{raw: []byte{0}}, false)) // no name starts with it
		}
		o.guesses[position] = newJSONGuess(found, end+1 < len(b) && b[end+1] == ':')
	}
	return found, d.colon(b, end+1)
}

func nameSlot(raw []byte) uint64 {
	var x uint64
	if len(raw) >= 8 {
		x = binary.LittleEndian.Uint64(raw) ^ binary.LittleEndian.Uint64(raw[len(raw)-8:])<<1
	} else {
		for _, c := range raw {
			x = x<<8 | uint64(c)
		}
	}
	return (x ^ uint64(len(raw))) * 0x9E3779B97F4A7C15 >> 57
}
