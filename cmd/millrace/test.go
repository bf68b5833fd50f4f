package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"millrace/exec/replay"
)

// testCommand is millrace test.
type testCommand struct {
	Paths  []string `arg:"" name:"path" help:"Folders with tests, or below which tests lie."`
	Update bool     `help:"Write the expected files instead of comparing with them."`
	JSON   bool     `name:"json" help:"Print one line of JSON a test."`
}

// testLine is what --json prints of a test.
type testLine struct {
	Test        string   `json:"test"`
	Passed      bool     `json:"passed"`
	Differences string   `json:"differences,omitempty"`
	Updated     []string `json:"updated,omitempty"`
}

// Run implements the command.
func (c *testCommand) Run(ctx context.Context, std streams) error {
	var directories []string
	for _, path := range c.Paths {
		found, err := replay.FindGoldens(path)
		if err != nil {
			return err
		}
		directories = append(directories, found...)
	}
	encoder := json.NewEncoder(std.out)
	encoder.SetEscapeHTML(false)
	failed := 0
	for _, directory := range directories {
		verdict, err := replay.RunGolden(ctx, directory, c.Update)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			verdict.Differences += err.Error() + "\n"
		}
		if verdict.Differences != "" {
			failed++
		}
		if !c.JSON {
			c.print(std, verdict)
			continue
		}
		line := testLine{directory, verdict.Differences == "", verdict.Differences, verdict.Updated}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	if !c.JSON {
		fmt.Fprintf(std.out, "%s, %d failed\n", counted(int64(len(directories)), "test"), failed)
	}
	if failed > 0 {
		return errReported
	}
	return nil
}

func (c *testCommand) print(std streams, v replay.Verdict) {
	switch {
	case v.Differences != "":
		fmt.Fprintf(std.out, "FAIL    %s\n", v.Directory)
		for line := range strings.Lines(v.Differences) {
			fmt.Fprintf(std.out, "    %s", line)
		}
	case len(v.Updated) > 0:
		fmt.Fprintf(std.out, "updated %s: %s\n", v.Directory, strings.Join(v.Updated, ", "))
	default:
		fmt.Fprintf(std.out, "ok      %s\n", v.Directory)
	}
}
