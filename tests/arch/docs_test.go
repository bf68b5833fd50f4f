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

// requirement is a module of the first block of go.mod, which the code imports.
var requirement = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

// row is the module that a line of a table in dependencies.md begins with.
var row = regexp.MustCompile("(?m)^\\| `([a-z0-9.]+/[^`]+)`")

func TestDependenciesAreDocumented(t *testing.T) {
	modules, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for _, match := range requirement.FindAllStringSubmatch(string(modules), -1) {
		required[match[1]] = true
		// Packages of one module that has several share a row.
		base := "`" + match[1][strings.LastIndex(match[1], "/pkg/")+1:] + "`"
		if text := string(document); !strings.Contains(text, "`"+match[1]+"`") && !strings.Contains(text, base) {
			t.Errorf("dependencies.md has no row for %s", match[1])
		}
	}
	if len(required) == 0 {
		t.Fatal("go.mod requires nothing")
	}
	for _, match := range row.FindAllStringSubmatch(string(document), -1) {
		if !required[match[1]] {
			t.Errorf("dependencies.md has a row for %s, which go.mod does not require", match[1])
		}
	}
}
