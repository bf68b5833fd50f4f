// Package docs holds the documents to the product: what they say that an
// expression gives is evaluated, their statements are planned, and the pages
// that list what exists are generated. With -update, all of that is written
// anew.
package docs

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// documents is the folder of the documents, seen from this package.
const documents = "../../docs"

var update = flag.Bool("update", false, "write the generated parts of the documents anew")

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// settle compares a document with what it should be, or writes it.
func settle(t *testing.T, path, is, should string) {
	t.Helper()
	if is == should {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(should), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, want := strings.Split(is, "\n"), strings.Split(should, "\n")
	for i := range want {
		if i >= len(have) || have[i] != want[i] {
			old := "nothing"
			if i < len(have) {
				old = have[i]
			}
			t.Errorf("%s:%d is not what the product does\n has    %s\n should %s\nwrite it anew with: go test ./tests/docs -update",
				filepath.Base(path), i+1, old, want[i])
			return
		}
	}
	t.Errorf("%s has %d lines too many; write it anew with: go test ./tests/docs -update", filepath.Base(path), len(have)-len(want))
}

// section replaces what stands in a document between a generated part's marks.
func section(t *testing.T, document, name, content string) string {
	t.Helper()
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
	head, rest, ok := strings.Cut(document, begin)
	_, tail, okEnd := strings.Cut(rest, end)
	if !ok || !okEnd {
		t.Fatalf("the document has no part %s", name)
	}
	return head + begin + content + end + tail
}

// pages are the Markdown files whose content is checked.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(documents + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	nested, err := filepath.Glob(documents + "/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(append(found, nested...), "../../README.md")
}
