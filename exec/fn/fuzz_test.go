package fn

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"millrace/exec/column"
)

func FuzzDatePattern(f *testing.F) {
	for _, seed := range [][2]string{
		{"yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2020-05-06T07:08:09.123+02:00"},
		{"yyyyMMddHHmm", "202005060708"},
		{"d MMM uuuu[ h:mm a]", "6 May 2020 1:05 pm"},
		{"D yy E G Q VV", "127 20 Wed AD 2 Europe/Berlin"},
		{"[[['", "x"},
		{"A N n e k K", "1 2 3 4 5 6"},
		{"YYYY-'W'ww-e", "2024-W20-2"},
		{"yyyy-MM W F c eeee QQQQ", "2024-05 2 2 3 Tuesday 2nd quarter"},
		{"Yw[W]F GGGGG q", "202420 A 2"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		compiled, err := compileDatePattern(pattern)
		if err != nil {
			return
		}
		if fields, err := compiled.parse(text); err == nil {
			if _, err := fields.time(time.UTC); err != nil {
				return
			}
		}
		if _, err := compiled.format(nil, time.Unix(1e9, 0).UTC()); err != nil {
			t.Errorf("%q does not format: %v", pattern, err)
		}
	})
}

// FuzzJSON compares what is valid with the standard library, and reads back
// what it writes.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e3,null,true,"x\u00e9\ud83d\ude00\n"],"b":{}}`, `[]`, `"`, `01`, `-`, `1.`, `{"a":1,"a":2}`, ` null `, `[1,]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written, err := rewriteJSON(text)
		if json.Valid([]byte(text)) && err != nil && len(text) < maxJSONDepth {
			t.Fatalf("%q is valid, error %v", text, err)
		}
		if err == nil && len(text) < 1000 && !beginsWithJSON(text) {
			t.Fatalf("%q is not valid", text)
		}
		if err != nil || !utf8.ValidString(text) {
			return
		}
		twice, err := rewriteJSON(written)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, written, err)
		}
		if twice != written {
			t.Fatalf("%q became %q and then %q", text, written, twice)
		}
	})
}

// rewriteJSON reads a JSON text and writes it again.
func rewriteJSON(text string) (string, error) {
	var p jsonParser
	p.reset(new(column.Arena))
	v, err := p.parse(text)
	if err != nil {
		return "", err
	}
	return string(p.append(nil, v)), nil
}

// beginsWithJSON tells whether some prefix of a text is valid.
func beginsWithJSON(text string) bool {
	for end := 1; end <= len(text); end++ {
		if json.Valid([]byte(text[:end])) {
			return true
		}
	}
	return false
}
