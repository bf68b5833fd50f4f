package fn

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
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

// jsonValue is a JSON text taken apart, with the order of objects kept.
type jsonValue struct {
	kind     jsonKind
	text     string // of a number as written, of a string without escapes
	truth    bool
	keys     []string // of an object, beside items
	items    []*jsonValue
	position map[string]int // of a key among items
}

var errJSON = errors.New("invalid JSON")

const maxJSONDepth = 500

// parseJSON reads the JSON value that a text begins with; what follows it is
// not looked at.
func parseJSON(text string) (*jsonValue, error) {
	p := &jsonParser{text: text}
	return p.value(0)
}

type jsonParser struct {
	text string
	at   int
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

func (p *jsonParser) value(depth int) (*jsonValue, error) {
	p.space()
	switch {
	case depth > maxJSONDepth:
		return nil, p.fault("nested too deep")
	case p.at >= len(p.text):
		return nil, p.fault("a value is missing")
	case p.text[p.at] == '{':
		return p.object(depth)
	case p.text[p.at] == '[':
		return p.array(depth)
	case p.text[p.at] == '"':
		text, err := p.quoted()
		return &jsonValue{kind: jsonString, text: text}, err
	case p.word("null"):
		return &jsonValue{}, nil
	case p.word("true"):
		return &jsonValue{kind: jsonBoolean, truth: true}, nil
	case p.word("false"):
		return &jsonValue{kind: jsonBoolean}, nil
	}
	return p.number()
}

func (p *jsonParser) object(depth int) (*jsonValue, error) {
	v := &jsonValue{kind: jsonObject, position: map[string]int{}}
	p.at++
	if p.next('}') {
		return v, nil
	}
	for {
		if p.space(); p.at >= len(p.text) || p.text[p.at] != '"' {
			return nil, p.fault("a key is missing")
		}
		key, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if !p.next(':') {
			return nil, p.fault("a colon is missing")
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.put(key, item)
		if p.next('}') {
			return v, nil
		}
		if !p.next(',') {
			return nil, p.fault("a comma is missing")
		}
	}
}

// put sets a member of an object; an equal key is replaced where it stands.
func (v *jsonValue) put(key string, item *jsonValue) {
	if at, ok := v.position[key]; ok {
		v.items[at] = item
		return
	}
	v.position[key] = len(v.items)
	v.keys, v.items = append(v.keys, key), append(v.items, item)
}

func (v *jsonValue) member(key string) *jsonValue {
	if at, ok := v.position[key]; ok {
		return v.items[at]
	}
	return nil
}

func (p *jsonParser) array(depth int) (*jsonValue, error) {
	v := &jsonValue{kind: jsonArray}
	p.at++
	if p.next(']') {
		return v, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
		if p.next(']') {
			return v, nil
		}
		if !p.next(',') {
			return nil, p.fault("a comma is missing")
		}
	}
}

func (p *jsonParser) number() (*jsonValue, error) {
	start := p.at
	if p.at < len(p.text) && p.text[p.at] == '-' {
		p.at++
	}
	whole := p.digits()
	if whole == 0 || whole > 1 && p.text[p.at-whole] == '0' {
		return nil, p.fault("no value")
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if p.digits() == 0 {
			return nil, p.fault("a digit is missing")
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if p.digits() == 0 {
			return nil, p.fault("a digit is missing")
		}
	}
	return &jsonValue{kind: jsonNumber, text: p.text[start:p.at]}, nil
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
	return p.escaped([]byte(p.text[start:p.at]))
}

// escaped reads on in a string from its first escape.
func (p *jsonParser) escaped(buf []byte) (string, error) {
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return string(buf), nil
		case c < ' ':
			return "", p.fault("a control character in a string")
		case c != '\\':
			buf = append(buf, c)
			continue
		case p.at == len(p.text):
			return "", p.fault("a string without end")
		}
		escape := p.text[p.at]
		p.at++
		switch escape {
		case '"', '\\', '/':
			buf = append(buf, escape)
		case 'b':
			buf = append(buf, '\b')
		case 'f':
			buf = append(buf, '\f')
		case 'n':
			buf = append(buf, '\n')
		case 'r':
			buf = append(buf, '\r')
		case 't':
			buf = append(buf, '\t')
		case 'u':
			r, ok := p.unit()
			if !ok {
				return "", p.fault("a bad escape")
			}
			buf = utf8.AppendRune(buf, r)
		default:
			return "", p.fault("a bad escape")
		}
	}
	return "", p.fault("a string without end")
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
	v, err := strconv.ParseUint(p.text[p.at:p.at+4], 16, 32)
	p.at += 4
	return rune(v), err == nil
}

// appendJSON appends v without blanks.
func (v *jsonValue) appendJSON(dst []byte) []byte {
	switch v.kind {
	case jsonBoolean:
		return strconv.AppendBool(dst, v.truth)
	case jsonNumber:
		return append(dst, v.text...)
	case jsonString:
		return appendJSONString(dst, v.text)
	case jsonArray:
		dst = append(dst, '[')
		for n, item := range v.items {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		return append(dst, ']')
	case jsonObject:
		dst = append(dst, '{')
		for n, item := range v.items {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(dst, v.keys[n]), ':')
			dst = item.appendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// appendJSONString escapes quotes, backslashes and control characters only.
func appendJSONString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		default:
			dst = fmt.Appendf(dst, `\u%04X`, c)
		}
	}
	return append(dst, '"')
}

// bare is the text of a string, and the JSON text of all else.
func (v *jsonValue) bare() []byte {
	if v.kind == jsonString {
		return []byte(v.text)
	}
	return v.appendJSON(nil)
}
