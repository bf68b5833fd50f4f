package fn

import (
	"errors"
	"strings"
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
		at := len(slice(text, 0, int(position-1)))
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
	limit := len(slice(text, 0, int(size+position)))
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
		fill := strings.Repeat(padding, missing/unit) + c.cut(2, i, 0, missing%unit)
		buf := c.Arena.Tail(len(fill) + len(c.text(0, i)))
		if left {
			buf = append(append(buf, fill...), c.text(0, i)...)
		} else {
			buf = append(append(buf, c.text(0, i)...), fill...)
		}
		c.Out.SetText(i, c.Arena.Keep(buf))
		return nil
	}
}

func split(c *Call, i int) error {
	text, delimiter := c.text(0, i), c.text(1, i)
	if delimiter != "" || text == "" {
		c.setTexts(i, splitParts(text, delimiter))
		return nil
	}
	size := c.lengthOf(0, i)
	parts := make([]string, size)
	for k := range parts {
		parts[k] = c.cut(0, i, k, k+1)
	}
	c.setTexts(i, parts)
	return nil
}

func splitParts(text, delimiter string) []string {
	if text == "" {
		return []string{""}
	}
	return strings.Split(text, delimiter)
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
	var keys, values []string
	at := map[string]int{}
	for _, part := range strings.Split(text, entry) {
		// What stands behind a second separator belongs to no entry.
		pair := strings.SplitN(part, separator, 3)
		if len(pair) < 2 {
			continue
		}
		key, value := pair[0], pair[1]
		if k, known := at[key]; known {
			values[k] = value
			continue
		}
		at[key] = len(keys)
		keys, values = append(keys, key), append(values, value)
	}
	c.setTextMap(i, keys, values)
	return nil
}

// setTextMap sets row i of the result, a MAP<STRING, STRING>.
func (c *Call) setTextMap(i int, keys, values []string) {
	keyVector, valueVector := c.Out.Children[0], c.Out.Children[1]
	start := keyVector.Extend(len(keys))
	valueVector.Extend(len(keys))
	for k := range keys {
		keyVector.SetText(start+k, keys[k])
		valueVector.SetText(start+k, values[k])
	}
	c.Out.SetSpan(i, start, len(keys))
}
