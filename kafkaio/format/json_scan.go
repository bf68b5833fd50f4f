package format

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"millrace/exec/column"
)

// maxJSONDepth is how many brackets may be open at once.
const maxJSONDepth = 512

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

const (
	faultValue  = "a value is missing"
	faultName   = "a member's name is missing"
	faultColon  = "a colon is missing"
	faultComma  = "a comma or a closing bracket is missing"
	faultText   = "a text is not closed or holds a bad escape or a control character"
	faultNumber = "a number is malformed"
	faultUTF8   = "a text is not valid UTF-8"
	faultDepth  = "brackets are nested deeper than 512 levels"
)

func syntaxReason(b []byte, at int, what string) string {
	if at >= len(b) {
		return fmt.Sprintf("not JSON: %s at the end of %d bytes", what, len(b))
	}
	return fmt.Sprintf("not JSON: %s at byte %d of %d, before %s", what, at+1, len(b), shown(b[at:]))
}

// shown is the beginning of a payload's part, for a message.
func shown(part []byte) string {
	text := clip(string(part))
	for _, c := range []byte(text) {
		if c < ' ' || c >= utf8.RuneSelf {
			return strconv.Quote(text)
		}
	}
	return text
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanText finds the closing quote of the text whose first byte is at i; -1
// means that the text is malformed. It checks all but UTF-8, eight bytes at a
// time: the lowest high bit of each mask marks a byte that is exactly a quote,
// a backslash or below a blank; bits above it may be carries.
func scanText(b []byte, i int) (end int, escaped, wide bool) {
	var all uint64
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			quote := x ^ (lowBits * '"')
			slash := x ^ (lowBits * '\\')
			mask := ((quote - lowBits) &^ quote) | ((slash - lowBits) &^ slash) | ((x - lowBits*' ') &^ x)
			mask &= highBits
			if mask != 0 {
				at := bits.TrailingZeros64(mask) >> 3
				all |= x & (1<<(uint(at)*8) - 1)
				i += at
				goto special
			}
			all |= x
			i += 8
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			all |= uint64(b[i])
			i++
		}
		if i == len(b) {
			return -1, false, false
		}
	special:
		if b[i] == '"' {
			return i, escaped, all&highBits != 0
		}
		escaped = true
		if i = scanEscape(b, i); i < 0 {
			return -1, false, false
		}
	}
}

// scanEscape is the offset behind the escape at i, or -1.
func scanEscape(b []byte, i int) int {
	if b[i] != '\\' || i+1 >= len(b) {
		return -1
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if i+6 > len(b) {
			return -1
		}
		for _, c := range b[i+2 : i+6] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return -1
			}
		}
		return i + 6
	}
	return -1
}

// scanNumber is the offset behind the number at i, or -1.
func scanNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	whole := i
	if i = skipDigits(b, i); i == whole || b[whole] == '0' && i > whole+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		fraction := i + 1
		if i = skipDigits(b, fraction); i == fraction {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		exponent := i
		if i = skipDigits(b, i); i == exponent {
			return -1
		}
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

func hasWord(b []byte, i int, word string) bool {
	return len(b)-i >= len(word) && string(b[i:i+len(word)]) == word
}

// skip reads over the value at i, inside depth open brackets.
func (d *jsonDecoder) skip(b []byte, i, depth int) int {
	if i >= len(b) {
		return d.syntax(i, faultValue)
	}
	switch b[i] {
	case '"':
		return d.skipText(b, i)
	case '{', '[':
		return d.skipNested(b, i, depth)
	case 't':
		if hasWord(b, i, "true") {
			return i + 4
		}
	case 'f':
		if hasWord(b, i, "false") {
			return i + 5
		}
	case 'n':
		if hasWord(b, i, "null") {
			return i + 4
		}
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if end := scanNumber(b, i); end >= 0 {
			return end
		}
		return d.syntax(i, faultNumber)
	}
	return d.syntax(i, faultValue)
}

func (d *jsonDecoder) skipText(b []byte, i int) int { return d.plainText(b, i, nil, 0) }

// plainText reads the text at i, where a quote stands, into row of v, which is
// a STRING, or over it if v is nil.
func (d *jsonDecoder) plainText(b []byte, i int, v *column.Vector, row int) int {
	end, escaped, wide := scanText(b, i+1)
	if end < 0 {
		return d.syntax(i, faultText)
	}
	if wide && !utf8.Valid(b[i+1:end]) {
		return d.syntax(i, faultUTF8)
	}
	if v == nil {
		return end + 1
	}
	raw := b[i+1 : end]
	if escaped {
		v.SetText(row, d.arena.Keep(appendUnescaped(d.arena.Tail(len(raw)), raw)))
	} else {
		v.SetText(row, column.View(raw))
	}
	return end + 1
}

// skipNested reads over an object or array without recursion: d.open holds its
// open brackets.
func (d *jsonDecoder) skipNested(b []byte, i, depth int) int {
	d.open = d.open[:0]
	for {
		// A value is expected at i.
		if i = skipSpace(b, i); i < len(b) && (b[i] == '{' || b[i] == '[') {
			bracket := b[i]
			if depth+len(d.open) >= maxJSONDepth {
				return d.syntax(i, faultDepth)
			}
			i = skipSpace(b, i+1)
			if i == len(b) || b[i] != bracket+2 {
				d.open = append(d.open, bracket)
				if bracket == '{' {
					if i = d.skipName(b, i); i < 0 {
						return -1
					}
				}
				continue
			}
			i++
		} else if i = d.skip(b, i, depth); i < 0 {
			return -1
		}
		if i = d.closeNested(b, i); i < 0 || len(d.open) == 0 {
			return i
		}
	}
}

// closeNested reads from behind a value to the next one of the same bracket,
// or over the last bracket.
func (d *jsonDecoder) closeNested(b []byte, i int) int {
	for len(d.open) > 0 {
		i = skipSpace(b, i)
		bracket := d.open[len(d.open)-1]
		switch {
		case i < len(b) && b[i] == bracket+2: // the closing bracket, in ASCII
			d.open = d.open[:len(d.open)-1]
			i++
		case i == len(b) || b[i] != ',':
			return d.syntax(i, faultComma)
		case bracket == '{':
			return d.skipName(b, skipSpace(b, i+1))
		default:
			return i + 1
		}
	}
	return i
}

// skipName reads over a member's name and colon.
func (d *jsonDecoder) skipName(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return d.syntax(i, faultName)
	}
	if i = d.skipText(b, i); i < 0 {
		return -1
	}
	return d.colon(b, i)
}

// colon reads over a colon and the space around it.
func (d *jsonDecoder) colon(b []byte, i int) int {
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != ':' {
		return d.syntax(i, faultColon)
	}
	return skipSpace(b, i+1)
}

// text reads the text at i, where a quote stands.
func (d *jsonDecoder) text(b []byte, i int) (text string, next int) {
	end, escaped, wide := scanText(b, i+1)
	if end < 0 {
		return "", d.syntax(i, faultText)
	}
	raw := b[i+1 : end]
	if wide && !utf8.Valid(raw) {
		return "", d.syntax(i, faultUTF8)
	}
	if escaped {
		return d.arena.Keep(appendUnescaped(d.arena.Tail(len(raw)), raw)), end + 1
	}
	return column.View(raw), end + 1
}
