package expr

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"millrace/exec/column"
	"millrace/exec/fn"
	"millrace/sql/types"
)

// TestGolden runs the files of testdata. Each line of an eval block is an
// expression without columns; what comes out is its type and value, the
// failure, or the error of binding it. In a table block, the outermost call is
// one of a table function.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				var b strings.Builder
				for line := range strings.SplitSeq(d.Input, "\n") {
					switch d.Cmd {
					case "eval", "table":
						fmt.Fprintln(&b, evalLine(line, d.Cmd == "table"))
					default:
						d.Fatalf(t, "unknown command %s", d.Cmd)
					}
				}
				return b.String()
			})
		})
	}
}

type collectedErrors struct{ texts []string }

func (c *collectedErrors) RowError(_ *column.Batch, i int, what string, err error) {
	c.texts = append(c.texts, what+": "+err.Error())
}

func evalLine(line string, table bool) string {
	e, err := parseTest(line, nil, table)
	if err != nil {
		return "error: " + err.Error()
	}
	failures := &collectedErrors{}
	v, err := Evaluate(e, testEnvironment(failures))
	if err != nil {
		return "error: " + err.Error()
	}
	text := e.Type().String() + " " + renderTest(v)
	for _, failure := range failures.texts {
		text += "  ! " + failure
	}
	return text
}

func testEnvironment(errors column.Errors) *Environment {
	counter := uint64(0)
	return &Environment{
		Errors: errors,
		Now:    func() int64 { return time.Date(2024, 2, 29, 12, 30, 45, 678e6, time.UTC).UnixMilli() },
		Random: func() uint64 { counter += 0x9E3779B97F4A7C15; return counter },
	}
}

func renderTest(v *column.Vector) string {
	if v.Null(0) {
		return "NULL"
	}
	if v.Type.Kind == types.KindBytes {
		return fmt.Sprintf("%x", v.Texts[0])
	}
	return string(fn.AppendText(nil, v, 0))
}
