package parser

import (
	"sync"
	"testing"
)

const joinStatement = `CREATE TABLE out WITH (kafka_topic='o', partitions=4) AS
SELECT d.region, r->type AS t, COUNT(*) AS n, SUM(CAST(fare AS DOUBLE) * 1.5) AS s
FROM rides r LEFT JOIN drivers d ON r.driver = d.id
WINDOW TUMBLING (SIZE 30 SECONDS, GRACE PERIOD 10 SECONDS)
WHERE d.level > 3 AND r.city LIKE 'a%' GROUP BY d.region, r->type HAVING COUNT(*) > 10 EMIT CHANGES;`

// TestParsersInAPool runs parsers side by side and reads the trees of one from
// several goroutines, for the race detector.
func TestParsersInAPool(t *testing.T) {
	pool := sync.Pool{New: func() any { return New() }}
	first, err := New().parseScript(joinStatement, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := printStatement(first[0])
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				parser := pool.Get().(*Parser)
				statements, err := parser.parseScript(joinStatement, map[string]string{"a": "b"})
				pool.Put(parser)
				if err != nil || printStatement(statements[0]) != want || printStatement(first[0]) != want {
					t.Error("another tree", err)
					return
				}
			}
		})
	}
	group.Wait()
}

// TestParserIsReusable parses after failures of every stage.
func TestParserIsReusable(t *testing.T) {
	parser := New()
	first, err := parser.parseScript(joinStatement, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := printStatement(first[0])
	for _, faulty := range []string{"SELECT 'a", "SELECT (a", "SELECT a FROM s WHERE (", "SELECT ${a}", "SELECT 1e999", "SHOW"} {
		if _, err := parser.parseScript(faulty, nil); err == nil {
			t.Errorf("%s: no error", faulty)
		}
		again, err := parser.parseScript(joinStatement, nil)
		if err != nil || printStatement(again[0]) != want {
			t.Errorf("after %s: %v", faulty, err)
		}
	}
	if printStatement(first[0]) != want {
		t.Error("a tree changed when the parser went on")
	}
}
