package format

import "unicode/utf8"

// appendUnescaped appends a text whose escapes scanText has checked. Half a
// surrogate pair becomes U+FFFD; the result is never longer than raw.
func appendUnescaped(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		c = raw[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hexRune(raw[i:])
			i += 4
			if r >= 0xD800 && r < 0xDC00 && i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
				if low := hexRune(raw[i+2:]); low >= 0xDC00 && low < 0xE000 {
					r = (r-0xD800)<<10 | (low - 0xDC00) + 0x10000
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

func hexRune(text []byte) rune {
	var r rune
	for _, c := range text[:4] {
		if c <= '9' {
			c -= '0'
		} else {
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// appendCompact appends checked JSON without its white space and with its
// texts escaped as the encoder does it.
func appendCompact(dst, part []byte) []byte {
	for i := 0; i < len(part); {
		switch c := part[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end, escaped, _ := scanText(part, i+1)
			if escaped {
				dst = appendJSONText(dst, string(appendUnescaped(nil, part[i+1:end])))
			} else {
				dst = append(dst, part[i:end+1]...)
			}
			i = end + 1
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// appendArrayText appends the checked array at i as [a, b], with the text of
// each element, and gives the offset behind it. Its recursion is bounded by
// the depth limit of the check.
func appendArrayText(dst, b []byte, i int) (text []byte, next int) {
	dst = append(dst, '[')
	i = skipSpace(b, i+1)
	for n := 0; b[i] != ']'; n++ {
		if n > 0 {
			dst = append(dst, ", "...)
			i = skipSpace(b, i+1) // the comma
		}
		switch b[i] {
		case '[':
			dst, i = appendArrayText(dst, b, i)
		case '"':
			end, _, _ := scanText(b, i+1)
			dst, i = appendUnescaped(dst, b[i+1:end]), end+1
		case '{':
			end := closingBrace(b, i)
			dst, i = appendCompact(dst, b[i:end]), end
		default:
			for b[i] > ' ' && b[i] != ',' && b[i] != ']' {
				dst = append(dst, b[i])
				i++
			}
		}
		i = skipSpace(b, i)
	}
	return append(dst, ']'), i + 1
}

// closingBrace is the offset behind the checked object at i.
func closingBrace(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			i, _, _ = scanText(b, i+1)
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// appendJSONText appends text with its quotes and escapes.
func appendJSONText(dst []byte, text string) []byte {
	var all uint64
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			x := loadText(text, i)
			quote, slash := x^(lowBits*'"'), x^(lowBits*'\\')
			mask := ((quote-lowBits)&^quote | (slash-lowBits)&^slash | (x-lowBits*' ')&^x) & highBits
			if all |= x; mask == 0 {
				i += 8
				continue
			}
			return appendEscaped(dst, text)
		}
		c := text[i]
		if c < ' ' || c == '"' || c == '\\' {
			return appendEscaped(dst, text)
		}
		all |= uint64(c)
		i++
	}
	if all&highBits != 0 && !utf8.ValidString(text) {
		return appendEscaped(dst, text)
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

func loadText(text string, i int) uint64 {
	s := text[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// appendEscaped escapes what JSON needs escaped and puts U+FFFD for bytes that
// are not UTF-8.
func appendEscaped(dst []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
			continue
		}
		i++
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			if c < ' ' {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}
