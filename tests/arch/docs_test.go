package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pathInText are paths of the project that a document names in back quotes.
var pathInText = regexp.MustCompile("`((?:cmd|sql|planner|exec|state|kafkaio|tests|docs)/[A-Za-z0-9_./-]+)`")

func TestDocumentsNameFilesThatExist(t *testing.T) {
	documents, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range append(documents, root+"/README.md") {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range pathInText.FindAllStringSubmatch(string(text), -1) {
			path := strings.TrimSuffix(match[1], "/")
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s names %s, which does not exist", filepath.Base(document), path)
			}
		}
	}
}

func TestGoFilesStayReadable(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if lines := strings.Count(string(text), "\n"); lines >= 600 {
			t.Errorf("%s has %d lines; split it by what it does", path, lines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
