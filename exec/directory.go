package exec

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"millrace/exec/task"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// The state directory holds workers.json, the most workers that a process
// has had, and per query a directory with topics.json, the ids of the topics
// that its positions and state belong to, and a directory per task.

func (e *Engine) queriesDirectory() string { return filepath.Join(e.options.StateDirectory, "queries") }

func (e *Engine) queryDirectory(id string) string {
	return filepath.Join(e.queriesDirectory(), url.PathEscape(id))
}

// exchangeWorkers notes the number of workers and gives the most that any
// process before had, 0 if it is not known.
func (e *Engine) exchangeWorkers(now int) (before int, err error) {
	if e.options.StateDirectory == "" {
		return 0, nil
	}
	path := filepath.Join(e.options.StateDirectory, "workers.json")
	if err := readJSON(path, &before); err != nil {
		return 0, err
	}
	// The number never falls: a crash before the earlier ids are fenced must not
	// forget them, and fencing an id once too often costs little.
	return before, writeJSON(path, max(before, now))
}

// compareTopics refuses a query whose topics were deleted and made again since
// it last ran here: its positions and its state say nothing about the new ones.
// A query that only keeps rows takes those of the new topic.
func (e *Engine) compareTopics(p *plan.Query, topics *task.Topics) error {
	if e.options.StateDirectory == "" || p.Materializes() {
		return nil
	}
	path := filepath.Join(e.queryDirectory(p.ID), "topics.json")
	var known map[string]string
	if err := readJSON(path, &known); err != nil {
		return err
	}
	now := make(map[string]string)
	for name, id := range topics.IDs(p) {
		now[name] = hex.EncodeToString(id[:])
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if id, ok := known[name]; ok && id != now[name] {
			return types.Errorf(types.CodeStatement, "the topic %s was deleted and made again since the query %s last ran", name, p.ID).
				WithHint("what the query has read and remembers is about the old one: drop the query and create it again")
		}
	}
	if maps.Equal(known, now) {
		return nil
	}
	return writeJSON(path, now)
}

// readJSON leaves value as it is when the file does not exist.
func readJSON(path string, value any) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(content, value)
	}
	if err != nil {
		return fmt.Errorf("state file %s: %w", path, err)
	}
	return nil
}

// writeJSON replaces the file so that a crash leaves the old or the new one.
func writeJSON(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("state file %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if err := os.WriteFile(path+".next", content, 0o600); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	if err := os.Rename(path+".next", path); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return nil
}
