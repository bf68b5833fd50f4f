package docs

import (
	"encoding/json"
	"slices"
	"testing"

	"millrace/exec/replay"
)

// difference is a row of compatibility.md that takes records to see.
type difference struct {
	name       string
	statements string
	inputs     []replay.Input
	values     []string // of the sink OUT
}

func input(topic, key, value string, timestamp int64) replay.Input {
	in := replay.Input{Topic: topic, Value: json.RawMessage(value), Timestamp: timestamp}
	if key != "" {
		in.Key = json.RawMessage(`"` + key + `"`)
	}
	return in
}

const (
	events = `CREATE STREAM events (k STRING KEY, n INT, x DOUBLE, s STRING)
		WITH (KAFKA_TOPIC = 'events', VALUE_FORMAT = 'JSON', PARTITIONS = 1);`
	things = `CREATE TABLE things (k STRING PRIMARY KEY, n INT) WITH (KAFKA_TOPIC = 'things', VALUE_FORMAT = 'JSON', PARTITIONS = 1);`
)

var differences = []difference{
	{
		name:       "a sum out of range is null until it is in range again",
		statements: events + `CREATE TABLE out AS SELECT k, SUM(n) AS r FROM events GROUP BY k;`,
		inputs: []replay.Input{
			input("events", "a", `{"N": 2147483647}`, 0), input("events", "a", `{"N": 1}`, 0), input("events", "a", `{"N": -1}`, 0),
		},
		values: []string{"2147483647", "null", "2147483647"},
	},
	{
		name: "EMIT FINAL writes all windows that a jump of time closes",
		statements: events + `CREATE TABLE out AS SELECT k, COUNT(*) AS r FROM events
			WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY k EMIT FINAL;`,
		inputs: []replay.Input{
			input("events", "a", `{}`, 0), input("events", "a", `{}`, 10), input("events", "a", `{}`, 1_000_000_000_000),
		},
		values: []string{"2"},
	},
	{
		name: "window bounds over a join",
		statements: events + things + `CREATE TABLE out AS SELECT events.k, WINDOWSTART AS r, COUNT(*) AS c FROM events
			JOIN things ON events.k = things.k WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY events.k;`,
		inputs: []replay.Input{input("things", "a", `{"N": 1}`, 0), input("events", "a", `{}`, 5000)},
		values: []string{"5000"},
	},
	{
		name:       "no tombstone for a row that was never there",
		statements: things + `CREATE TABLE out AS SELECT k, n AS r FROM things;`,
		inputs: []replay.Input{
			input("things", "a", "null", 0), input("things", "a", `{"N": 1}`, 0), input("things", "a", "null", 0), input("things", "a", "null", 0),
		},
		values: []string{"1", "null"},
	},
	{
		name:       "an extreme over a table",
		statements: things + `CREATE TABLE out AS SELECT n % 2 AS g, MAX(n) AS r FROM things GROUP BY n % 2;`,
		inputs: []replay.Input{
			input("things", "a", `{"N": 3}`, 0), input("things", "b", `{"N": 5}`, 0), input("things", "b", "null", 0),
		},
		values: []string{"3", "5", "3"},
	},
	{
		name: "names that begin with a digit",
		statements: `CREATE STREAM 2nd (k STRING KEY, 1st INT) WITH (KAFKA_TOPIC = 'second', VALUE_FORMAT = 'JSON', PARTITIONS = 1);
			CREATE STREAM out AS SELECT k, 1st AS r FROM 2nd;`,
		inputs: []replay.Input{input("second", "a", `{"1ST": 7}`, 0)},
		values: []string{"7"},
	},
	{
		name: "a DELIMITED payload of several lines",
		statements: `CREATE STREAM lines (k STRING KEY, a STRING) WITH (KAFKA_TOPIC = 'lines', VALUE_FORMAT = 'DELIMITED', PARTITIONS = 1);
			CREATE STREAM out WITH (VALUE_FORMAT = 'JSON') AS SELECT k, a AS r FROM lines;`,
		inputs: []replay.Input{
			input("lines", "a", `"x\ny"`, 0), input("lines", "a", `"\"x\ny\""`, 0), input("lines", "a", `"z"`, 0),
		},
		values: []string{"'x\ny'", "'z'"},
	},
	{
		name:       "a number beyond DOUBLE",
		statements: events + `CREATE STREAM out AS SELECT k, x AS r FROM events;`,
		inputs:     []replay.Input{input("events", "a", `{"X": 1e400}`, 0), input("events", "a", `{"X": 1e300}`, 0)},
		values:     []string{"1.0E300"},
	},
	{
		name:       "a lone surrogate",
		statements: events + `CREATE STREAM out AS SELECT k, s AS r FROM events;`,
		inputs:     []replay.Input{input("events", "a", `{"S": "a\ud800b"}`, 0)},
		values:     []string{"'a\uFFFDb'"},
	},
}

func TestDifferences(t *testing.T) {
	for _, d := range differences {
		t.Run(d.name, func(t *testing.T) {
			w := newWorkbench(t, d.statements)
			w.run(d.inputs)
			if got := w.values["OUT"]; !slices.Equal(got, d.values) {
				t.Errorf("%q, not %q", got, d.values)
			}
		})
	}
}
