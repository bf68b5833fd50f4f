package fn

import (
	"encoding/hex"
	"errors"
	"fmt"
	"unicode/utf8"

	"millrace/exec/column"
)

type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBoolean
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

// noNode stands for an absent node.
const noNode = -1

// jsonNode is a value of a JSON text taken apart. Nodes are numbered; the items
// of an array and the members of an object are chained in their order.
type jsonNode struct {
	kind  jsonKind
	truth bool
	key   string // of a member
	text  string // of a number as written, of a string without escapes
	count int32  // of items or members
	first int32
	next  int32
}

var errJSON = errors.New("invalid JSON")

const maxJSONDepth = 500

// jsonParser takes JSON texts apart into nodes, which are valid until reset.
type jsonParser struct {
	text    string
	at      int
	nodes   []jsonNode
	arena   *column.Arena // for texts with escapes
	buf     []byte
	keys    keySet
	members []int32
}

func (p *jsonParser) reset(arena *column.Arena) { p.nodes, p.arena = p.nodes[:0], arena }

// parse reads the JSON value that a text begins with; what follows it is not
// looked at.
func (p *jsonParser) parse(text string) (root int32, err error) {
	p.text, p.at = text, 0
	return p.value(0)
}

// node adds a node; it has no key and no children.
func (p *jsonParser) node(kind jsonKind, text string) int32 {
	p.nodes = append(p.nodes, jsonNode{kind: kind, text: text, first: noNode, next: noNode})
	return int32(len(p.nodes) - 1)
}

// attach puts a child behind the last one of a parent.
func (p *jsonParser) attach(parent, last, child int32) {
	p.nodes[parent].count++
	p.nodes[child].next = noNode
	if last == noNode {
		p.nodes[parent].first = child
	} else {
		p.nodes[last].next = child
	}
}

func (p *jsonParser) fault(what string) error {
	return fmt.Errorf("%w at byte %d: %s", errJSON, p.at, what)
}

func (p *jsonParser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *jsonParser) next(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *jsonParser) word(word string) bool {
	if len(p.text)-p.at < len(word) || p.text[p.at:p.at+len(word)] != word {
		return false
	}
	p.at += len(word)
	return true
}

func (p *jsonParser) value(depth int) (int32, error) {
	p.space()
	switch {
	case depth > maxJSONDepth:
		return noNode, p.fault("nested too deep")
	case p.at >= len(p.text):
		return noNode, p.fault("a value is missing")
	case p.text[p.at] == '{':
		return p.object(depth)
	case p.text[p.at] == '[':
		return p.array(depth)
	case p.text[p.at] == '"':
		text, err := p.quoted()
		return p.node(jsonString, text), err
	case p.word("null"):
		return p.node(jsonNull, ""), nil
	case p.word("true"):
		v := p.node(jsonBoolean, "")
		p.nodes[v].truth = true
		return v, nil
	case p.word("false"):
		return p.node(jsonBoolean, ""), nil
	}
	return p.number()
}

func (p *jsonParser) object(depth int) (int32, error) {
	v, last := p.node(jsonObject, ""), int32(noNode)
	p.at++
	if p.next('}') {
		return v, nil
	}
	for {
		if p.space(); p.at >= len(p.text) || p.text[p.at] != '"' {
			return noNode, p.fault("a key is missing")
		}
		key, err := p.quoted()
		if err != nil {
			return noNode, err
		}
		if !p.next(':') {
			return noNode, p.fault("a colon is missing")
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return noNode, err
		}
		p.nodes[item].key = key
		p.attach(v, last, item)
		last = item
		if p.next('}') {
			p.unite(v)
			return v, nil
		}
		if !p.next(',') {
			return noNode, p.fault("a comma is missing")
		}
	}
}

// unite makes equal keys of an object one: the last member of them, where the
// first stands.
func (p *jsonParser) unite(object int32) {
	p.keys.reset()
	p.members = p.members[:0]
	for m := p.nodes[object].first; m != noNode; m = p.nodes[m].next {
		if number, added := p.keys.addText(p.nodes[m].key); added {
			p.members = append(p.members, m)
		} else {
			p.members[number] = m
		}
	}
	if len(p.members) == int(p.nodes[object].count) {
		return
	}
	p.nodes[object].count = 0
	last := int32(noNode)
	for _, m := range p.members {
		p.attach(object, last, m)
		last = m
	}
}

func (p *jsonParser) array(depth int) (int32, error) {
	v, last := p.node(jsonArray, ""), int32(noNode)
	p.at++
	if p.next(']') {
		return v, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return noNode, err
		}
		p.attach(v, last, item)
		last = item
		if p.next(']') {
			return v, nil
		}
		if !p.next(',') {
			return noNode, p.fault("a comma is missing")
		}
	}
}

// member is the member of an object with a key, or noNode.
func (p *jsonParser) member(v int32, key string) int32 {
	m := p.nodes[v].first
	for m != noNode && p.nodes[m].key != key {
		m = p.nodes[m].next
	}
	return m
}

// item is an item of an array, counted from 0, or noNode.
func (p *jsonParser) item(v int32, index int) int32 {
	if index < 0 || index >= int(p.nodes[v].count) {
		return noNode
	}
	m := p.nodes[v].first
	for range index {
		m = p.nodes[m].next
	}
	return m
}

func (p *jsonParser) number() (int32, error) {
	start := p.at
	if p.at < len(p.text) && p.text[p.at] == '-' {
		p.at++
	}
	whole := p.digits()
	if whole == 0 || whole > 1 && p.text[p.at-whole] == '0' {
		return noNode, p.fault("no value")
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if p.digits() == 0 {
			return noNode, p.fault("a digit is missing")
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if p.digits() == 0 {
			return noNode, p.fault("a digit is missing")
		}
	}
	return p.node(jsonNumber, p.text[start:p.at]), nil
}

func (p *jsonParser) digits() int {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

func (p *jsonParser) quoted() (string, error) {
	p.at++
	start := p.at
	for p.at < len(p.text) && p.text[p.at] != '"' && p.text[p.at] != '\\' && p.text[p.at] >= ' ' {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '"' {
		p.at++
		return p.text[start : p.at-1], nil
	}
	p.buf = append(p.buf[:0], p.text[start:p.at]...)
	return p.escaped()
}

// escaped reads on in a string from its first escape; buf holds what is before.
func (p *jsonParser) escaped() (string, error) {
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return p.arena.Copy(column.View(p.buf)), nil
		case c < ' ':
			return "", p.fault("a control character in a string")
		case c != '\\':
			p.buf = append(p.buf, c)
		case p.at == len(p.text):
			return "", p.fault("a string without end")
		default:
			p.at++
			if !p.escape(p.text[p.at-1]) {
				return "", p.fault("a bad escape")
			}
		}
	}
	return "", p.fault("a string without end")
}

// escape appends what a backslash and a letter stand for.
func (p *jsonParser) escape(letter byte) bool {
	switch letter {
	case '"', '\\', '/':
		p.buf = append(p.buf, letter)
	case 'b':
		p.buf = append(p.buf, '\b')
	case 'f':
		p.buf = append(p.buf, '\f')
	case 'n':
		p.buf = append(p.buf, '\n')
	case 'r':
		p.buf = append(p.buf, '\r')
	case 't':
		p.buf = append(p.buf, '\t')
	case 'u':
		r, ok := p.unit()
		p.buf = utf8.AppendRune(p.buf, r)
		return ok
	default:
		return false
	}
	return true
}

// unit reads the digits of \uXXXX, and a second one for a surrogate.
func (p *jsonParser) unit() (rune, bool) {
	high, ok := p.hex()
	if !ok || high < 0xD800 || high >= 0xDC00 {
		return high, ok
	}
	before := p.at
	if p.word(`\u`) {
		if low, ok := p.hex(); ok && low >= 0xDC00 && low < 0xE000 {
			return (high-0xD800)<<10 + low - 0xDC00 + 0x10000, true
		}
	}
	p.at = before
	return utf8.RuneError, true
}

func (p *jsonParser) hex() (rune, bool) {
	if len(p.text)-p.at < 4 {
		return 0, false
	}
	var pair [2]byte
	_, err := hex.Decode(pair[:], column.Bytes(p.text[p.at:p.at+4]))
	p.at += 4
	return rune(pair[0])<<8 | rune(pair[1]), err == nil
}
