package docs

import (
	"strings"
	"testing"

	"millrace/exec/session"
	"millrace/sql/types"
)

const unsupportedSources = `
CREATE STREAM s (k STRING KEY, g STRING, n INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON', PARTITIONS = 1);
CREATE STREAM r (k STRING KEY, g STRING, n INT) WITH (KAFKA_TOPIC = 'r', VALUE_FORMAT = 'JSON', PARTITIONS = 1);
CREATE TABLE t (k STRING PRIMARY KEY, g STRING, n INT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'JSON', PARTITIONS = 1);
CREATE TABLE u (k STRING PRIMARY KEY, g STRING, n INT) WITH (KAFKA_TOPIC = 'u', VALUE_FORMAT = 'JSON', PARTITIONS = 1);
CREATE STREAM windowed (k STRING KEY, n INT)
  WITH (KAFKA_TOPIC = 'w', VALUE_FORMAT = 'JSON', PARTITIONS = 1, WINDOW_TYPE = 'TUMBLING', WINDOW_SIZE = '1 MINUTE');
CREATE STREAM copy AS SELECT k, n FROM s;
CREATE TABLE counted AS SELECT k, COUNT(*) AS c FROM s GROUP BY k;
`

// TestUnsupported tries constructs of the dialect that were not executed at
// some time, and holds the list of compatibility.md to those that are refused
// now. A construct that the parser does not know, or that is refused for
// another reason, is a mistake in testdata.
func TestUnsupported(t *testing.T) {
	var list strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(readFile(t, "testdata/unsupported.txt")), "\n") {
		what, statement, ok := strings.Cut(line, " = ")
		if !ok {
			t.Errorf("no line of the form WHAT = STATEMENT: %s", line)
			continue
		}
		for _, err := range session.Check(unsupportedSources+statement, session.Options{Service: "docs", Directory: t.TempDir()}, nil) {
			if err.Code != types.CodeUnsupported {
				t.Errorf("%s: %v", statement, err)
				continue
			}
			list.WriteString("- " + what + ": " + err.Message + "\n")
		}
	}
	path := documents + "/compatibility.md"
	document := readFile(t, path)
	settle(t, path, document, section(t, document, "unsupported", list.String()))
}
