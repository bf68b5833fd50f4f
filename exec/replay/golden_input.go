package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func (g *Golden) readInputs() error {
	if g.ksql {
		return g.readKSQLInput()
	}
	folder := filepath.Join(g.Directory, inputFolder)
	files, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		g.recorded.Inputs, err = readInputLines(filepath.Join(g.Directory, inputFile), "")
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	case err != nil:
		return err
	}
	if _, err := os.Stat(filepath.Join(g.Directory, inputFile)); err == nil {
		return fmt.Errorf("%s has both %s and %s; use one of them", g.Directory, inputFile, inputFolder)
	}
	for _, file := range files {
		topic, ok := strings.CutSuffix(file.Name(), ".jsonl")
		if !ok {
			continue
		}
		inputs, err := readInputLines(filepath.Join(folder, file.Name()), topic)
		if err != nil {
			return err
		}
		g.recorded.Inputs = append(g.recorded.Inputs, inputs...)
	}
	slices.SortStableFunc(g.recorded.Inputs, func(a, b Input) int { return int(min(max(a.Timestamp-b.Timestamp, -1), 1)) })
	return nil
}

// readInputLines reads a record a line. With a topic the records belong to it.
func readInputLines(path, topic string) ([]Input, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var inputs []Input
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		in := Input{Topic: topic}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		switch {
		case in.Topic == "":
			return nil, fmt.Errorf("%s:%d: the record has no topic", path, number)
		case topic != "" && in.Topic != topic:
			return nil, fmt.Errorf("%s:%d: the record is of topic %s, the file of %s", path, number, in.Topic, topic)
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func (g *Golden) readKSQLInput() error {
	var file struct {
		Inputs []Input `json:"inputs"`
	}
	if err := readOptional(filepath.Join(g.Directory, ksqlInput), &file); err != nil {
		return err
	}
	g.recorded.Inputs = file.Inputs
	return nil
}
