package bench

import (
	"fmt"
	"strings"
)

const ordersColumns = "ORDER_ID BIGINT, CUSTOMER_ID STRING, REGION STRING, AMOUNT DOUBLE, CURRENCY STRING, STATUS STRING, " +
	"CREATED_AT STRING, NOTE STRING"

const customersTable = "CREATE TABLE CUSTOMERS (ID STRING PRIMARY KEY, NAME STRING, TIER STRING) " +
	"WITH (KAFKA_TOPIC='customers', PARTITIONS=%d, KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON');\n"

// Work is a query with the topics that it reads.
type Work struct {
	Name       string
	Statements string
	Customers  int  // of the orders
	Table      bool // it reads the table of customers too
	// HoldBack lets aggregations put out a group once per commit.
	HoldBack bool
}

// Filter keeps a share of the orders, in percent, and projects 5 columns.
func Filter(percent int) Work {
	return Work{
		Name:      fmt.Sprintf("filter/pass=%d", percent),
		Customers: 100_000,
		Statements: "CREATE STREAM ORDERS (" + ordersColumns + ") WITH (KAFKA_TOPIC='orders', PARTITIONS=1, VALUE_FORMAT='JSON');\n" +
			"CREATE STREAM KEPT WITH (KAFKA_TOPIC='kept') AS SELECT ORDER_ID AS ID, AMOUNT * 1.2E0 AS AMT, REGION, STATUS, CUSTOMER_ID AS CUST " +
			fmt.Sprintf("FROM ORDERS WHERE AMOUNT >= %dE0;", MaxAmount*(100-percent)/100),
	}
}

// keyedOrders declares the orders by customer. The member customer_id of their
// values is not read: the key has it.
func keyedOrders(partitions int) string {
	return fmt.Sprintf("CREATE STREAM ORDERS (CUSTOMER_ID STRING KEY, ORDER_ID BIGINT, REGION STRING, AMOUNT DOUBLE, CURRENCY STRING, "+
		"STATUS STRING, CREATED_AT STRING, NOTE STRING) "+
		"WITH (KAFKA_TOPIC='orders', PARTITIONS=%d, KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON');\n", partitions)
}

// Join looks each order's customer up in a table of 100,000 and puts out 5 columns.
func Join() Work {
	return Work{
		Name: "join", Customers: 100_000, Table: true,
		Statements: keyedOrders(1) + fmt.Sprintf(customersTable, 1) +
			"CREATE STREAM NAMED WITH (KAFKA_TOPIC='named') AS SELECT O.CUSTOMER_ID AS CUST, O.ORDER_ID AS ID, O.AMOUNT AS AMT, C.NAME AS NAME, C.TIER AS TIER " +
			"FROM ORDERS O JOIN CUSTOMERS C ON O.CUSTOMER_ID = C.ID;",
	}
}

// Tumble counts, sums and takes the extremes of the orders of each customer in
// windows of a minute.
func Tumble(customers int, holdBack bool) Work {
	mode := "record"
	if holdBack {
		mode = "commit"
	}
	return Work{
		Name:      fmt.Sprintf("tumble/keys=%d/output=%s", customers, mode),
		Customers: customers, HoldBack: holdBack,
		Statements: keyedOrders(1) +
			"CREATE TABLE TOTALS WITH (KAFKA_TOPIC='totals') AS SELECT CUSTOMER_ID, COUNT(*) AS N, SUM(AMOUNT) AS TOTAL, MIN(AMOUNT) AS LOW, MAX(AMOUNT) AS HIGH " +
			"FROM ORDERS WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY CUSTOMER_ID;",
	}
}

// Slide does the same in sliding windows that hold about 10 orders of a customer:
// each order changes about as many, and makes two.
func Slide(customers int, holdBack bool) Work {
	w := Tumble(customers, holdBack)
	w.Name = strings.Replace(w.Name, "tumble", "slide", 1)
	size := 10 * customers / runRecords
	w.Statements = strings.Replace(w.Statements, "TUMBLING (SIZE 1 MINUTE)",
		fmt.Sprintf("SLIDING (SIZE %d MILLISECONDS, GRACE PERIOD %d MILLISECONDS)", size, size), 1)
	return w
}

// Visit does the same in sessions. The orders of one of 1000 customers are a
// millisecond apart, so that his session grows with each; of 100,000 customers
// three of four orders begin one.
func Visit(customers int, holdBack bool) Work {
	w := Tumble(customers, holdBack)
	w.Name = strings.Replace(w.Name, "tumble", "session", 1)
	w.Statements = strings.Replace(w.Statements, "TUMBLING (SIZE 1 MINUTE)", "SESSION (30 MILLISECONDS, GRACE PERIOD 1 SECOND)", 1)
	return w
}

// Works are all that are measured in the process.
func Works() []Work {
	return []Work{
		Filter(10), Filter(60), Filter(100), Join(),
		Tumble(1000, true), Tumble(1000, false), Tumble(100_000, true), Tumble(100_000, false),
		Slide(1000, true), Slide(1000, false), Slide(100_000, true),
		Visit(1000, true), Visit(1000, false), Visit(100_000, true), Visit(100_000, false),
	}
}
