package types

import (
	"slices"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

func TestCompareTextIsTheOrderOfUTF16(t *testing.T) {
	character := rapid.SampledFrom([]rune("aé߿ࠀ\uD7FF\uE000\uFFFD\uFFFF😀𐀀\U0010FFFF"))
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(character, 0, 4).Draw(t, "a")
		b := rapid.SliceOfN(character, 0, 4).Draw(t, "b")
		want := slices.Compare(utf16.Encode(a), utf16.Encode(b))
		if got := CompareText(string(a), string(b)); got != want {
			t.Fatalf("%q and %q: %d, want %d", string(a), string(b), got, want)
		}
	})
}
