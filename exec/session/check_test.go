package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/exec/session"
)

// FuzzCheck checks any text: each error has a position in it.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n----\n") {
			f.Add(part)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, fault := range session.Check(text, session.Options{Directory: t.TempDir()}, nil) {
			if !fault.Position.Known() || fault.Position.Offset > len(text) || fault.Message == "" {
				t.Errorf("%q: %v at %v", text, fault, fault.Position)
			}
		}
	})
}
