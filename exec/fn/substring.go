package fn

import (
	"errors"
	"strings"
	"unicode/utf8"
)

var substringFunctions = []*Function{
	{
		Name: "SUBSTRING", Doc: "Returns the part of a text or of bytes from a position, counted from 1 or with a negative one from the end.",
		Overloads: []*Overload{
			{Signature: "(STRING, INTEGER[, INTEGER]) STRING", Row: substring},
			{Signature: "(BYTES, INTEGER[, INTEGER]) BYTES", Row: substring},
		},
	},
	{
		Name: "INSTR", Doc: "Returns the position of the n-th occurrence of a text in another, 0 if there is none.",
		Overloads: []*Overload{{Signature: "(STRING, STRING[, INTEGER[, INTEGER]]) INTEGER", Nulls: true, Row: inString}},
	},
	{
		Name: "LPAD", Doc: "Fills or cuts a text or bytes to a length, on the left.",
		Overloads: []*Overload{
			{Signature: "(STRING, INTEGER, STRING) STRING", Row: pad(true)},
			{Signature: "(BYTES, INTEGER, BYTES) BYTES", Row: pad(true)},
		},
	},
	{
		Name: "RPAD", Doc: "Fills or cuts a text or bytes to a length, on the right.",
		Overloads: []*Overload{
			{Signature: "(STRING, INTEGER, STRING) STRING", Row: pad(false)},
			{Signature: "(BYTES, INTEGER, BYTES) BYTES", Row: pad(false)},
		},
	},
	{
		Name: "SPLIT", Doc: "Splits a text or bytes at a delimiter; an empty delimiter splits into characters.",
		Overloads: []*Overload{
			{Signature: "(STRING, STRING) ARRAY<STRING>", Row: split},
			{Signature: "(BYTES, BYTES) ARRAY<BYTES>", Row: split},
		},
	},
	{
		Name: "SPLIT_TO_MAP", Doc: "Splits a text into entries and each entry into key and value.",
		Overloads: []*Overload{{Signature: "(STRING, STRING, STRING) MAP<STRING, STRING>", Row: splitToMap}},
	},
}

func substring(c *Call, i int) error {
	size, position := int64(c.lengthOf(0, i)), c.integer(1, i)
	start := max(min(position-1, size), 0)
	if position < 0 {
		start = max(size+position, 0)
	}
	end := size
	if len(c.Args) > 2 {
		end = max(min(start+c.integer(2, i), size), start)
	}
	c.Out.SetText(i, c.cut(0, i, int(start), int(end)))
	return nil
}

func inString(c *Call, i int) error {
	position, occurrence := int64(1), int64(1)
	for k := range c.Args {
		if c.null(k, i) {
			c.Out.SetInt(i, 0)
			return nil
		}
	}
	if len(c.Args) > 2 {
		position = c.integer(2, i)
	}
	if len(c.Args) > 3 {
		occurrence = c.integer(3, i)
	}
	c.Out.SetInt(i, int64(find(c.text(0, i), c.text(1, i), position, occurrence)))
	return nil
}

// find is the position, from 1, of the occurrence of part that is found as the
// n-th from the position on, forwards, or backwards from a negative position.
func find(text, part string, position, n int64) int {
	size := int64(units(text))
	if position == 0 || n < 1 || position > size || -position > size {
		return 0
	}
	if position > 0 {
		at := unitsEnd(text, int(position-1))
		for ; ; n-- {
			next := strings.Index(text[at:], part)
			if next < 0 {
				return 0
			}
			if at += next; n == 1 {
				return unitOffset(text, at) + 1
			}
			if at++; at > len(text) {
				return 0
			}
		}
	}
	limit := unitsEnd(text, int(size+position))
	for ; ; n-- {
		at := strings.LastIndex(text[:min(limit+len(part), len(text))], part)
		if at < 0 {
			return 0
		}
		if n == 1 {
			return unitOffset(text, at) + 1
		}
		if limit = at - 1; limit < 0 {
			return 0
		}
	}
}

const maxPadded = 16 << 20

var errTooLong = errors.New("the result would be longer than 16 MB")

func pad(left bool) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		target, padding := c.integer(1, i), c.text(2, i)
		if target < 0 || padding == "" {
			return nil
		}
		if target > maxPadded {
			return errTooLong
		}
		size := c.lengthOf(0, i)
		if size >= int(target) {
			c.Out.SetText(i, c.cut(0, i, 0, int(target)))
			return nil
		}
		unit := c.lengthOf(2, i)
		missing := int(target) - size
		rest := c.cut(2, i, 0, missing%unit)
		buf := c.begin()
		if left {
			buf = append(appendRepeated(buf, padding, missing/unit, rest), c.text(0, i)...)
		} else {
			buf = appendRepeated(append(buf, c.text(0, i)...), padding, missing/unit, rest)
		}
		c.end(i, buf)
		return nil
	}
}

func appendRepeated(dst []byte, text string, times int, rest string) []byte {
	for range times {
		dst = append(dst, text...)
	}
	return append(dst, rest...)
}

func split(c *Call, i int) error {
	text, delimiter := c.text(0, i), c.text(1, i)
	if delimiter == "" && text != "" {
		c.splitUnits(i)
		return nil
	}
	count := 1
	if text != "" {
		count += strings.Count(text, delimiter)
	}
	child := c.Out.Children[0]
	start := child.Extend(count)
	for n := range count - 1 {
		end := strings.Index(text, delimiter)
		child.SetText(start+n, text[:end])
		text = text[end+len(delimiter):]
	}
	child.SetText(start+count-1, text)
	c.Out.SetSpan(i, start, count)
	return nil
}

// splitUnits sets row i to the units of the text, or the bytes, in argument 0.
// Both halves of a character beyond U+FFFF are question marks.
func (c *Call) splitUnits(i int) {
	text, size := c.text(0, i), c.lengthOf(0, i)
	child := c.Out.Children[0]
	start := child.Extend(size)
	c.Out.SetSpan(i, start, size)
	if len(text) == size {
		for n := range size {
			child.SetText(start+n, text[n:n+1])
		}
		return
	}
	for at := 0; at < len(text); {
		r, width := utf8.DecodeRuneInString(text[at:])
		if r > 0xFFFF {
			child.SetText(start, "?")
			child.SetText(start+1, "?")
			start++
		} else {
			child.SetText(start, text[at:at+width])
		}
		start++
		at += width
	}
}

// setTexts sets row i of the result, an ARRAY of texts, to views of the inputs
// or texts of the arena.
func (c *Call) setTexts(i int, texts []string) {
	child := c.Out.Children[0]
	start := child.Extend(len(texts))
	for k, text := range texts {
		child.SetText(start+k, text)
	}
	c.Out.SetSpan(i, start, len(texts))
}

func splitToMap(c *Call, i int) error {
	text, entry, separator := c.text(0, i), c.text(1, i), c.text(2, i)
	if entry == "" || separator == "" || entry == separator {
		return nil
	}
	builder := c.mapBuilder()
	for rest, more := text, true; more; {
		var part string
		part, rest, more = strings.Cut(rest, entry)
		key, value, found := strings.Cut(part, separator)
		if !found {
			continue
		}
		// What stands behind a second separator belongs to no entry.
		value, _, _ = strings.Cut(value, separator)
		builder.putText(key, value)
	}
	builder.finish(i)
	return nil
}
