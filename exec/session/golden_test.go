package session_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"millrace/exec/session"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/sql/token"
	"millrace/sql/types"

	"github.com/cockroachdb/datadriven"
)

// TestGolden plans scripts without an engine. Each file is one session:
//
//	topic name=NAME partitions=N   makes a topic
//	script                         executes statements; each prints its result or error
//
// go test ./exec/session -rewrite writes the files anew.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		log := memory.New()
		s := session.New(session.Options{Log: log, Service: "test", Now: func() int64 { return 1_000_000 }, Directory: "testdata"})
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
			case "script":
				return runScript(s, d.Input)
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
			out.WriteString(result.Message + "\n")
		}
	}
	if err != nil {
		out.WriteString("error: " + err.Error() + "\n")
	}
	return out.String()
}
