package client

import "testing"

func TestParseJAAS(t *testing.T) {
	for text, expected := range map[string][2]string{
		`a.Module required username="u" password="p";`:                    {"u", "p"},
		`  a.Module   required` + "\n" + `username='u' password = "p" ; `: {"u", "p"},
		`M required password=p username=u tokenauth="true"`:               {"u", "p"},
		`M required username="a\"b" password="c\\d;e f='g'";`:             {`a"b`, `c\d;e f='g'`},
	} {
		if user, password, err := parseJAAS(text); err != nil || user != expected[0] || password != expected[1] {
			t.Errorf("%s: %q, %q, %v", text, user, password, err)
		}
	}
	for _, text := range []string{
		``, `;`, `M`, `M required`, `M required username="u"`, `M required username="u" password="p`, `M required username`,
		`M required username="" password="p"`, `username="u" password="p"`,
	} {
		if user, password, err := parseJAAS(text); err == nil {
			t.Errorf("%s: %q, %q", text, user, password)
		}
	}
}

func FuzzParseJAAS(f *testing.F) {
	f.Add(`M required username="u\"" password='p';`)
	f.Fuzz(func(t *testing.T, text string) {
		if user, password, err := parseJAAS(text); err == nil && (user == "" || password == "") {
			t.Errorf("%q: %q, %q", text, user, password)
		}
	})
}
