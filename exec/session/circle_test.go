package session_test

import (
	"fmt"
	"strings"
	"testing"

	"millrace/exec/session"
)

// Two queries lead from each stream to the next, so that there are more ways
// from the first to the last than can be tried one by one.
func TestManyWaysWithoutACircle(t *testing.T) {
	const streams = 60
	var script strings.Builder
	for i := range streams {
		fmt.Fprintf(&script, "CREATE STREAM s%d (a INT) WITH (KAFKA_TOPIC='s%d', PARTITIONS=1, VALUE_FORMAT='JSON');\n", i, i)
	}
	for i := range streams - 1 {
		for range 2 {
			fmt.Fprintf(&script, "INSERT INTO s%d SELECT * FROM s%d;\n", i+1, i)
		}
	}
	script.WriteString("CREATE STREAM aside (a INT) WITH (KAFKA_TOPIC='aside', PARTITIONS=1, VALUE_FORMAT='JSON');\n")
	script.WriteString("INSERT INTO s0 SELECT * FROM aside;\n")
	if found := session.Check(script.String(), session.Options{Service: "test"}, nil); len(found) != 0 {
		t.Fatal(found)
	}
	fmt.Fprintf(&script, "INSERT INTO s0 SELECT * FROM s%d;\n", streams-1)
	found := session.Check(script.String(), session.Options{Service: "test"}, nil)
	if len(found) != 1 || !strings.Contains(found[0].Error(), "round without end") {
		t.Error(found)
	}
}
