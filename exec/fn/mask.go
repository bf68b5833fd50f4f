package fn

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

const maskSignature = "(STRING[, STRING, STRING, STRING, STRING]) STRING"

const maskPartSignature = "(STRING, INTEGER[, STRING, STRING, STRING, STRING]) STRING"

var maskFunctions = []*Function{
	{
		Name: "MASK", Doc: "Replaces letters by X or x, digits by n and all else by -, or by other masks.",
		Overloads: []*Overload{{Signature: maskSignature, Nulls: true, Row: maskWith(1, func(size, _ int) (int, int) {
			return 0, size
		})}},
	},
	{
		Name: "MASK_LEFT", Doc: "Masks the first n characters.",
		Overloads: []*Overload{{Signature: maskPartSignature, Nulls: true, Row: maskWith(2, func(size, n int) (int, int) {
			return 0, min(n, size)
		})}},
	},
	{
		Name: "MASK_RIGHT", Doc: "Masks the last n characters.",
		Overloads: []*Overload{{Signature: maskPartSignature, Nulls: true, Row: maskWith(2, func(size, n int) (int, int) {
			return max(size-n, 0), size
		})}},
	},
	{
		Name: "MASK_KEEP_LEFT", Doc: "Masks all but the first n characters.",
		Overloads: []*Overload{{Signature: maskPartSignature, Nulls: true, Row: maskWith(2, func(size, n int) (int, int) {
			return min(n, size), size
		})}},
	},
	{
		Name: "MASK_KEEP_RIGHT", Doc: "Masks all but the last n characters.",
		Overloads: []*Overload{{Signature: maskPartSignature, Nulls: true, Row: maskWith(2, func(size, n int) (int, int) {
			return 0, max(size-n, 0)
		})}},
	},
}

var (
	errMask       = errors.New("a mask has to be one character")
	errMaskLength = errors.New("the number of characters is negative")
)

// maskWith masks the characters that part selects; the masks start at
// argument first.
func maskWith(first int, part func(size, n int) (from, to int)) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		n := 0
		if first == 2 {
			if c.null(1, i) {
				return nil
			}
			if n = int(c.integer(1, i)); n < 0 {
				return fmt.Errorf("%d: %w", n, errMaskLength)
			}
		}
		masks, err := masksOf(c, i, first)
		if err != nil || c.null(0, i) {
			return err
		}
		text := c.text(0, i)
		from, to := part(utf8.RuneCountInString(text), n)
		buf := c.begin()
		at := 0
		for _, r := range text {
			if at >= from && at < to {
				r = masks.apply(r)
			}
			buf = utf8.AppendRune(buf, r)
			at++
		}
		c.end(i, buf)
		return nil
	}
}

// masks holds the masks of upper case letters, lower case letters, digits and
// all else; 0 keeps the character.
type masks [4]rune

// asciiClasses is the index in masks of ASCII characters.
var asciiClasses = func() (classes [utf8.RuneSelf]uint8) {
	for r := range classes {
		switch {
		case r >= 'A' && r <= 'Z':
			classes[r] = 0
		case r >= 'a' && r <= 'z':
			classes[r] = 1
		case r >= '0' && r <= '9':
			classes[r] = 2
		default:
			classes[r] = 3
		}
	}
	return classes
}()

func masksOf(c *Call, i, first int) (masks, error) {
	m := masks{'X', 'x', 'n', '-'}
	for k := first; k < len(c.Args); k++ {
		if c.null(k, i) {
			m[k-first] = 0
			continue
		}
		text := c.text(k, i)
		if utf8.RuneCountInString(text) != 1 {
			return m, errMask
		}
		m[k-first], _ = utf8.DecodeRuneInString(text)
	}
	return m, nil
}

func (m *masks) apply(r rune) rune {
	class := 3
	switch {
	case r < utf8.RuneSelf:
		class = int(asciiClasses[r])
	case unicode.IsUpper(r):
		class = 0
	case unicode.IsLower(r):
		class = 1
	case unicode.IsDigit(r):
		class = 2
	}
	if m[class] == 0 {
		return r
	}
	return m[class]
}
