package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"millrace/exec/session"
	"millrace/sql/types"
)

// checkCommand is millrace check.
type checkCommand struct {
	Files []string          `arg:"" name:"file" help:"Files with statements; each is checked by itself."`
	JSON  bool              `name:"json" help:"Write each error as a line of JSON with file, line, column, code, message and hint."`
	Set   map[string]string `help:"Session property, as 'key=value'; may be given several times." mapsep:"none" placeholder:"KEY=VALUE"`
}

// checkFault is an error as --json writes it. Lines and columns count from 1,
// columns in characters.
type checkFault struct {
	File    string     `json:"file"`
	Line    int        `json:"line"`
	Column  int        `json:"column"`
	Code    types.Code `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}

// Run implements the command.
func (c *checkCommand) Run(std streams) error {
	for name, value := range c.Set {
		if _, err := session.CheckPropertyName(name); err != nil {
			return &usageError{fmt.Errorf("--set: %w", err)}
		}
		if err := checkProperty(name, value); err != nil {
			return &usageError{fmt.Errorf("--set: %w", err)}
		}
	}
	schemas, err := (&brokerFlags{}).openRegistry(c.Set)
	if err != nil {
		return &usageError{fmt.Errorf("--set: %w", err)}
	}
	encoder := json.NewEncoder(std.out)
	encoder.SetEscapeHTML(false)
	failed := false
	for _, file := range c.Files {
		text, err := os.ReadFile(file)
		if err != nil {
			return readError(err, file)
		}
		options := session.Options{Service: "check", Directory: filepath.Dir(file), Registry: schemas, CheckProperty: checkProperty}
		for _, fault := range session.Check(string(text), options, c.Set) {
			failed = true
			out := checkFault{file, fault.Position.Line, fault.Position.Column, fault.Code, fault.Message, fault.Hint}
			if !c.JSON {
				fmt.Fprintln(std.out, out)
				continue
			}
			if err := encoder.Encode(out); err != nil {
				return err
			}
		}
	}
	if failed {
		return errReported
	}
	return nil
}

func (f checkFault) String() string {
	text := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}
