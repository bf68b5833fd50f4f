package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var quickStart = filepath.Join("..", "..", "docs", "quickstart")

// stateDay is a group of the quick start: a state and the day's start in ms.
type stateDay struct {
	state string
	day   int64
}

// delays is what the quick start's query tells of a group.
type delays struct {
	Flights int64   `json:"FLIGHTS"`
	Average float64 `json:"AVERAGE_DELAY"`
	Longest int64   `json:"LONGEST_DELAY"`
}

func TestQuickStart(t *testing.T) { runQuickStart(t) }

// runQuickStart runs the quick start with further flags and compares its final
// table with a computation of its own.
func runQuickStart(t *testing.T, flags ...string) {
	t.Helper()
	var stderr bytes.Buffer
	arguments := append([]string{"run", "--output", "json"}, flags...)
	command := exec.Command("millrace", append(arguments, filepath.Join(quickStart, "flights.sql"))...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if !strings.Contains(stderr.String(), " 23376 records in, ") || !strings.Contains(stderr.String(), " 0 late, 0 skipped, 0 row errors") {
		t.Errorf("the summary does not tell that all records came through:\n%s", stderr.String())
	}
	got, want := finalTable(t, out), expectedDelays(t)
	if len(want) < 100 {
		t.Fatalf("only %d groups are expected", len(want))
	}
	for group, w := range want {
		g, ok := got[group]
		if !ok || g.Flights != w.Flights || g.Longest != w.Longest || math.Abs(g.Average-w.Average) > 0.0501 {
			t.Errorf("%v: got %+v, want %+v", group, g, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d groups, want %d", len(got), len(want))
	}
}

// finalTable is the last value of each key of a table's changes.
func finalTable(t *testing.T, lines []byte) map[stateDay]delays {
	table := map[stateDay]delays{}
	decoder := json.NewDecoder(bytes.NewReader(lines))
	for {
		var change struct {
			Key    string
			Value  *delays
			Window struct{ Start int64 }
		}
		if err := decoder.Decode(&change); err == io.EOF {
			return table
		} else if err != nil {
			t.Fatal(err)
		}
		group := stateDay{change.Key, change.Window.Start}
		if change.Value == nil {
			delete(table, group)
		} else {
			table[group] = *change.Value
		}
	}
}

func expectedDelays(t *testing.T) map[stateDay]delays {
	states := statesOfAirports(t)
	file, err := os.Open(filepath.Join(quickStart, "flights.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table := map[stateDay]delays{}
	for decoder := json.NewDecoder(file); ; {
		var flight struct {
			Date   string
			Origin string
			Delay  int64
		}
		if err := decoder.Decode(&flight); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		day, err := time.Parse("2006/01/02", flight.Date[:10])
		if err != nil {
			t.Fatal(err)
		}
		state, known := states[flight.Origin]
		if !known {
			continue
		}
		group := stateDay{state, day.UnixMilli()}
		d, seen := table[group]
		if !seen || flight.Delay > d.Longest {
			d.Longest = flight.Delay
		}
		d.Flights++
		d.Average += float64(flight.Delay) // the sum, until it is divided below
		table[group] = d
	}
	for group, d := range table {
		d.Average /= float64(d.Flights)
		table[group] = d
		if d.Flights < 10 {
			delete(table, group)
		}
	}
	return table
}

func statesOfAirports(t *testing.T) map[string]string {
	file, err := os.Open(filepath.Join(quickStart, "airports.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, row := range rows[1:] {
		states[row[0]] = row[3]
	}
	return states
}

// TestInterrupt: a run without an end goes on until it is interrupted, and then
// ends in good order.
func TestInterrupt(t *testing.T) {
	script := filepath.Join(t.TempDir(), "endless.sql")
	statements := `CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC = 's', PARTITIONS = 1, VALUE_FORMAT = 'JSON');
CREATE STREAM t AS SELECT k, v FROM s;`
	if err := os.WriteFile(script, []byte(statements), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("millrace", "run", script)
	pipe, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var messages strings.Builder
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		messages.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "Running until interrupted") {
			if err := command.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := command.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	if !strings.HasSuffix(messages.String(), "query CSAS_T_1: 0 records in, 0 out, 0 late, 0 skipped, 0 row errors\n") {
		t.Errorf("no summary at the end:\n%s", messages.String())
	}
}
