package format

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"
)

const benchmarkRows = 1000

// orders are records of about 200 bytes: one BIGINT, one DOUBLE, six texts.
func orders() [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	regions := []string{"EU", "US", "APAC", "LATAM", "MEA"}
	statuses := []string{"created", "paid", "shipped", "delivered", "returned"}
	payloads := make([][]byte, benchmarkRows)
	for i := range payloads {
		payloads[i] = fmt.Appendf(nil, `{"order_id":%d,"customer_id":"C%08d","region":"%s","amount":%.2f,"currency":"EUR",`+
			`"status":"%s","created_at":"2026-05-%02dT%02d:%02d:%02d.%03dZ","note":"gift wrap please, leave at door %d"}`,
			100000000+i*7, random.IntN(100000), regions[random.IntN(5)], random.Float64()*250, statuses[random.IntN(5)],
			1+random.IntN(28), random.IntN(24), random.IntN(60), random.IntN(60), random.IntN(1000), random.IntN(1000))
	}
	return payloads
}

var orderFields = []Field{
	{"ORDER_ID", types.Bigint},
	{"CUSTOMER_ID", types.String},
	{"REGION", types.String},
	{"AMOUNT", types.Double},
	{"CURRENCY", types.String},
	{"STATUS", types.String},
	{"CREATED_AT", types.String},
	{"NOTE", types.String},
}

// vectorsOf makes a vector a field that is wanted.
func vectorsOf(fields []Field, wanted []bool, rows int) []*column.Vector {
	out := make([]*column.Vector, len(fields))
	for i, field := range fields {
		if wanted == nil || wanted[i] {
			out[i] = column.New(field.Type, rows)
		}
	}
	return out
}

func allRows(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

func benchmarkDecode(b *testing.B, wanted []bool) {
	payloads, rows, arena := orders(), allRows(benchmarkRows), &column.Arena{}
	decoder := jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, orderFields, wanted)
	out := vectorsOf(orderFields, wanted, benchmarkRows)
	size := 0
	for _, payload := range payloads {
		size += len(payload)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, v := range out {
			if v != nil {
				v.Reset(benchmarkRows)
			}
		}
		arena.Reset()
		decoder.Decode(payloads, rows, out, arena, func(_ int32, err error) { b.Fatal(err) })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkRows, "ns/row")
}

func BenchmarkJSONDecode3Of8(b *testing.B) {
	benchmarkDecode(b, []bool{true, false, true, true, false, false, false, false})
}

func BenchmarkJSONDecode8Of8(b *testing.B) { benchmarkDecode(b, nil) }

func BenchmarkJSONEncode8(b *testing.B) {
	payloads, rows := orders(), allRows(benchmarkRows)
	out := vectorsOf(orderFields, nil, benchmarkRows)
	jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, orderFields, nil).
		Decode(payloads, rows, out, &column.Arena{}, func(_ int32, err error) { b.Fatal(err) })
	encoder := jsonFormat{}.NewEncoder(Spec{Name: "JSON"}, orderFields)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for i := range benchmarkRows {
			buf, _, _ = encoder.Append(buf, out, i)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkRows, "ns/row")
}
