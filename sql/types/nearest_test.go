package types

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"AMOUNT", "NAME", "ROWTIME", "ID"}
	for _, c := range []struct{ name, want string }{
		{"AMONUT", "AMOUNT"}, // neighbours swapped
		{"amount", "AMOUNT"}, // another case
		{"AMOUNTS", "AMOUNT"},
		{"NAM", "NAME"},
		{"IT", "ID"},
		{"X", ""},
		{"CITY", ""},
		{"NAME", ""}, // itself
		{"", ""},
	} {
		if got := Nearest(c.name, names); got != c.want {
			t.Errorf("Nearest(%q) is %q, want %q", c.name, got, c.want)
		}
	}
}
