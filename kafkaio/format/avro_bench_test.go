package format

import (
	"testing"

	"millrace/exec/column"
)

// avroOrders are the records of orders in Avro, with the schema that their
// columns give.
func avroOrders(t testing.TB) (Spec, [][]byte) {
	spec := derivedAvro(t, orderFields, false)
	transcoder, err := avroFormat{}.NewTranscoder(spec, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	payloads := orders()
	for i, text := range payloads {
		if payloads[i], err = transcoder.FromJSON(nil, text); err != nil {
			t.Fatal(err)
		}
	}
	return spec, payloads
}

// decodeAvroOrders is a function that decodes all records.
func decodeAvroOrders(t testing.TB, wanted []bool) (decode func(), out []*column.Vector, size int) {
	spec, payloads := avroOrders(t)
	rows, arena := allRows(benchmarkRows), &column.Arena{}
	decoder := avroFormat{}.NewDecoder(spec, orderFields, wanted)
	out = vectorsOf(orderFields, wanted, benchmarkRows)
	bad := func(_ int32, err error) { t.Fatal(err) }
	for _, payload := range payloads {
		size += len(payload)
	}
	return func() {
		for _, v := range out {
			if v != nil {
				v.Reset(benchmarkRows)
			}
		}
		arena.Reset()
		decoder.Decode(payloads, rows, out, arena, bad)
	}, out, size
}

func benchmarkAvroDecode(b *testing.B, wanted []bool) {
	decode, _, size := decodeAvroOrders(b, wanted)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		decode()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkRows, "ns/row")
}

func BenchmarkAvroDecode3Of8(b *testing.B) {
	benchmarkAvroDecode(b, []bool{true, false, true, true, false, false, false, false})
}

func BenchmarkAvroDecode8Of8(b *testing.B) { benchmarkAvroDecode(b, nil) }

func BenchmarkAvroEncode8(b *testing.B) {
	encode := encodeAvroOrders(b)
	b.ReportAllocs()
	for b.Loop() {
		encode()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkRows, "ns/row")
}

// encodeAvroOrders is a function that encodes all records.
func encodeAvroOrders(t testing.TB) (encode func()) {
	decode, out, _ := decodeAvroOrders(t, nil)
	decode()
	encoder := avroFormat{}.NewEncoder(derivedAvro(t, orderFields, false), orderFields)
	buf := make([]byte, 0, 1<<20)
	return func() {
		dst := buf
		for i := range benchmarkRows {
			var err error
			if dst, _, err = encoder.Append(dst, out, i); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAvroAllocatesNothing(t *testing.T) {
	decode, _, _ := decodeAvroOrders(t, nil)
	for name, run := range map[string]func(){"decode": decode, "encode": encodeAvroOrders(t)} {
		if n := testing.AllocsPerRun(10, run); n > 0 {
			t.Errorf("%s: %v allocations in %d rows", name, n, benchmarkRows)
		}
	}
}

// TestAvroNestedAllocatesNothing decodes and encodes values of every type,
// converted ones too.
func TestAvroNestedAllocatesNothing(t *testing.T) {
	spec, payload := fuzzedAvro(t)
	texts := []Field{{"I", fuzzedTypes[0].Type}, {"L", fuzzedTypes[0].Type}, {"D", fuzzedTypes[0].Type}, {"B", fuzzedTypes[0].Type}, {"N", fuzzedTypes[0].Type}}
	for name, fields := range map[string][]Field{"as they are": fuzzedTypes, "as texts": texts} {
		decoder := avroFormat{}.NewDecoder(spec, fields, nil)
		out, arena := vectorsOf(fields, nil, 1), &column.Arena{}
		bad := func(_ int32, err error) { t.Fatal(err) }
		payloads, rows := [][]byte{payload}, allRows(1)
		n := testing.AllocsPerRun(10, func() {
			for _, v := range out {
				v.Reset(1)
			}
			arena.Reset()
			decoder.Decode(payloads, rows, out, arena, bad)
		})
		if n > 0 {
			t.Errorf("%s: %v allocations to decode a row", name, n)
		}
		if len(fields) != len(fuzzedTypes) {
			continue
		}
		encoder, buf := avroFormat{}.NewEncoder(spec, fields), make([]byte, 0, 1<<10)
		n = testing.AllocsPerRun(10, func() {
			if _, _, err := encoder.Append(buf, out, 0); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 {
			t.Errorf("%s: %v allocations to encode a row", name, n)
		}
	}
}
