package expr

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLikeEqualsRegexp checks patterns against the regular expressions that
// they stand for.
func TestLikeEqualsRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab%_é!]{0,8}`).Draw(t, "pattern")
		text := rapid.StringMatching(`[abé\n!]{0,10}`).Draw(t, "text")
		var source strings.Builder
		source.WriteString(`^`)
		for _, r := range pattern {
			switch r {
			case '%':
				source.WriteString(`(?s:.*)`)
			case '_':
				source.WriteString(`[^\n]`)
			default:
				source.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
		source.WriteString(`\z`)
		want := regexp.MustCompile(source.String()).MatchString(text)
		compiled, err := compileLike(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := compiled.matches(text); got != want {
			t.Fatalf("%q LIKE %q: %v, want %v", text, pattern, got, want)
		}
	})
}
