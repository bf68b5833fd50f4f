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

func (g *golden) readInputs() error {
	if g.ksql {
		return g.readKSQLInput()
	}
	folder := filepath.Join(g.directory, inputFolder)
	files, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		g.recorded.Inputs, err = readInputLines(filepath.Join(g.directory, inputFile), "")
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	case err != nil:
		return err
	}
	if _, err := os.Stat(filepath.Join(g.directory, inputFile)); err == nil {
		return fmt.Errorf("%s has both %s and %s; use one of them", g.directory, inputFile, inputFolder)
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
	var inputs []Input
	err := eachLine(path, func(line []byte, _ int) error {
		in := Input{Topic: topic}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			return err
		}
		switch {
		case in.Topic == "":
			return errors.New("the record has no topic")
		case topic != "" && in.Topic != topic:
			return fmt.Errorf("the record is of topic %s, the file of %s", in.Topic, topic)
		}
		inputs = append(inputs, in)
		return nil
	})
	return inputs, err
}

func (g *golden) readKSQLInput() error {
	var file struct {
		Inputs []Input `json:"inputs"`
	}
	if err := readOptional(filepath.Join(g.directory, ksqlInput), &file); err != nil {
		return err
	}
	g.recorded.Inputs = file.Inputs
	return nil
}
