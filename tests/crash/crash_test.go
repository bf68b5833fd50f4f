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

	"millrace/exec/task"
	"millrace/kafkaio/embedded"
	"millrace/tests/kafka"
	"millrace/tests/kafka/reader"
)

const (
	rowsPerRun = 3000
	customers  = 300
)

const script = `
CREATE STREAM orders (id BIGINT KEY, customer VARCHAR, amount INT, ts BIGINT)
  WITH (KAFKA_TOPIC='%[1]sorders', PARTITIONS=4, VALUE_FORMAT='JSON', TIMESTAMP='ts');
CREATE TABLE customers (customer VARCHAR PRIMARY KEY, region VARCHAR)
  WITH (KAFKA_TOPIC='%[1]scustomers', PARTITIONS=4, VALUE_FORMAT='JSON');
LOAD 'customers.csv' INTO customers;
LOAD 'orders.jsonl' INTO orders;
CREATE STREAM enriched WITH (KAFKA_TOPIC='%[1]senriched') AS
  SELECT o.customer AS customer, o.id, o.amount, c.region
  FROM orders o JOIN customers c ON o.customer = c.customer WHERE o.amount %% 3 <> 0;
CREATE TABLE totals WITH (KAFKA_TOPIC='%[1]stotals') AS
  SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY customer;
CREATE TABLE hourly WITH (KAFKA_TOPIC='%[1]shourly') AS
  SELECT customer, COUNT(*) AS n, MAX(amount) AS top FROM orders
  WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 0 SECONDS) GROUP BY customer;
`

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
	folder    string
	prefix    string // of topic names
	arguments []string
	rows      int64
}

func newWorld(t *testing.T, prefix string, arguments ...string) *world {
	w := &world{t: t, folder: t.TempDir(), prefix: prefix}
	w.arguments = append([]string{
		"run", filepath.Join(w.folder, "orders.sql"), "--data", filepath.Join(w.folder, "data"), "--quiet",
		"--set", "commit.interval.ms=10",
	}, arguments...)
	w.write("orders.sql", fmt.Sprintf(script, prefix))
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

// grow adds rows to the input file: each run has something to load and to process.
func (w *world) grow() {
	w.t.Helper()
	file, err := os.OpenFile(filepath.Join(w.folder, "orders.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	encoder := json.NewEncoder(file)
	for range rowsPerRun {
		if err := encoder.Encode(orderOf(w.rows)); err != nil {
			w.t.Fatal(err)
		}
		w.rows++
	}
	if err := file.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// check compares what an independent reader finds with what the rows ask for.
func (w *world) check(brokers []string) {
	w.t.Helper()
	ctx := context.Background()
	totals := map[string]total{}
	hours := map[string]hour{}
	enriched := map[int64]enrichedRow{}
	for id := range w.rows {
		o := orderOf(id)
		totals[o.Customer] = total{totals[o.Customer].N + 1, totals[o.Customer].Total + o.Amount}
		key := o.Customer + "@" + strconv.FormatInt(o.TS/3_600_000*3_600_000, 10)
		hours[key] = hour{hours[key].N + 1, max(hours[key].Top, o.Amount)}
		if o.Amount%3 != 0 {
			n, _ := strconv.Atoi(strings.TrimPrefix(o.Customer, "customer-"))
			enriched[id] = enrichedRow{id, o.Amount, fmt.Sprintf("region-%d", n%7)}
		}
	}
	w.checkEnriched(readAll(ctx, w.t, brokers, w.prefix+"enriched"), enriched)
	compareTables(w.t, "totals", lastValues[total](w.t, readAll(ctx, w.t, brokers, w.prefix+"totals"), plainKey), totals)
	compareTables(w.t, "hourly", lastValues[hour](w.t, readAll(ctx, w.t, brokers, w.prefix+"hourly"), windowedKey), hours)
}

type total struct{ N, Total int64 }

type hour struct{ N, Top int64 }

type enrichedRow struct {
	ID     int64
	Amount int64
	Region string
}

func readAll(ctx context.Context, t *testing.T, brokers []string, topic string) []reader.Record {
	t.Helper()
	records, err := reader.ReadAll(ctx, brokers, topic)
	if err != nil {
		t.Fatalf("read %s: %v", topic, err)
	}
	return records
}

// checkEnriched wants each expected record exactly once.
func (w *world) checkEnriched(records []reader.Record, want map[int64]enrichedRow) {
	w.t.Helper()
	seen := map[int64]int{}
	for _, r := range records {
		var row enrichedRow
		if err := json.Unmarshal(r.Value, &row); err != nil {
			w.t.Fatalf("enriched at offset %d: %v", r.Offset, err)
		}
		seen[row.ID]++
		if expected, ok := want[row.ID]; !ok || expected != row {
			w.t.Errorf("enriched holds %+v, want %+v", row, expected)
		}
	}
	missing, doubled := 0, 0
	for id := range want {
		switch seen[id] {
		case 1:
		case 0:
			missing++
		default:
			doubled++
		}
	}
	if missing > 0 || doubled > 0 {
		w.t.Errorf("enriched: of %d expected records %d are missing and %d are there more than once", len(want), missing, doubled)
	}
}

func plainKey(key []byte) string { return string(key) }

// windowedKey is the key with its window's start behind it, 8 bytes big-endian.
func windowedKey(key []byte) string {
	n := len(key) - 8
	start := int64(0)
	for _, b := range key[n:] {
		start = start<<8 | int64(b)
	}
	return string(key[:n]) + "@" + strconv.FormatInt(start, 10)
}

// lastValues is a table's content: the last value of each key.
func lastValues[T any](t *testing.T, records []reader.Record, key func([]byte) string) map[string]T {
	t.Helper()
	out := map[string]T{}
	for _, r := range records {
		var row T
		if err := json.Unmarshal(r.Value, &row); err != nil {
			t.Fatalf("offset %d: %v", r.Offset, err)
		}
		out[key(r.Key)] = row
	}
	return out
}

func compareTables[T comparable](t *testing.T, name string, got, want map[string]T) {
	t.Helper()
	wrong := 0
	for key, expected := range want {
		if got[key] != expected {
			if wrong++; wrong <= 3 {
				t.Errorf("%s of %s is %+v, want %+v", name, key, got[key], expected)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has %d rows, want %d", name, len(got), len(want))
	}
}

// checkEmbedded opens the broker that the runs left and checks.
func (w *world) checkEmbedded() {
	w.t.Helper()
	broker, err := embedded.Start(context.Background(), embedded.Options{Dir: filepath.Join(w.folder, "data", "broker")})
	if err != nil {
		w.t.Fatal(err)
	}
	defer broker.Close() //nolint:errcheck // the check is what counts
	w.check(broker.Addresses())
}

// killMany runs and kills, at random moments of the run.
func (w *world) killMany(random *rand.Rand, times int) {
	met := 0
	for range times {
		w.grow()
		if w.killAfter(random) {
			met++
		}
	}
	w.t.Logf("%d of %d kills met the process before its end", met, times)
}

func TestKillsOnTheEmbeddedBroker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.killMany(rand.New(rand.NewPCG(1, 2)), 50)
	w.finish()
	w.checkEmbedded()
}

func TestKillAtEachCrashPoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	for i, point := range task.CrashPoints {
		for _, count := range []int{1, 3 + i} {
			w.grow()
			w.killAt(point, count)
		}
	}
	w.finish()
	w.checkEmbedded()
}

func TestStateFolderDeletedBetweenKills(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	random := rand.New(rand.NewPCG(3, 4))
	for range 4 {
		w.killMany(random, 2)
		if err := os.RemoveAll(filepath.Join(w.folder, "data", "state")); err != nil {
			t.Fatal(err)
		}
	}
	w.finish()
	w.checkEmbedded()
}

func TestKillsOnARealBroker(t *testing.T) {
	t.Parallel()
	brokers, ok := kafka.Start(t)
	if !ok {
		t.Log("no Apache Kafka is at hand; tests/kafka/start.sh fetch brings one")
		return
	}
	prefix := fmt.Sprintf("crash-%d-", os.Getpid())
	w := newWorld(t, prefix, "--brokers", strings.Join(brokers, ","), "--service", "crash-"+strconv.Itoa(os.Getpid()), "--until-end")
	random := rand.New(rand.NewPCG(5, 6))
	w.killMany(random, 20)
	for i, point := range task.CrashPoints {
		w.grow()
		w.killAt(point, 1+i%2)
	}
	w.finish()
	w.check(brokers)
}
