package main

import (
	"unicode"
)

// wide are the blocks of characters that terminals show two columns wide, after
// Unicode's East Asian Width.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, // Hangul's leading consonants
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1}, // radicals and punctuation of Chinese, Japanese and Korean
		{Lo: 0x3041, Hi: 0x4dbf, Stride: 1}, // kana to the ideographs' extension A
		{Lo: 0x4e00, Hi: 0xa4cf, Stride: 1}, // ideographs and Yi
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul's syllables
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff01, Hi: 0xff60, Stride: 1}, // full-width forms
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, // pictures
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1}, // further ideographs
	},
}

// runeWidth is how many columns of a terminal a character takes.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// textWidth is how many columns of a terminal a text takes.
func textWidth(text string) int {
	width := 0
	for _, r := range text {
		width += runeWidth(r)
	}
	return width
}

// clip cuts a text to so many columns; 0 leaves it whole.
func clip(text string, width int) string {
	if width <= 0 || len(text) <= width || textWidth(text) <= width {
		return text
	}
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}
