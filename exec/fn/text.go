package fn

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"millrace/exec/column"
)

var textFunctions = []*Function{
	{
		Name: "LCASE", Doc: "Converts a text to lower case.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: lowerCase}},
	},
	{
		Name: "UCASE", Doc: "Converts a text to upper case.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: upperCase}},
	},
	{
		Name: "TRIM", Doc: "Cuts blanks and control characters off both ends of a text.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			c.Out.SetText(i, strings.TrimFunc(c.text(0, i), func(r rune) bool { return r <= ' ' }))
			return nil
		}}},
	},
	{
		Name: "LEN", Doc: "Returns the length of a text in UTF-16 units, or of bytes.",
		Overloads: []*Overload{
			{Signature: "(STRING) INTEGER", Row: length},
			{Signature: "(BYTES) INTEGER", Row: length},
		},
	},
	{
		Name: "INITCAP", Doc: "Makes the first letter of each word upper case and the others lower case.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: initialCapitals}},
	},
	{
		Name: "REPLACE", Doc: "Replaces all occurrences of the second text by the third.",
		Overloads: []*Overload{{Signature: "(STRING, STRING, STRING) STRING", Row: replace}},
	},
	{
		Name: "MD5", Doc: "Returns the MD5 hash of a text in lower-case hexadecimal digits.",
		Overloads: []*Overload{{Signature: "(STRING) STRING", Row: func(c *Call, i int) error {
			sum := md5.Sum(column.Bytes(c.text(0, i)))
			c.Out.SetText(i, c.Arena.Keep(hex.AppendEncode(c.Arena.Tail(2*len(sum)), sum[:])))
			return nil
		}}},
	},
	{
		Name: "CHR", Doc: "Returns the character of a code point, or of a text of the form \\uXXXX.",
		Overloads: []*Overload{
			{Signature: "(INTEGER) STRING", Row: characterOfCode},
			{Signature: "(STRING) STRING", Row: characterOfEscape},
		},
	},
	{
		Name: "ELT", Doc: "Returns the n-th of the texts, counted from 1.",
		Overloads: []*Overload{{Signature: "(INTEGER, STRING...) STRING", Nulls: true, Row: elementOfTexts}},
	},
	{
		Name: "FIELD", Doc: "Returns the position of the first text among the others, 0 if it is not there.",
		Overloads: []*Overload{{Signature: "(STRING, STRING...) INTEGER", Nulls: true, Row: positionAmongTexts}},
	},
}

func lowerCase(c *Call, i int) error {
	text := c.text(0, i)
	if !ascii(text) {
		c.mapRunes(i, text, unicode.ToLower)
		return nil
	}
	buf := c.Arena.Alloc(len(text))
	for k := range len(text) {
		b := text[k]
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		buf[k] = b
	}
	c.Out.SetText(i, column.View(buf))
	return nil
}

func upperCase(c *Call, i int) error {
	text := c.text(0, i)
	if !ascii(text) {
		c.mapRunes(i, text, unicode.ToUpper)
		return nil
	}
	buf := c.Arena.Alloc(len(text))
	for k := range len(text) {
		b := text[k]
		if b >= 'a' && b <= 'z' {
			b -= 'a' - 'A'
		}
		buf[k] = b
	}
	c.Out.SetText(i, column.View(buf))
	return nil
}

// mapRunes maps the characters of a text. The sharp s is the one common letter
// whose upper case is two.
func (c *Call) mapRunes(i int, text string, change func(rune) rune) {
	buf := c.begin()
	upper := change('a') == 'A'
	for _, r := range text {
		if r == 'ß' && upper {
			buf = append(buf, "SS"...)
			continue
		}
		buf = utf8.AppendRune(buf, change(r))
	}
	c.end(i, buf)
}

func length(c *Call, i int) error {
	c.Out.SetInt(i, int64(c.lengthOf(0, i)))
	return nil
}

func initialCapitals(c *Call, i int) error {
	buf := c.begin()
	first := true
	for _, r := range c.text(0, i) {
		if first {
			r = unicode.ToUpper(r)
		} else {
			r = unicode.ToLower(r)
		}
		first = unicode.IsSpace(r)
		buf = utf8.AppendRune(buf, r)
	}
	c.end(i, buf)
	return nil
}

// replace puts the third text before every character and at the end, if the
// second one is empty.
func replace(c *Call, i int) error {
	text, old, replacement := c.text(0, i), c.text(1, i), c.text(2, i)
	at := strings.Index(text, old)
	if at < 0 {
		c.Out.SetText(i, text)
		return nil
	}
	buf := c.begin()
	for ; at >= 0; at = strings.Index(text, old) {
		buf = append(append(buf, text[:at]...), replacement...)
		text = text[at+len(old):]
		if old == "" {
			if text == "" {
				break
			}
			_, width := utf8.DecodeRuneInString(text)
			buf = append(buf, text[:width]...)
			text = text[width:]
		}
	}
	c.end(i, append(buf, text...))
	return nil
}

func characterOfCode(c *Call, i int) error {
	code := c.integer(0, i)
	if code < 0 || code > unicode.MaxRune || !utf8.ValidRune(rune(code)) {
		return nil
	}
	c.Out.SetText(i, c.Arena.Keep(utf8.AppendRune(c.Arena.Tail(utf8.UTFMax), rune(code))))
	return nil
}

func characterOfEscape(c *Call, i int) error {
	if buf, err := appendUnescaped(c.begin(), c.text(0, i)); err == nil {
		c.end(i, buf)
	}
	return nil
}

var errEscape = errors.New(`not of the form \uXXXX`)

// appendUnescaped reads a text of \uXXXX escapes of UTF-16 units.
func appendUnescaped(buf []byte, text string) ([]byte, error) {
	high := rune(0)
	if text == "" {
		return nil, errEscape
	}
	for text != "" {
		if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
			return nil, errEscape
		}
		var pair [2]byte
		if _, err := hex.Decode(pair[:], column.Bytes(text[2:6])); err != nil {
			return nil, errEscape
		}
		r := rune(pair[0])<<8 | rune(pair[1])
		text = text[6:]
		switch {
		case r >= 0xD800 && r < 0xDC00:
			high = r
			continue
		case high != 0 && r >= 0xDC00 && r < 0xE000:
			r = (high-0xD800)<<10 + (r - 0xDC00) + 0x10000
		}
		high = 0
		buf = utf8.AppendRune(buf, r)
	}
	return buf, nil
}

func elementOfTexts(c *Call, i int) error {
	if c.null(0, i) {
		return nil
	}
	if n := c.integer(0, i); n >= 1 && n < int64(len(c.Args)) {
		c.Out.CopyRow(i, c.Args[n], i)
	}
	return nil
}

func positionAmongTexts(c *Call, i int) error {
	position := 0
	if !c.null(0, i) {
		for k := 1; k < len(c.Args) && position == 0; k++ {
			if !c.null(k, i) && c.text(k, i) == c.text(0, i) {
				position = k
			}
		}
	}
	c.Out.SetInt(i, int64(position))
	return nil
}
