package expr

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"millrace/exec/fn"
)

// TestEveryFunctionHasAGolden looks for a call of each function in testdata.
func TestEveryFunctionHasAGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/fn_*.txt")
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`([A-Z][A-Z0-9_]*)\(`).FindAllSubmatch(content, -1) {
			called[string(match[1])] = true
		}
	}
	for _, f := range fn.Functions() {
		if !called[f.Name] {
			t.Errorf("%s has no golden", f.Name)
		}
	}
}
