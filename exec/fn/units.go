package fn

import (
	"encoding/binary"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

// Lengths and positions in texts count UTF-16 code units, as in Java. A
// character beyond U+FFFF has two; half of one becomes a question mark.

func ascii(text string) bool {
	const high = 0x8080808080808080
	bytes := column.Bytes(text)
	for len(bytes) >= 8 {
		if binary.LittleEndian.Uint64(bytes)&high != 0 {
			return false
		}
		bytes = bytes[8:]
	}
	for _, b := range bytes {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isWord tells whether text is a word of upper-case ASCII letters, written in
// any case.
func isWord(text, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i := range len(text) {
		b := text[i]
		if b >= 'a' && b <= 'z' {
			b -= 'a' - 'A'
		}
		if b != word[i] {
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

// slice is the units from .. to of a text, 0 <= from <= to <= units(text), and
// whether half a character was cut off at either end.
func slice(text string, from, to int) (part string, cutStart, cutEnd bool) {
	if ascii(text) {
		return text[from:to], false, false
	}
	start, end, at := -1, len(text), 0
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
	return text[min(start, end):end], cutStart && from < to, cutEnd && from < to
}

// unitsEnd is where the first n units of a text end in bytes, without half a
// character.
func unitsEnd(text string, n int) int {
	part, _, _ := slice(text, 0, n)
	return len(part)
}

// slice is a part of a text with question marks for halves of characters.
func (c *Call) slice(text string, from, to int) string {
	part, cutStart, cutEnd := slice(text, from, to)
	if !cutStart && !cutEnd {
		return part
	}
	buf := c.Arena.Tail(len(part) + 2)
	if cutStart {
		buf = append(buf, '?')
	}
	buf = append(buf, part...)
	if cutEnd {
		buf = append(buf, '?')
	}
	return c.Arena.Keep(buf)
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
	return c.slice(c.text(k, i), from, to)
}

// unitOffset is the position in units of byte offset at of a text.
func unitOffset(text string, at int) int { return units(text[:at]) }
