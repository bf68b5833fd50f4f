package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"millrace/exec/replay"
)

// replayCommand is millrace replay.
type replayCommand struct {
	SQL     string            `name:"sql" required:"" type:"existingfile" help:"File with the statements."`
	Records string            `required:"" type:"existingfile" help:"JSON file with the topics and the inputs."`
	Sources bool              `help:"Print what the statements declared as the last line."`
	Set     map[string]string `help:"Session property, as 'key=value'." mapsep:"none"`
}

// Run implements the command.
func (c *replayCommand) Run(ctx context.Context, std streams) error {
	statements, err := os.ReadFile(c.SQL)
	if err != nil {
		return err
	}
	records, err := os.ReadFile(c.Records)
	if err != nil {
		return err
	}
	var recorded replay.Case
	if err := json.Unmarshal(records, &recorded); err != nil {
		return fmt.Errorf("%s: %w", c.Records, err)
	}
	out := bufio.NewWriter(std.out)
	defer out.Flush() //nolint:errcheck // what was written before an error is a courtesy
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	r, err := replay.New(ctx, recorded, replay.Options{Properties: c.Set, Directory: filepath.Dir(c.SQL)})
	if err != nil {
		return err
	}
	if err := r.Run(ctx, string(statements), recorded.Inputs, func(o replay.Output) error { return encoder.Encode(o) }); err != nil {
		return err
	}
	if c.Sources {
		if err := encoder.Encode(map[string]any{"sources": r.Sources()}); err != nil {
			return err
		}
	}
	if err := r.Close(ctx); err != nil {
		return err
	}
	return out.Flush()
}
