package bench

import (
	"encoding/json"
	"time"
)

// QuietYardstick is what Yardstick gives on the machine class of
// docs/performance.md while nothing else runs on it, in ns.
const QuietYardstick = 1272

// yardstickOrder is the part of an order that the yardstick decodes.
type yardstickOrder struct {
	OrderID int64   `json:"order_id"`
	Region  string  `json:"region"`
	Amount  float64 `json:"amount"`
}

const yardstickRows = 20_000

// Yardstick is the CPU time in ns that encoding/json takes for an order. Busy
// neighbours make all CPU times longer, this one about as much as the others.
func Yardstick() (float64, error) {
	orders := NewOrders(1000)
	rows := make([][]byte, 1000)
	for i := range rows {
		rows[i] = orders.Next(nil).JSON
	}
	begin := CPUTime()
	for i := range yardstickRows {
		var order yardstickOrder
		if err := json.Unmarshal(rows[i%len(rows)], &order); err != nil {
			return 0, err
		}
	}
	return float64(CPUTime()-begin) / float64(time.Nanosecond) / yardstickRows, nil
}
