package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/exec/session"
	"millrace/kafkaio/registry"
)

// silent is a registry that does not answer.
type silent struct {
	registry.Registry
	asked int
}

func (s *silent) Latest(context.Context, string) (int32, registry.Schema, error) {
	s.asked++
	return 0, registry.Schema{}, registry.ErrUnavailable
}

func TestCheckAsksSilentRegistryOnce(t *testing.T) {
	r := &silent{}
	faults := session.Check(`
CREATE STREAM a WITH (KAFKA_TOPIC='a', FORMAT='AVRO');
CREATE STREAM b (k INT KEY, v INT) WITH (KAFKA_TOPIC='b', FORMAT='JSON_SR');
CREATE STREAM c AS SELECT k, nothing FROM a;
CREATE STREAM d (k INT KEY, v INT) WITH (KAFKA_TOPIC='d', FORMAT='JSON');
CREATE STREAM e AS SELECT k, nothing FROM d;
`, session.Options{Directory: t.TempDir(), Registry: r}, nil)
	if r.asked != 1 {
		t.Errorf("the registry was asked %d times", r.asked)
	}
	if len(faults) != 2 || faults[0].Position.Line != 2 || faults[1].Position.Line != 6 {
		t.Errorf("found %v; expected the registry in line 2 and a column in line 6", faults)
	}
}

// FuzzCheck checks any text: each error has a position in it.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n----\n") {
			f.Add(part)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, fault := range session.Check(text, session.Options{Directory: t.TempDir()}, nil) {
			if !fault.Position.Known() || fault.Position.Offset > len(text) || fault.Message == "" {
				t.Errorf("%q: %v at %v", text, fault, fault.Position)
			}
		}
	})
}
