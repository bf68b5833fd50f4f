package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/exec/session"
	"millrace/kafkaio/memory"
	"millrace/sql/token"
)

// fileSession is a session over a folder with files, with a stream S to load
// them into.
func fileSession(t *testing.T, files map[string]string) *session.Session {
	t.Helper()
	directory := t.TempDir()
	for name, content := range files {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := session.New(session.Options{Log: memory.New(), Service: "test", Now: func() int64 { return 0 }, Directory: directory})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	execute(t, s, "CREATE STREAM s (k STRING KEY, v STRING) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON', PARTITIONS=1);")
	return s
}

// execute gives the message of the last statement of a script, or its error.
func execute(t *testing.T, s *session.Session, text string) (message string) {
	t.Helper()
	err := s.Script(context.Background(), text, func(_ token.Piece, result *session.Result) { message = result.Message })
	if err != nil {
		return err.Error()
	}
	return message
}

func TestFilesWithOddRows(t *testing.T) {
	s := fileSession(t, map[string]string{
		"doubled.csv":    "k,v,V\na,1,2\n",
		"header.csv":     "\"k,v\n",
		"endless.csv":    "k,v\na,\"" + strings.Repeat("x\n", 33<<20),
		"longline.jsonl": "{\"K\":\"a\"}\n{\"V\":\"" + strings.Repeat("x", 66<<20),
	})
	for _, c := range []struct{ statement, want string }{
		{"LOAD 'doubled.csv' INTO s;", "1 row of doubled.csv is loaded into S."}, // V is there by its very name
		{"LOAD 'header.csv' INTO s;", "header.csv:1: extraneous or missing"},
		{"LOAD 'endless.csv' INTO s;", "endless.csv: a row is longer than 64 MB"},
		{"LOAD 'longline.jsonl' INTO s;", "longline.jsonl:2: a row is longer than 64 MB"},
	} {
		if got := execute(t, s, c.statement); !strings.Contains(got, c.want) {
			t.Errorf("%s %.200s, want %s", c.statement, got, c.want)
		}
	}
}

func TestFileWithDoubledHeader(t *testing.T) {
	s := fileSession(t, map[string]string{"a.csv": "k,v,v\na,1,2\n"})
	if got, want := execute(t, s, "LOAD 'a.csv' INTO s;"), "fields 2 and 3 of the header line are both called v"; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFilesOfOneName loads two files that only differ in their folder.
func TestFilesOfOneName(t *testing.T) {
	s := fileSession(t, map[string]string{"2019/a.csv": "k,v\na,1\n", "2020/a.csv": "k,v\nb,2\nc,3\n"})
	for _, c := range []struct{ statement, want string }{
		{"LOAD '2019/a.csv' INTO s;", "1 row of 2019/a.csv is loaded into S."},
		{"LOAD '2020/a.csv' INTO s;", "2 rows of 2020/a.csv are loaded into S."},
		{"LOAD './2020/a.csv' INTO s;", "0 rows of ./2020/a.csv are loaded into S; 2 were there already."},
	} {
		if got := execute(t, s, c.statement); got != c.want {
			t.Errorf("%s %s, want %s", c.statement, got, c.want)
		}
	}
}
