// Package crash kills millrace and looks at what it left: the process is run as
// users run it, killed without warning many times, and run to the end. An
// independent client then has to find each expected record once, and the tables
// right.
package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"millrace/exec/task"
	"millrace/kafkaio/embedded"
	"millrace/tests/kafka"
)

const (
	rowsPerRun = 3000
	customers  = 300
)

// work is what a process does and how it is looked at.
type work struct {
	name   string
	late   bool   // see countAt
	script string // {prefix} is that of topics, {format} one with schemas where there is a registry
	// check compares what an independent reader finds with what the rows ask for.
	check func(w *world, brokers []string)
}

var works = []work{joinsAndGroups, windowsAndFormats}

// order is one row of the input, made from its number alone.
type order struct {
	ID       int64  `json:"id"`
	Customer string `json:"customer"`
	Amount   int64  `json:"amount"`
	TS       int64  `json:"ts"`
}

func orderOf(id int64) order {
	h := uint64(id) * 0x9E3779B97F4A7C15
	return order{
		ID: id, Customer: customerName(int(h >> 40 % customers)), Amount: int64(h >> 20 % 1000),
		TS: 1_600_000_000_000 + id*250,
	}
}

func customerName(n int) string { return "customer-" + strconv.Itoa(n) }

// world is the folder of a run and what was put into it.
type world struct {
	t         *testing.T
	work      work
	folder    string
	prefix    string // of topic names
	arguments []string
	format    string // of the sink that has a schema where there is a registry
	rows      int64
	grown     int    // times
	shown     string // by the last run
	// life is within what time a process is killed, so that most are before
	// they end by themselves.
	life time.Duration
}

func newWorld(t *testing.T, of work, prefix, format string, arguments ...string) *world {
	w := &world{t: t, work: of, folder: t.TempDir(), prefix: prefix, format: format, life: firstLife}
	w.arguments = append([]string{
		"run", filepath.Join(w.folder, "orders.sql"), "--data", filepath.Join(w.folder, "data"), "--quiet",
		"--set", "commit.interval.ms=10",
	}, arguments...)
	w.write("orders.sql", strings.NewReplacer("{prefix}", prefix, "{format}", format).Replace(of.script))
	var table strings.Builder
	table.WriteString("customer,region\n")
	for n := range customers {
		fmt.Fprintf(&table, "%s,region-%d\n", customerName(n), n%7)
	}
	w.write("customers.csv", table.String())
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) add(name, text string) {
	w.t.Helper()
	file, err := os.OpenFile(filepath.Join(w.folder, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// grow adds rows to the input files: each run has something to load and to process.
func (w *world) grow() {
	w.t.Helper()
	var rows strings.Builder
	encoder := json.NewEncoder(&rows)
	for range rowsPerRun {
		if err := encoder.Encode(orderOf(w.rows)); err != nil {
			w.t.Fatal(err)
		}
		w.rows++
	}
	w.add("orders.jsonl", rows.String())
	w.growLimits()
	w.grown++
}

// checkEmbedded opens the broker that the runs left and checks.
func (w *world) checkEmbedded() {
	w.t.Helper()
	broker, err := embedded.Start(context.Background(), embedded.Options{Dir: filepath.Join(w.folder, "data", "broker")})
	if err != nil {
		w.t.Fatal(err)
	}
	defer broker.Close() //nolint:errcheck // the check is what counts
	w.work.check(w, broker.Addresses())
}

// killMany runs and kills, at random moments of the run.
func (w *world) killMany(random *rand.Rand, times int) {
	met := 0
	for range times {
		w.grow()
		if w.killSometime(random) {
			met++
		}
	}
	w.t.Logf("%d of %d kills met the process before its end", met, times)
}

// eachWork runs a test with every work on an embedded broker, and checks.
func eachWork(t *testing.T, test func(w *world)) {
	t.Parallel()
	for _, of := range works {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, of, "", "AVRO")
			test(w)
			w.finish()
			w.checkEmbedded()
		})
	}
}

func TestKillsOnTheEmbeddedBroker(t *testing.T) {
	eachWork(t, func(w *world) { w.killMany(rand.New(rand.NewPCG(1, 2)), 50) })
}

func TestKillAtEachCrashPoint(t *testing.T) {
	eachWork(t, func(w *world) {
		for i, point := range task.CrashPoints {
			w.grow()
			w.killAt(point, countAt(i, w.work.late))
		}
	})
}

// countAt is the commit that meets crash point i: by turns the first and a later
// one, with late the other way round.
func countAt(i int, late bool) int {
	if (i%2 == 0) == late {
		return 4 + 3*i
	}
	return 1
}

func TestStateFolderDeletedBetweenKills(t *testing.T) {
	eachWork(t, func(w *world) {
		random := rand.New(rand.NewPCG(3, 4))
		for range 2 {
			w.killMany(random, 2)
			if err := os.RemoveAll(filepath.Join(w.folder, "data", "state")); err != nil {
				w.t.Fatal(err)
			}
		}
	})
}

func TestKillsOnARealBroker(t *testing.T) {
	t.Parallel()
	brokers, ok := kafka.Start(t)
	if !ok {
		t.Log("no Apache Kafka is at hand; tests/kafka/start.sh fetch brings one")
		return
	}
	for at, of := range works {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			service := fmt.Sprintf("crash-%d-%d", os.Getpid(), at)
			w := newWorld(t, of, service+"-", "JSON", "--brokers", strings.Join(brokers, ","), "--service", service, "--until-end")
			w.killMany(rand.New(rand.NewPCG(5, 6)), 10)
			for i := at; i < len(task.CrashPoints); i += len(works) {
				w.grow()
				w.killAt(task.CrashPoints[i], 1+i/2%2)
			}
			w.finish()
			w.work.check(w, brokers)
		})
	}
}
