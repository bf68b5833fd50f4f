package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"millrace/tests/kafka/reader"
)

// windowsAndFormats is windows that rows themselves make, whose groups are
// changed and final, a sink whose records have a schema, calls of aggregates
// that take only some rows, and a table that keeps its topic's rows.
var windowsAndFormats = work{"windows and formats", true, windowsScript, (*world).checkWindowsAndFormats}

const windowsScript = `
CREATE STREAM orders (id BIGINT KEY, customer VARCHAR, amount INT, ts BIGINT)
  WITH (KAFKA_TOPIC='{prefix}orders', PARTITIONS=4, VALUE_FORMAT='JSON', TIMESTAMP='ts');
CREATE TABLE limits (customer VARCHAR PRIMARY KEY, most INT)
  WITH (KAFKA_TOPIC='{prefix}limits', PARTITIONS=2, VALUE_FORMAT='JSON');
CREATE SOURCE TABLE kept_limits (customer VARCHAR PRIMARY KEY, most INT)
  WITH (KAFKA_TOPIC='{prefix}limits', VALUE_FORMAT='JSON');
LOAD 'limits.csv' INTO limits;
LOAD 'orders.jsonl' INTO orders;
CREATE TABLE past_visits WITH (KAFKA_TOPIC='{prefix}past-visits') AS
  SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders
  WINDOW SESSION (1 MINUTE) GROUP BY customer EMIT FINAL;
CREATE TABLE bursts WITH (KAFKA_TOPIC='{prefix}bursts') AS
  SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders
  WINDOW SLIDING (SIZE 90 SECONDS, GRACE PERIOD 0 SECONDS) GROUP BY customer EMIT CHANGES;
CREATE TABLE past_bursts WITH (KAFKA_TOPIC='{prefix}past-bursts') AS
  SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders
  WINDOW SLIDING (SIZE 90 SECONDS) GROUP BY customer EMIT FINAL;
CREATE TABLE kinds WITH (KAFKA_TOPIC='{prefix}kinds') AS
  SELECT customer, COUNT(*) FILTER (WHERE amount >= 500) AS large, COUNT(DISTINCT amount % 7) AS sevens,
    SUM(DISTINCT amount % 10) FILTER (WHERE amount % 3 = 0) AS digits
  FROM orders GROUP BY customer;
CREATE STREAM receipts WITH (KAFKA_TOPIC='{prefix}receipts', VALUE_FORMAT='{format}') AS
  SELECT id, customer, amount FROM orders WHERE amount % 4 = 0;
SELECT customer, most FROM kept_limits;
`

const (
	burstSize    = 90_000 // ms
	limitsPerRun = 50
)

// limitOf is row n of the limits: the customers' limits change again and again.
func limitOf(n int) (customer string, most int) { return customerName(n * 7 % customers), n }

func (w *world) growLimits() {
	w.t.Helper()
	var rows strings.Builder
	if w.grown == 0 {
		rows.WriteString("customer,most\n")
	}
	for i := range limitsPerRun {
		customer, most := limitOf(w.grown*limitsPerRun + i)
		fmt.Fprintf(&rows, "%s,%d\n", customer, most)
	}
	w.add("limits.csv", rows.String())
}

// kind is a row of kinds.
type kind struct{ Large, Sevens, Digits int64 }

func (w *world) checkWindowsAndFormats(brokers []string) {
	w.t.Helper()
	ctx := context.Background()
	ordersOf := map[string][]order{}
	for id := range w.rows {
		o := orderOf(id)
		ordersOf[o.Customer] = append(ordersOf[o.Customer], o)
	}
	kinds := readAll(ctx, w.t, brokers, w.prefix+"kinds")
	w.checkKinds(kinds, ordersOf)
	// Groups are in the partition that their key is in, and have its time.
	partition, now := map[string]int32{}, map[int32]int64{}
	for _, r := range kinds {
		customer := string(r.Key)
		partition[customer] = r.Partition
		now[r.Partition] = max(now[r.Partition], ordersOf[customer][len(ordersOf[customer])-1].TS)
	}
	visits, bursts, pastBursts := map[string]total{}, map[string]total{}, map[string]total{}
	for customer, orders := range ordersOf {
		time := now[partition[customer]]
		for _, s := range sessionsOf(orders) {
			if s.end+visitGap < time {
				visits[fmt.Sprintf("%s@%d@%d", customer, s.end, s.start)] = s.total
			}
		}
		for start, of := range slidesOf(orders) {
			key := customer + "@" + strconv.FormatInt(start, 10)
			bursts[key] = of
			if start+burstSize < time {
				pastBursts[key] = of
			}
		}
	}
	compareOnce(w.t, "past_visits", readAll(ctx, w.t, brokers, w.prefix+"past-visits"), sessionKey, visits)
	compareTables(w.t, "bursts", lastValues[total](w.t, readAll(ctx, w.t, brokers, w.prefix+"bursts"), windowedKey), bursts)
	compareOnce(w.t, "past_bursts", readAll(ctx, w.t, brokers, w.prefix+"past-bursts"), windowedKey, pastBursts)
	w.checkReceipts(readAll(ctx, w.t, brokers, w.prefix+"receipts"))
	w.checkLimits()
}

// span is a session: the orders of a customer that follow each other closely.
type span struct {
	start, end int64
	total
}

// sessionsOf are the sessions of orders in the order of time.
func sessionsOf(orders []order) []span {
	var out []span
	for _, o := range orders {
		if n := len(out); n == 0 || o.TS-out[n-1].end > visitGap {
			out = append(out, span{start: o.TS})
		}
		last := &out[len(out)-1]
		last.end = o.TS
		last.N, last.Total = last.N+1, last.Total+o.Amount
	}
	return out
}

// slidesOf are the sliding windows of orders in the order of time, by their
// starts: one that ends with each order, and one behind it if that holds any.
func slidesOf(orders []order) map[int64]total {
	out := map[int64]total{}
	for i, o := range orders {
		for _, start := range []int64{o.TS - burstSize, o.TS + 1} {
			var of total
			for at := firstFrom(orders, i, start); at < len(orders) && orders[at].TS <= start+burstSize; at++ {
				of = total{of.N + 1, of.Total + orders[at].Amount}
			}
			if of.N > 0 {
				out[start] = of
			}
		}
	}
	return out
}

// firstFrom is the first order with a time of at least start, near order i.
func firstFrom(orders []order, i int, start int64) int {
	for i > 0 && orders[i-1].TS >= start {
		i--
	}
	for i < len(orders) && orders[i].TS < start {
		i++
	}
	return i
}

func (w *world) checkKinds(records []reader.Record, ordersOf map[string][]order) {
	w.t.Helper()
	want := map[string]kind{}
	for customer, orders := range ordersOf {
		var of kind
		sevens, digits := map[int64]bool{}, map[int64]bool{}
		for _, o := range orders {
			if o.Amount >= 500 {
				of.Large++
			}
			sevens[o.Amount%7] = true
			if digit := o.Amount % 10; o.Amount%3 == 0 && !digits[digit] {
				digits[digit] = true
				of.Digits += digit
			}
		}
		of.Sevens = int64(len(sevens))
		want[customer] = of
	}
	compareTables(w.t, "kinds", lastValues[kind](w.t, records, plainKey), want)
}

// receipt is a record's value of receipts.
type receipt struct {
	Customer string
	Amount   int64
}

// checkReceipts wants each order that gets one to have it once.
func (w *world) checkReceipts(records []reader.Record) {
	w.t.Helper()
	want := map[string]receipt{}
	for id := range w.rows {
		if o := orderOf(id); o.Amount%4 == 0 {
			want[strconv.FormatInt(id, 10)] = receipt{o.Customer, o.Amount}
		}
	}
	if w.format == "AVRO" {
		records = w.avroAsJSON("receipts-value", records)
	}
	compareOnce(w.t, "receipts", records, numberKey, want)
}

// checkLimits looks at what the last run showed of the table that keeps its
// topic's rows.
func (w *world) checkLimits() {
	w.t.Helper()
	want, got := map[string]int{}, map[string]int{}
	for n := range w.grown * limitsPerRun {
		customer, most := limitOf(n)
		want[customer] = most
	}
	for line := range strings.Lines(w.shown) {
		var row struct {
			Customer string
			Most     int
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			w.t.Fatalf("the last run showed %q: %v", line, err)
		}
		got[row.Customer] = row.Most
	}
	compareTables(w.t, "kept_limits", got, want)
}
