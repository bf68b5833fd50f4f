package main

import "testing"

func TestTextWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "Zoë": 3, "Zoe\u0308": 3, "漢字": 4, "한글": 4, "ｆｕｌｌ": 8, "🙂": 2, "…": 1, "\u200b": 0, "\xff": 1,
	} {
		if got := textWidth(text); got != want {
			t.Errorf("%q is %d wide, not %d", text, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"漢字", 0, "漢字"},
		{"漢字", 4, "漢字"},
		{"漢字", 3, "漢…"},
		{"漢字", 2, "…"},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"ab\u0308cd", 4, "ab\u0308cd"},
		{"ab\u0308cde", 4, "ab\u0308c…"},
	} {
		if got := clip(c.text, c.width); got != c.want {
			t.Errorf("clip(%q, %d) is %q, not %q", c.text, c.width, got, c.want)
		}
	}
}

func TestAlignWideCharacters(t *testing.T) {
	got := align([][]string{{"NAME", "N"}, {"漢字", "1"}, {"Zoe\u0308", "23"}}, []bool{false, true})
	want := []string{"  NAME   N", "  漢字   1", "  Zoe\u0308   23"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d is %q, not %q", i, got[i], want[i])
		}
	}
}
