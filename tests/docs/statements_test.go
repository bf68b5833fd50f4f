package docs

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/exec/session"
	"millrace/sql/types"
)

// block is a fenced block of a document.
type block struct {
	line     int
	language string
	text     string
}

func blocks(document string) []block {
	var list []block
	var open *block
	for i, line := range strings.Split(document, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			open = &block{line: i + 1, language: strings.TrimPrefix(trimmed, "```")}
		case open != nil && trimmed == "```":
			list = append(list, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return list
}

// TestStatements checks the blocks marked sql of each document as one script:
// later blocks may use what earlier ones declare. Topics need not exist, nor
// files of LOAD. Blocks marked sql-syntax only show a form.
//
// A statement of a table whose first column is called Statement is checked
// behind the blocks that stand before the table; its Result says what came of it.
func TestStatements(t *testing.T) {
	for _, page := range pages(t) {
		t.Run(strings.TrimPrefix(filepath.ToSlash(page), "../../"), func(t *testing.T) {
			document := readFile(t, page)
			script, outcomes := newScript(document), map[string]string{}
			tableLines(t, document, "Statement", func(number int, statement string, _, _ []string) {
				at := script.before(number)
				outcomes[statement] = "accepted"
				for _, err := range check(t, at.text+statement) {
					if err.Position.Line == at.lines {
						outcomes[statement] = "refused: " + err.Message
					}
				}
			})
			for _, err := range check(t, script.before(len(document)).text) {
				t.Errorf("%s:%v", filepath.Base(page), err)
			}
			settle(t, page, document, tableLines(t, document, "Statement", func(_ int, statement string, _, line []string) {
				line[1] = outcomes[statement]
			}))
		})
	}
}

// script is the blocks of a document marked sql, each at its own line.
type script struct{ blocks []block }

func newScript(document string) script {
	return script{slices.DeleteFunc(blocks(document), func(b block) bool { return b.language != "sql" })}
}

// prefix is a script up to some line of the document.
type prefix struct {
	text  string
	lines int // the number of the line behind it
}

func (s script) before(line int) prefix {
	p := prefix{lines: 1}
	for _, b := range s.blocks {
		if b.line >= line {
			break
		}
		p.text += strings.Repeat("\n", b.line+1-p.lines) + b.text
		p.lines = b.line + 1 + strings.Count(b.text, "\n")
	}
	return p
}

// check plans a script and gives all its errors but those of LOAD's files.
func check(t *testing.T, text string) []*types.Error {
	t.Helper()
	options := session.Options{Service: "docs", Directory: t.TempDir()}
	return slices.DeleteFunc(session.Check(text, options, nil), func(err *types.Error) bool {
		return err.Code == types.CodeValue && strings.HasPrefix(err.Message, "file ") && strings.HasSuffix(err.Message, "does not exist")
	})
}
