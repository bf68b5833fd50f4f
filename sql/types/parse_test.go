package types

import "testing"

// FuzzParseTimes reads any text without a panic, and what AppendTimestamp
// writes as the same value.
func FuzzParseTimes(f *testing.F) {
	for _, seed := range []string{
		"2020", "2020-05-06T07:08:09.123Z", "T10:11", "-5-1-1", "2020-05-06 07+0200", "999999-12-31", "", "T", "2020-05-06T+",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = ParseTime(text)
		_, _ = ParseDate(text)
		millis, err := ParseTimestamp(text)
		if err != nil || millis < -60000000000000 || millis > 253000000000000 {
			return
		}
		again, err := ParseTimestamp(string(AppendTimestamp(nil, millis)))
		if err != nil || again != millis {
			t.Errorf("%q is %d, and read back %d: %v", text, millis, again, err)
		}
	})
}

func TestParseDouble(t *testing.T) {
	for text, want := range map[string]string{
		" 1.5 ": "1.5", "1e400": "Infinity", "-Infinity": "-Infinity", "NaN": "NaN", "5f": "5.0", ".5": "0.5",
	} {
		v, err := ParseDouble(text)
		if err != nil || string(AppendDouble(nil, v)) != want {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"", " ", "x", "0x10", "1_000", "inf", "--1", "d"} {
		if v, err := ParseDouble(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}
