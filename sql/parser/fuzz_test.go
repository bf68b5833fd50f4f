package parser

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/sql/token"
	"millrace/sql/types"
)

// FuzzParse holds that no text crashes the parser, that every error is a
// *types.Error with a place inside the text, and that none is an internal one.
func FuzzParse(f *testing.F) {
	for _, seed := range goldenInputs(f) {
		f.Add(seed)
	}
	parser := New()
	f.Fuzz(func(t *testing.T, text string) { checkAnyText(t, parser, text) })
}

// TestMutatedStatements does the same for the golden statements with tokens
// dropped, doubled, swapped and exchanged between statements.
func TestMutatedStatements(t *testing.T) {
	var statements [][]string
	var words []string
	for _, input := range goldenInputs(t) {
		pieces, _, _ := token.Split(input)
		for _, piece := range pieces {
			var texts []string
			for _, tk := range piece.Tokens[:len(piece.Tokens)-1] {
				texts = append(texts, piece.Source.Text[tk.Offset:tk.End])
			}
			statements = append(statements, texts)
			words = append(words, texts...)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	parser := New()
	for range 5000 {
		texts := slices.Clone(statements[random.IntN(len(statements))])
		for range 1 + random.IntN(3) {
			i := random.IntN(len(texts))
			switch random.IntN(4) {
			case 0:
				texts = slices.Delete(texts, i, min(i+1, len(texts)-1))
			case 1:
				texts = slices.Insert(texts, i, texts[i])
			case 2:
				texts[i] = words[random.IntN(len(words))]
			case 3:
				other := statements[random.IntN(len(statements))]
				from := random.IntN(len(other))
				texts = slices.Insert(texts, i, other[from:from+random.IntN(len(other)-from)]...)
			}
		}
		checkAnyText(t, parser, strings.Join(texts, " "))
	}
}

func checkAnyText(t *testing.T, parser *Parser, text string) {
	t.Helper()
	statements, err := parser.parseScript(text, map[string]string{"a": "b", "n": "-1"})
	for _, s := range statements {
		if out := printStatement(s); strings.Contains(out, "?*") && !strings.Contains(text, "?") {
			t.Fatalf("%s\na node that the printer does not know: %s", text, out)
		}
	}
	if err == nil {
		return
	}
	fault, ok := errors.AsType[*types.Error](err)
	if !ok {
		t.Fatalf("%s\n%T: %v", text, err, err)
	}
	p := fault.Position
	if p.Line < 1 || p.Column < 1 || p.Offset < 0 || p.Offset > len(text) {
		t.Fatalf("%s\nplace %+v of %v", text, p, err)
	}
	for _, internal := range []string{cannotStand, notOneQuery, notAQuery, cannotTell} {
		if fault.Message == internal {
			t.Fatalf("%s\nthe recogniser let through what TiDB refuses: %v", text, err)
		}
	}
}

// goldenInputs are the statements of the golden files.
func goldenInputs(t testing.TB) []string {
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	var inputs []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for block := range strings.SplitSeq(string(content), "\n\n") {
			if _, input, found := strings.Cut(block, "\n"); found {
				input, _, _ = strings.Cut(input, "\n----")
				inputs = append(inputs, input)
			}
		}
	}
	return inputs
}
