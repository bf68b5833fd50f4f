package parser

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"millrace/sql/token"
	"millrace/sql/types"

	"github.com/cockroachdb/datadriven"
)

var update = flag.Bool("update", false, "rewrite the expected results of the golden files")

// TestGolden runs testdata: "parse [name=value ..]" prints the trees of a script,
// with the given variables; "split" prints its pieces.
func TestGolden(t *testing.T) {
	if *update {
		if err := flag.Set("rewrite", "true"); err != nil {
			t.Fatal(err)
		}
	}
	parser := New()
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return printScript(t, parser, d)
			case "split":
				return printPieces(t, d.Input)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func printScript(t *testing.T, parser *Parser, d *datadriven.TestData) string {
	var variables map[string]string
	if len(d.CmdArgs) > 0 {
		variables = map[string]string{}
		for _, arg := range d.CmdArgs {
			variables[arg.Key] = strings.Join(arg.Vals, ",")
		}
	}
	statements, err := parser.parseScript(d.Input, variables)
	var b strings.Builder
	for _, s := range statements {
		fmt.Fprintln(&b, printStatement(s))
	}
	if err != nil {
		fmt.Fprintln(&b, printError(t, err))
	}
	return b.String()
}

func printPieces(t *testing.T, text string) string {
	pieces, terminated, err := token.Split(text)
	var b strings.Builder
	for _, p := range pieces {
		fmt.Fprintf(&b, "%d:%d %q terminated=%v\n", p.Position.Line, p.Position.Column, p.Text, p.Terminated)
	}
	fmt.Fprintf(&b, "terminated=%v\n", terminated)
	if err != nil {
		fmt.Fprintln(&b, printError(t, err))
	}
	return b.String()
}

func printError(t *testing.T, err error) string {
	t.Helper()
	fault, ok := errors.AsType[*types.Error](err)
	if !ok {
		t.Fatalf("%T is no *types.Error: %v", err, err)
	}
	if !fault.Position.Known() {
		t.Fatalf("no position: %v", err)
	}
	text := fmt.Sprintf("%s error: %v", fault.Code, fault)
	if fault.Incomplete {
		text += " [incomplete]"
	}
	return text
}
