// Package cluster measures queries end to end: orders lie in topics of a
// cluster, an engine in a process of its own reads them exactly once, and what
// it wrote is read back and checked.
package cluster

import (
	"fmt"
	"slices"
)

// Partitions is how many partitions the topics have.
const Partitions = 4

const customersTopic = "bench_customers"

// The numbers of customers; each has a topic of orders.
const (
	manyCustomers = 100_000
	fewCustomers  = 1000
)

// Work is a query over the orders in a cluster. Its sink is named like it.
type Work struct {
	Name  string
	About string
	// Customers is how many customers the orders are of.
	Customers int
	// HoldBack lets aggregations put out a group once per commit.
	HoldBack bool
	// Peers is the records a CPU second of Kafka Streams and of Flink SQL.
	Peers  [2]float64
	Target float64 // records a CPU second

	query     string // with %s for the name of the sink and its topic
	customers bool
	kind      kind
}

type kind int

const (
	filtered kind = iota
	joined
	updates // each group's last row counts
	final   // each group has one row, and the last windows stay open
)

const tumbling = "COUNT(*) AS N, SUM(AMOUNT) AS TOTAL, MAX(AMOUNT) AS HIGH FROM ORDERS WINDOW TUMBLING (SIZE 1 MINUTE%s) GROUP BY CUSTOMER_ID%s;"

func tumble(name, about string, customers int, peers [2]float64, target float64, kind kind, holdBack bool) Work {
	grace, emit := "", ""
	if kind == final {
		grace, emit = ", GRACE PERIOD 10 SECONDS", " EMIT FINAL"
	}
	return Work{
		Name: name, About: about, Customers: customers, HoldBack: holdBack, Peers: peers, Target: target, kind: kind,
		query: "CREATE TABLE %[1]s WITH (KAFKA_TOPIC='%[1]s') AS SELECT CUSTOMER_ID, " + fmt.Sprintf(tumbling, grace, emit),
	}
}

// Works are all works. The peers' figures were measured on a quiet machine of
// the class that docs/performance.md names.
func Works() []Work {
	return []Work{
		{
			Name: "W1", About: "keep 60 %, project 4 columns", Customers: manyCustomers, Peers: [2]float64{157e3, 154e3}, Target: 785e3, kind: filtered,
			query: "CREATE STREAM %[1]s WITH (KAFKA_TOPIC='%[1]s') AS SELECT CUSTOMER_ID, ORDER_ID, AMOUNT, REGION, STATUS FROM ORDERS WHERE AMOUNT >= 100E0;",
		},
		{
			Name: "W2", About: "join with 100,000 customers, project 5 columns", Customers: manyCustomers, Peers: [2]float64{78e3, 57e3}, Target: 390e3,
			kind: joined, customers: true,
			query: "CREATE STREAM %[1]s WITH (KAFKA_TOPIC='%[1]s') AS SELECT O.CUSTOMER_ID AS CUSTOMER_ID, O.ORDER_ID AS ORDER_ID, O.AMOUNT AS AMOUNT, " +
				"O.REGION AS REGION, C.NAME AS NAME, C.TIER AS TIER FROM ORDERS O JOIN CUSTOMERS C ON O.CUSTOMER_ID = C.ID;",
		},
		tumble("W3_1K_FINAL", "1,000 keys, final rows only", fewCustomers, [2]float64{128e3, 201e3}, 1e6, final, true),
		tumble("W3_1K_COMMIT", "1,000 keys, a row per commit", fewCustomers, [2]float64{128e3, 201e3}, 1e6, updates, true),
		tumble("W3_1K_EVERY", "1,000 keys, every update", fewCustomers, [2]float64{128e3, 201e3}, 640e3, updates, false),
		tumble("W3_100K_FINAL", "100,000 keys, final rows only", manyCustomers, [2]float64{33e3, 82e3}, 410e3, final, true),
		tumble("W3_100K_COMMIT", "100,000 keys, a row per commit", manyCustomers, [2]float64{33e3, 82e3}, 410e3, updates, true),
		tumble("W3_100K_EVERY", "100,000 keys, every update", manyCustomers, [2]float64{33e3, 82e3}, 165e3, updates, false),
	}
}

// Find gives a work by its name.
func Find(name string) (Work, bool) {
	works := Works()
	at := slices.IndexFunc(works, func(w Work) bool { return w.Name == name })
	if at < 0 {
		return Work{}, false
	}
	return works[at], true
}

// topic is that of the n orders which the work reads.
func (w Work) topic(n int) string { return fmt.Sprintf("bench_orders_%d_of_%d", n, w.Customers) }

// script is the statements that start the work's query for a run over n orders.
func (w Work) script(run string, n int) string {
	script := "CREATE STREAM ORDERS (CUSTOMER_ID STRING KEY, ORDER_ID BIGINT, REGION STRING, AMOUNT DOUBLE, CURRENCY STRING, STATUS STRING, " +
		"CREATED_AT STRING, NOTE STRING) WITH (KAFKA_TOPIC='" + w.topic(n) + "', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON');\n"
	if w.customers {
		script += "CREATE TABLE CUSTOMERS (ID STRING PRIMARY KEY, NAME STRING, TIER STRING) WITH (KAFKA_TOPIC='" + customersTopic +
			"', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON');\n"
	}
	return script + fmt.Sprintf(w.query, w.sink(run))
}

// sink is the topic that a run of the work writes.
func (w Work) sink(run string) string { return w.Name + "_" + run }

// firstTime is the time of the first order, ms.
const firstTime = 1_700_000_000_000

// timeOf is the time of order i of n: ten follow in each ms, so that a window of
// a minute holds 600,000, and few orders are spread over 100 s.
func timeOf(i, n int) int64 {
	if n < 1_000_000 {
		return firstTime + int64(i)*100_000/int64(n)
	}
	return firstTime + int64(i/10)
}

// produceBatch is how many records a transaction of the loader holds.
const produceBatch = 100_000
