package fn

import (
	"net/url"
	"testing"
)

// FuzzPlainURI compares the short way of reading a URI with the standard library.
func FuzzPlainURI(f *testing.F) {
	for _, seed := range []string{
		"http://a", "https://u:p@h.example:80/p/q?x=1&y=%20#top", "a://b:/", "a://b:1:2", "a://@b", "a://b?#", "a://b/c%20", "a://u@v@w/",
		"mailto:a@b", "//a/b", "a://b#c#d", "a://b?c?d", "a://b/?x=%zz", "a://:1", "a://b/c:d",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := plainURI(text)
		if !ok {
			return
		}
		u, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want := uri{u.Scheme, u.Hostname(), u.Port(), u.Path, u.RawQuery, u.Fragment, u.Opaque != ""}
		if got != want {
			t.Fatalf("%q: %+v, want %+v", text, got, want)
		}
	})
}
