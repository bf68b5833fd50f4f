package format

import (
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"
)

// wideFields are orders with an amount, lines and tags as well.
var wideFields = append(append([]Field{}, orderFields...),
	Field{"PRICE", types.DecimalOf(10, 2)},
	Field{"PLACED", types.Timestamp},
	Field{"TAGS", types.ArrayOf(types.String)},
	Field{"COUNTS", types.ArrayOf(types.Integer)},
	Field{"LINES", types.ArrayOf(types.StructOf(types.Field{Name: "SKU", Type: types.String}, types.Field{Name: "N", Type: types.Integer}))},
	Field{"ATTRIBUTES", types.MapOf(types.String, types.Double)},
)

// protobufOrders are the orders of the JSON benchmarks as Protobuf.
func protobufOrders(tb testing.TB, fields []Field) (Spec, []*column.Vector, [][]byte) {
	spec := Spec{Name: "PROTOBUF", SchemaID: 1}
	f := protobufFormat{registered: true}
	schema, err := f.Derive(spec, false, fields)
	if err != nil {
		tb.Fatal(err)
	}
	spec.Schemas = schemaTable{1: schema}
	rows := vectorsOf(fields, nil, benchmarkRows)
	payloads := orders()
	if len(fields) > len(orderFields) {
		for i, payload := range payloads {
			payloads[i] = append(payload[:len(payload)-1:len(payload)-1], `,"PRICE":19.99,"PLACED":1700000000123,"TAGS":["a","new","sale"],`+
				`"COUNTS":[1,200,30000],"LINES":[{"SKU":"A-1","N":3},{"SKU":"B-22","N":1}],"ATTRIBUTES":{"weight":1.5,"height":20}}`...)
		}
	}
	jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, fields, nil).
		Decode(payloads, allRows(benchmarkRows), rows, &column.Arena{}, func(_ int32, err error) { tb.Fatal(err) })
	encoder := f.NewEncoder(spec, fields)
	encoded := make([][]byte, benchmarkRows)
	for i := range encoded {
		if encoded[i], _, err = encoder.Append(nil, rows, i); err != nil {
			tb.Fatal(err)
		}
	}
	return spec, rows, encoded
}

// protobufDecoding decodes one batch a call, as a task does.
func protobufDecoding(tb testing.TB, fields []Field, wanted []bool) func() {
	spec, _, payloads := protobufOrders(tb, fields)
	decoder := protobufFormat{registered: true}.NewDecoder(spec, fields, wanted)
	out, rows, arena := vectorsOf(fields, wanted, benchmarkRows), allRows(benchmarkRows), &column.Arena{}
	bad := func(_ int32, err error) { tb.Fatal(err) }
	return func() {
		for _, v := range out {
			if v != nil {
				v.Reset(benchmarkRows)
			}
		}
		arena.Reset()
		decoder.Decode(payloads, rows, out, arena, bad)
	}
}

func protobufEncoding(tb testing.TB, fields []Field) func() {
	spec, rows, _ := protobufOrders(tb, fields)
	encoder := protobufFormat{registered: true}.NewEncoder(spec, fields)
	var buf []byte
	return func() {
		buf = buf[:0]
		for i := range benchmarkRows {
			var err error
			if buf, _, err = encoder.Append(buf, rows, i); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

func benchmarkBatches(b *testing.B, batch func()) {
	b.ReportAllocs()
	for b.Loop() {
		batch()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkRows, "ns/row")
}

func BenchmarkProtobufDecode3Of8(b *testing.B) {
	benchmarkBatches(b, protobufDecoding(b, orderFields, []bool{true, false, true, true, false, false, false, false}))
}

func BenchmarkProtobufDecode8Of8(b *testing.B) {
	benchmarkBatches(b, protobufDecoding(b, orderFields, nil))
}

func BenchmarkProtobufDecode14(b *testing.B) {
	benchmarkBatches(b, protobufDecoding(b, wideFields, nil))
}

func BenchmarkProtobufEncode8(b *testing.B) { benchmarkBatches(b, protobufEncoding(b, orderFields)) }

func BenchmarkProtobufEncode14(b *testing.B) { benchmarkBatches(b, protobufEncoding(b, wideFields)) }

// TestProtobufAllocatesNothing holds that a batch takes no memory once its
// buffers have grown.
func TestProtobufAllocatesNothing(t *testing.T) {
	for name, batch := range map[string]func(){
		"decode": protobufDecoding(t, wideFields, nil),
		"encode": protobufEncoding(t, wideFields),
	} {
		if n := testing.AllocsPerRun(10, batch); n > 0 {
			t.Errorf("%s: %v allocations for %d rows", name, n, benchmarkRows)
		}
	}
}
