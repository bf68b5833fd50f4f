package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// Golden is a golden test: a folder with statements, recorded inputs and what
// must come of them.
type Golden struct {
	Directory  string
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

// ReadGolden reads the files of a test but for what is expected.
func ReadGolden(directory string) (*Golden, error) {
	g := &Golden{Directory: directory}
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
	return g, readOptional(filepath.Join(directory, topicsFile), &g.recorded.Topics)
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
