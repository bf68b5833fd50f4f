package fn

import (
	"strings"
	"testing"
)

func TestEveryFunctionIsDescribed(t *testing.T) {
	for _, f := range Functions() {
		if f.Name != strings.ToUpper(f.Name) || len(f.Overloads) == 0 {
			t.Errorf("%s: bad entry", f.Name)
		}
		if !strings.HasSuffix(f.Doc, ".") || strings.Count(f.Doc, ". ") > 0 {
			t.Errorf("%s: the doc has to be one sentence: %q", f.Name, f.Doc)
		}
		for _, o := range f.Overloads {
			if (o.Row == nil) == (o.Rows == nil) {
				t.Errorf("%s%s needs Row or Rows", f.Name, o.Signature)
			}
			if _, result, ok := cutResult(o.Signature); !ok || result == "" {
				t.Errorf("%s%s has no result", f.Name, o.Signature)
			}
		}
	}
}

func TestUnknownSuggestsTheNearestName(t *testing.T) {
	for name, want := range map[string]string{"LENN": "LEN", "substrin": "SUBSTRING", "QQQQQQQQQ": ""} {
		if hint := Unknown(name).Hint; (want == "") != (hint == "") || !strings.Contains(hint, want) {
			t.Errorf("%s: hint %q, want %q", name, hint, want)
		}
	}
}
