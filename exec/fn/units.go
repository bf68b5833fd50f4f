package fn

import (
	"unicode/utf8"

	"millrace/sql/types"
)

// Lengths and positions in texts count UTF-16 code units, as in Java. A
// character beyond U+FFFF has two; half of one becomes a question mark.

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// units is the length of a text.
func units(text string) int {
	if ascii(text) {
		return len(text)
	}
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// slice is the units from .. to of a text, 0 <= from <= to <= units(text).
func slice(text string, from, to int) string {
	if ascii(text) {
		return text[from:to]
	}
	start, end, at := -1, len(text), 0
	cutStart, cutEnd := false, false
	for i, r := range text {
		if at >= from && start < 0 {
			start = i
		}
		if at >= to {
			end = i
			break
		}
		at++
		if r > 0xFFFF {
			if at == from {
				cutStart, start = true, i+utf8.RuneLen(r)
			}
			if at == to {
				cutEnd, end = true, i
				break
			}
			at++
		}
	}
	if start < 0 {
		start = len(text)
	}
	return mend(text[min(start, end):end], cutStart && from < to, cutEnd && from < to)
}

func mend(text string, start, end bool) string {
	if start {
		text = "?" + text
	}
	if end {
		text += "?"
	}
	return text
}

// lengthOf is the length of a text or of bytes in row i of argument k.
func (c *Call) lengthOf(k, i int) int {
	if c.Args[k].Type.Kind == types.KindBytes {
		return len(c.text(k, i))
	}
	return units(c.text(k, i))
}

// cut is the part of the text or bytes in argument k.
func (c *Call) cut(k, i, from, to int) string {
	if c.Args[k].Type.Kind == types.KindBytes {
		return c.text(k, i)[from:to]
	}
	return slice(c.text(k, i), from, to)
}

// unitOffset is the position in units of byte offset at of a text.
func unitOffset(text string, at int) int { return units(text[:at]) }
