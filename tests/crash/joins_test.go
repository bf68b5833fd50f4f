package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"millrace/tests/kafka/reader"
)

// joinsAndGroups is a join, and groups with and without windows.
var joinsAndGroups = work{"joins and groups", false, joinsScript, (*world).checkJoinsAndGroups}

const joinsScript = `
CREATE STREAM orders (id BIGINT KEY, customer VARCHAR, amount INT, ts BIGINT)
  WITH (KAFKA_TOPIC='{prefix}orders', PARTITIONS=4, VALUE_FORMAT='JSON', TIMESTAMP='ts');
CREATE TABLE customers (customer VARCHAR PRIMARY KEY, region VARCHAR)
  WITH (KAFKA_TOPIC='{prefix}customers', PARTITIONS=4, VALUE_FORMAT='JSON');
LOAD 'customers.csv' INTO customers;
LOAD 'orders.jsonl' INTO orders;
CREATE STREAM enriched WITH (KAFKA_TOPIC='{prefix}enriched') AS
  SELECT o.customer AS customer, o.id, o.amount, c.region
  FROM orders o JOIN customers c ON o.customer = c.customer WHERE o.amount % 3 <> 0;
CREATE TABLE totals WITH (KAFKA_TOPIC='{prefix}totals') AS
  SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY customer;
CREATE TABLE hourly WITH (KAFKA_TOPIC='{prefix}hourly') AS
  SELECT customer, COUNT(*) AS n, MAX(amount) AS top FROM orders
  WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 0 SECONDS) GROUP BY customer;
CREATE TABLE visits WITH (KAFKA_TOPIC='{prefix}visits') AS
  SELECT customer, COUNT(*) AS n, MAX(amount) AS top FROM orders
  WINDOW SESSION (1 MINUTE, GRACE PERIOD 0 SECONDS) GROUP BY customer;
`

// visitGap is the gap of visits, ms.
const visitGap = 60_000

func (w *world) checkJoinsAndGroups(brokers []string) {
	w.t.Helper()
	ctx := context.Background()
	totals := map[string]total{}
	hours := map[string]hour{}
	enriched := map[int64]enrichedRow{}
	visits := map[string]visit{} // the last of each customer
	var ended []visit
	for id := range w.rows {
		o := orderOf(id)
		totals[o.Customer] = total{totals[o.Customer].N + 1, totals[o.Customer].Total + o.Amount}
		key := o.Customer + "@" + strconv.FormatInt(o.TS/3_600_000*3_600_000, 10)
		hours[key] = hour{hours[key].N + 1, max(hours[key].Top, o.Amount)}
		last, visited := visits[o.Customer]
		if visited && o.TS-last.end > visitGap {
			ended, visited = append(ended, last), false
		}
		if !visited {
			last = visit{customer: o.Customer, start: o.TS}
		}
		last.end, last.N, last.Top = o.TS, last.N+1, max(last.Top, o.Amount)
		visits[o.Customer] = last
		if o.Amount%3 != 0 {
			n, _ := strconv.Atoi(strings.TrimPrefix(o.Customer, "customer-"))
			enriched[id] = enrichedRow{id, o.Amount, fmt.Sprintf("region-%d", n%7)}
		}
	}
	w.checkEnriched(readAll(ctx, w.t, brokers, w.prefix+"enriched"), enriched)
	compareTables(w.t, "totals", lastValues[total](w.t, readAll(ctx, w.t, brokers, w.prefix+"totals"), plainKey), totals)
	compareTables(w.t, "hourly", lastValues[hour](w.t, readAll(ctx, w.t, brokers, w.prefix+"hourly"), windowedKey), hours)
	sessions := map[string]hour{}
	for _, v := range slices.AppendSeq(ended, maps.Values(visits)) {
		sessions[fmt.Sprintf("%s@%d@%d", v.customer, v.end, v.start)] = v.hour
	}
	compareTables(w.t, "visits", lastValues[hour](w.t, readAll(ctx, w.t, brokers, w.prefix+"visits"), sessionKey), sessions)
}

type total struct{ N, Total int64 }

type hour struct{ N, Top int64 }

// visit is a session.
type visit struct {
	customer   string
	start, end int64
	hour
}

type enrichedRow struct {
	ID     int64
	Amount int64
	Region string
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
