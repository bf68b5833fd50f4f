package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ksqlRecord is a record in the output file of ksqlDB's test runner. Without a
// timestamp any one will do.
type ksqlRecord struct {
	Topic     string          `json:"topic"`
	Key       json.RawMessage `json:"key"`
	Value     json.RawMessage `json:"value"`
	Timestamp *int64          `json:"timestamp"`
	Window    *Window         `json:"window,omitempty"`
}

// compareKSQL compares the topics that the output file names, record by record.
func (g *golden) compareKSQL(a *answer) (string, error) {
	if a.err != nil {
		return fmt.Sprintf("error: %v\n", a.err), nil
	}
	path := filepath.Join(g.directory, ksqlOutput)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist; write it with --update", path)
	}
	var file struct {
		Outputs []ksqlRecord `json:"outputs"`
	}
	if err := readOptional(path, &file); err != nil {
		return "", err
	}
	expected := map[string][]ksqlRecord{}
	var topics []string
	for _, r := range file.Outputs {
		if expected[r.Topic] == nil {
			topics = append(topics, r.Topic)
		}
		expected[r.Topic] = append(expected[r.Topic], r)
	}
	var text string
	for _, topic := range topics {
		text += compareKSQLTopic(topic, expected[topic], a.records)
	}
	return text, nil
}

func compareKSQLTopic(topic string, expected []ksqlRecord, records []Output) string {
	var want, got []diffLine
	for _, r := range records {
		if r.Topic == topic {
			got = append(got, newDiffLine(r, 0))
		}
	}
	for i, r := range expected {
		record := Output{Topic: r.Topic, Key: r.Key, Value: r.Value, Window: r.Window}
		switch {
		case r.Timestamp != nil:
			record.Timestamp = *r.Timestamp
		case i < len(got):
			record.Timestamp = got[i].timestamp
		}
		if r.Window == nil && i < len(got) {
			record.Window = got[i].window
		}
		want = append(want, newDiffLine(record, i+1))
	}
	if diff := diffLines(want, got); diff != "" {
		return fmt.Sprintf("- %s, + this run\n%s", ksqlOutput, diff)
	}
	return ""
}

// ksqlText is the output file of an answer.
func ksqlText(a *answer) string {
	var file struct {
		Outputs []Output `json:"outputs"`
	}
	file.Outputs = a.records
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(file) // its raw parts were checked when it was made
	return buf.String()
}
