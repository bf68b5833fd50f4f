package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"millrace/exec/session"
)

// The files of a golden test. A folder with statementsFile or ksqlStatements is
// a test.
const (
	statementsFile = "query.sql"
	inputFile      = "input.jsonl"         // records in the order in which they are fed
	inputFolder    = "inputs"              // or TOPIC.jsonl each, fed by their times
	propertiesFile = "properties.json"     // session properties by name
	topicsFile     = "topics.json"         // topics that exist before: a list of Topic
	expectedFile   = "expected.jsonl"      // what the queries write, topic by topic
	eventsFile     = "expected_events.txt" // what they leave out, a line each
	errorFile      = "expected_error.txt"  // or why the statements fail

	// The files of ksqlDB's test runner.
	ksqlStatements = "statements.sql"
	ksqlInput      = "input.json"
	ksqlOutput     = "output.json"
)

// golden is a golden test: a folder with statements, recorded inputs and what
// must come of them.
type golden struct {
	directory  string
	statements string
	recorded   Case
	properties map[string]string
	ksql       bool // the files are those of ksqlDB's test runner
}

// FindGoldens lists the folders of golden tests at or below a path, sorted. It
// fails if there is none.
func FindGoldens(path string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := filepath.Base(name); !entry.IsDir() && (base == statementsFile || base == ksqlStatements) {
			found = append(found, filepath.Dir(name))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist", path)
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s holds no test: a test is a folder with a %s or a %s", path, statementsFile, ksqlStatements)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// readGolden reads the files of a test but for what is expected.
func readGolden(directory string) (*golden, error) {
	g := &golden{directory: directory}
	text, err := os.ReadFile(filepath.Join(directory, statementsFile))
	if errors.Is(err, fs.ErrNotExist) {
		g.ksql = true
		text, err = os.ReadFile(filepath.Join(directory, ksqlStatements))
	}
	if err != nil {
		return nil, err
	}
	g.statements = string(text)
	if err := g.readInputs(); err != nil {
		return nil, err
	}
	if err := readOptional(filepath.Join(directory, propertiesFile), &g.properties); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(g.properties)) {
		if _, err := session.CheckPropertyName(name); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(directory, propertiesFile), err)
		}
	}
	if err := readOptional(filepath.Join(directory, topicsFile), &g.recorded.Topics); err != nil {
		return nil, err
	}
	return g, g.readSchemas()
}

// eachLine calls take with the lines of a file that are not blank. An error of
// take gets the line's place.
func eachLine(path string, take func(line []byte, number int) error) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := take(line, number); err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	return nil
}

// readOptional reads a JSON file that may be missing.
func readOptional(path string, into any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
