// Package bench measures the engine: in the process without a broker, so that
// the figures are those of decoding, operators, state and encoding alone, and
// in tests/bench/cluster end to end through a broker.
package bench

import (
	"fmt"
	"math/rand/v2"
)

var (
	regions  = []string{"EU", "US", "APAC", "LATAM", "MEA"}
	statuses = []string{"created", "paid", "shipped", "delivered", "returned"}
	tiers    = []string{"gold", "silver", "bronze"}
)

// MaxAmount is what amounts of orders stay below; they are spread evenly.
const MaxAmount = 250

// Orders makes orders as JSON of about 200 bytes with 8 fields: a whole number,
// a double and 6 texts. The same seed gives the same orders.
type Orders struct {
	customers int
	random    *rand.Rand
	number    int
}

// NewOrders makes orders of a number of customers, all equally busy.
func NewOrders(customers int) *Orders {
	return &Orders{customers: customers, random: rand.New(rand.NewPCG(1, 2))}
}

// Order is one order and what of it a check needs.
type Order struct {
	Customer string
	Cents    int // the amount
	JSON     []byte
}

// Next appends the next order to buf. Its JSON is valid as long as buf's memory.
func (o *Orders) Next(buf []byte) Order {
	r := o.random
	customer := CustomerID(r.IntN(o.customers))
	cents := r.IntN(MaxAmount * 100)
	number := 100_000_000 + o.number*7
	o.number++
	json := fmt.Appendf(buf, `{"order_id":%d,"customer_id":"%s","region":"%s","amount":%d.%02d,"currency":"EUR","status":"%s",`+
		`"created_at":"2026-05-%02dT%02d:%02d:%02d.%03dZ","note":"gift wrap please, leave at door %d"}`,
		number, customer, regions[r.IntN(len(regions))], cents/100, cents%100, statuses[r.IntN(len(statuses))],
		1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000), r.IntN(1000))
	return Order{Customer: customer, Cents: cents, JSON: json[len(buf):]}
}

// CustomerID is the key of a customer.
func CustomerID(number int) string { return fmt.Sprintf("C%08d", number) }

// Customer is a customer's row as JSON.
func Customer(number int) []byte {
	return fmt.Appendf(nil, `{"name":"Customer Name %d","tier":"%s"}`, number, tiers[number%len(tiers)])
}
