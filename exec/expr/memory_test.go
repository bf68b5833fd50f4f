package expr

import (
	"strings"
	"testing"
)

// TestConstantsAreBounded evaluates constants that would fill the memory.
func TestConstantsAreBounded(t *testing.T) {
	for _, text := range []string{
		"REPLACE(LPAD('a', 1000000, 'x'), 'x', LPAD('b', 100, 'y'))",
		"TRANSFORM(GENERATE_SERIES(1, 10000), x => GENERATE_SERIES(1, 10000))",
		"TRANSFORM(GENERATE_SERIES(1, 100000), x => LPAD(CAST(x AS STRING), 100000, 'x'))",
	} {
		e := parseColumns(t, text)
		if _, err := Evaluate(e, nil); err == nil || !strings.HasSuffix(err.Error(), "needs more than 64 MB") {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Compile(e, nil); err != nil {
			t.Errorf("%s does not compile: %v", text, err)
		}
	}
}
