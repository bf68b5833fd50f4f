package session_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"millrace/exec/session"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/kafkaio/registry"
	"millrace/sql/token"
	"millrace/sql/types"

	"github.com/cockroachdb/datadriven"
)

// TestGolden plans scripts without an engine. Each file is one session:
//
//	topic name=NAME partitions=N   makes a topic
//	script                         executes statements; each prints its result or error
//	schema subject=NAME kind=KIND  registers a schema, in files called schema..
//	check                          checks a script by itself and prints its errors
//	records topic=NAME             prints what a topic holds
//
// go test ./exec/session -rewrite writes the files anew.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		log := memory.New()
		options := session.Options{Log: log, Service: "test", Now: func() int64 { return 1_000_000 }, Directory: "testdata"}
		if strings.HasPrefix(filepath.Base(path), "schema") {
			options.Registry = registry.NewMemory()
		}
		s := session.New(options)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "topic":
				var name, partitions string
				d.ScanArgs(t, "name", &name)
				d.ScanArgs(t, "partitions", &partitions)
				n, err := strconv.Atoi(partitions)
				if err != nil {
					t.Fatal(err)
				}
				if err := log.CreateTopic(context.Background(), kafkaio.TopicSpec{Name: name, Partitions: n}); err != nil {
					t.Fatal(err)
				}
				return ""
			case "schema":
				var subject, kind string
				d.ScanArgs(t, "subject", &subject)
				d.ScanArgs(t, "kind", &kind)
				id, err := options.Registry.Register(context.Background(), subject, registry.Schema{Kind: registry.Kind(kind), Text: d.Input})
				if err != nil {
					t.Fatal(err)
				}
				return fmt.Sprintf("id %d\n", id)
			case "script":
				return runScript(s, d.Input)
			case "check":
				return check(d.Input)
			case "records":
				var topic string
				d.ScanArgs(t, "topic", &topic)
				return records(t, log, topic)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// runScript executes the statements one by one and goes on after an error.
func runScript(s *session.Session, text string) string {
	var out strings.Builder
	pieces, _, err := token.Split(text)
	for _, piece := range pieces {
		result, err := s.Execute(context.Background(), piece)
		var fault *types.Error
		switch {
		case errors.As(err, &fault):
			out.WriteString("error: " + fault.Error() + "\n")
		case err != nil:
			out.WriteString("failure: " + err.Error() + "\n")
		case result.Text != "":
			out.WriteString(result.Text)
		default:
			writeResult(&out, result)
		}
	}
	if err != nil {
		out.WriteString("error: " + err.Error() + "\n")
	}
	return out.String()
}

// writeResult writes the message, and tables with a bar between cells.
func writeResult(out *strings.Builder, result *session.Result) {
	for _, table := range result.Tables {
		if table.Title != "" {
			out.WriteString(table.Title + "\n")
		}
		out.WriteString(strings.Join(table.Columns, " | ") + "\n")
		for _, row := range table.Rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = strings.ReplaceAll(fmt.Sprint(cell), "\n", " ")
			}
			out.WriteString("  " + strings.Join(cells, " | ") + "\n")
		}
	}
	if result.Message != "" {
		out.WriteString(result.Message + "\n")
	}
}

func check(text string) string {
	var out strings.Builder
	for _, fault := range session.Check(text, session.Options{Service: "test", Directory: "testdata"}, nil) {
		out.WriteString(fault.Error() + "\n")
	}
	if out.Len() == 0 {
		return "no errors\n"
	}
	return out.String()
}

// records are a topic's records: partition, key and value.
func records(t *testing.T, log *memory.Log, topic string) string {
	t.Helper()
	topics, err := log.Topics(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	fetcher := log.NewFetcher(kafkaio.FetchOptions{})
	defer fetcher.Close() //nolint:errcheck // it was only read
	positions := map[kafkaio.TopicPartition]int64{}
	for i := range topics[topic].Partitions {
		positions[kafkaio.TopicPartition{Topic: topic, Partition: int32(i)}] = 0
	}
	fetcher.Assign(positions)
	runs, err := fetcher.Poll(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, run := range runs {
		for i := range run.Len() {
			value := "null"
			if run.Values[i] != nil {
				value = string(run.Values[i])
			}
			lines = append(lines, fmt.Sprintf("%d@%d: %q %s", run.Partition, run.Offsets[i], run.Keys[i], value))
		}
		run.Release()
	}
	slices.Sort(lines)
	return strings.Join(append(lines, ""), "\n")
}
