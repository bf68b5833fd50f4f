package fn

import (
	"strings"
	"testing"
	"unicode/utf16"

	"millrace/exec/column"
)

// TestSliceCountsUnits compares with Go's UTF-16 encoding; a half character is
// a question mark.
func TestSliceCountsUnits(t *testing.T) {
	c := &Call{Arena: new(column.Arena)}
	for _, text := range []string{"", "abc", "abcdefgh", "abcdefghé", "héllo", "a😀b", "😀😀", "日本語", "x😀é😀"} {
		encoded := utf16.Encode([]rune(text))
		if got := units(text); got != len(encoded) {
			t.Errorf("units(%q) = %d, want %d", text, got, len(encoded))
		}
		for from := range len(encoded) + 1 {
			for to := from; to <= len(encoded); to++ {
				want := strings.ReplaceAll(string(utf16.Decode(encoded[from:to])), "�", "?")
				if got := c.slice(text, from, to); got != want {
					t.Errorf("slice(%q, %d, %d) = %q, want %q", text, from, to, got, want)
				}
			}
		}
	}
}
