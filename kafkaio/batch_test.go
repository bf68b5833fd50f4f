package kafkaio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var plain = BatchProducer{ID: -1, Epoch: -1}

// encode makes one batch of the run's records.
func encode(t testing.TB, run *Records, codec Compression, producer BatchProducer) []byte {
	t.Helper()
	var encoder BatchEncoder
	for i := range run.Offsets {
		encoder.Append(run.Timestamps[i], run.Keys[i], run.Values[i], run.Headers[i])
	}
	batch, err := encoder.Finish(codec, producer)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(batch)
}

func decode(t testing.TB, set []byte, from int64) *Records {
	t.Helper()
	var run Records
	var arena []byte
	for len(set) > 0 {
		var batch Batch
		rest, complete, err := NextBatch(set, &batch)
		if err != nil || !complete {
			t.Fatalf("complete %t, error %v", complete, err)
		}
		if arena, err = batch.AppendTo(&run, from, arena); err != nil {
			t.Fatal(err)
		}
		set = rest
	}
	return &run
}

func compareRuns(want, got *Records) string {
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(Records{}), cmpopts.EquateEmpty())
}

func TestBatchRoundTrip(t *testing.T) {
	for codec := NoCompression; codec <= Zstd; codec++ {
		rapid.Check(t, func(t *rapid.T) {
			data := rapid.Ptr(rapid.SliceOfN(rapid.Byte(), 0, 300), true)
			timestamp := rapid.Int64Range(-1<<60, 1<<60)
			run := &Records{}
			for i := range rapid.IntRange(1, 60).Draw(t, "count") {
				var block []byte
				if rapid.Bool().Draw(t, "headers") {
					block = AppendHeaders(nil, []Header{{Key: "k", Value: nil}, {Key: "", Value: []byte("v")}})
				}
				run.Append(int64(i), timestamp.Draw(t, "timestamp"), deref(data.Draw(t, "key")), deref(data.Draw(t, "value")), block)
			}
			var encoder BatchEncoder
			for i := range run.Offsets {
				encoder.Append(run.Timestamps[i], run.Keys[i], run.Values[i], run.Headers[i])
			}
			set, err := encoder.Finish(codec, plain)
			if err != nil {
				t.Fatal(err)
			}
			var batch Batch
			rest, complete, err := NextBatch(set, &batch)
			if err != nil || !complete || len(rest) != 0 {
				t.Fatalf("rest %d bytes, complete %t, error %v", len(rest), complete, err)
			}
			var got Records
			if _, err := batch.AppendTo(&got, 0, nil); err != nil {
				t.Fatal(err)
			}
			if diff := compareRuns(run, &got); diff != "" {
				t.Fatal(diff)
			}
			for i := range run.Keys {
				if (run.Keys[i] == nil) != (got.Keys[i] == nil) || (run.Values[i] == nil) != (got.Values[i] == nil) {
					t.Fatalf("record %d: null and empty were confused", i)
				}
			}
		})
	}
}

func deref(p *[]byte) []byte {
	if p == nil {
		return nil
	}
	return *p
}

func TestBatchHeader(t *testing.T) {
	run := &Records{}
	run.Append(0, 500, []byte("a"), []byte("b"), nil)
	run.Append(1, 300, []byte("c"), []byte("d"), nil)
	set := encode(t, run, NoCompression, BatchProducer{ID: 7, Epoch: 3, BaseSequence: 11, Transactional: true})
	binary.BigEndian.PutUint64(set, 1000)
	var batch Batch
	if _, complete, err := NextBatch(set, &batch); err != nil || !complete {
		t.Fatalf("complete %t, error %v", complete, err)
	}
	batch.Records = nil
	want := Batch{
		BaseOffset: 1000, LastOffsetDelta: 1, BaseTimestamp: 500, MaxTimestamp: 500,
		ProducerID: 7, ProducerEpoch: 3, BaseSequence: 11, Count: 2, attributes: flagTransaction,
	}
	if diff := cmp.Diff(want, batch, cmp.AllowUnexported(Batch{})); diff != "" {
		t.Error(diff)
	}
	if !batch.Transactional() || batch.Control() || batch.LastOffset() != 1001 {
		t.Errorf("transactional %t, control %t, last offset %d", batch.Transactional(), batch.Control(), batch.LastOffset())
	}
}

func TestDecodeFromOffset(t *testing.T) {
	run := &Records{}
	for i := range int64(10) {
		run.Append(i, i, nil, []byte{byte(i)}, nil)
	}
	got := decode(t, encode(t, run, Zstd, plain), 7)
	if diff := cmp.Diff([]int64{7, 8, 9}, got.Offsets); diff != "" {
		t.Error(diff)
	}
}

func TestLogAppendTime(t *testing.T) {
	run := &Records{}
	run.Append(0, 100, nil, nil, nil)
	run.Append(1, 200, nil, nil, nil)
	set := encode(t, run, NoCompression, plain)
	binary.BigEndian.PutUint16(set[21:], flagLogTime)
	binary.BigEndian.PutUint64(set[35:], 999)
	got := decode(t, resum(set), 0)
	if diff := cmp.Diff([]int64{999, 999}, got.Timestamps); diff != "" {
		t.Error(diff)
	}
}

// resum makes the checksum right again after a change.
func resum(set []byte) []byte {
	binary.BigEndian.PutUint32(set[17:], crc32.Checksum(set[batchCRCEnd:], castagnoli))
	return set
}

func TestCutBatchIsNotAnError(t *testing.T) {
	run := &Records{}
	run.Append(0, 1, []byte("key"), []byte("value"), nil)
	set := encode(t, run, NoCompression, plain)
	for length := range set {
		var batch Batch
		_, complete, err := NextBatch(set[:length], &batch)
		if complete || err != nil {
			t.Errorf("%d of %d bytes: complete %t, error %v", length, len(set), complete, err)
		}
	}
}

func TestCorruptBatches(t *testing.T) {
	run := &Records{}
	run.Append(0, 1, []byte("key"), []byte("value"), nil)
	tests := []struct {
		name   string
		change func(set []byte) []byte
	}{
		{"checksum", func(set []byte) []byte { set[len(set)-1]++; return set }},
		{"format", func(set []byte) []byte { set[batchMagicAt] = 1; return set }},
		{"short length", func(set []byte) []byte { binary.BigEndian.PutUint32(set[8:], 5); return set }},
		{"negative length", func(set []byte) []byte { binary.BigEndian.PutUint32(set[8:], 1<<31+5); return set }},
		{"negative offset", func(set []byte) []byte { set[0] = 0xff; return set }},
		{"record count", func(set []byte) []byte { binary.BigEndian.PutUint32(set[57:], 1<<30); return resum(set) }},
		{"negative count", func(set []byte) []byte { binary.BigEndian.PutUint32(set[57:], 1<<31); return resum(set) }},
		{"record length", func(set []byte) []byte { set[batchOverhead] = 0x7e; return resum(set) }},
		{"key length", func(set []byte) []byte { set[batchOverhead+4] = 0x7e; return resum(set) }},
		{"codec", func(set []byte) []byte { set[22] = 7; return resum(set) }},
		{"not compressed", func(set []byte) []byte { set[22] = byte(Zstd); return resum(set) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set := test.change(encode(t, run, NoCompression, plain))
			var batch Batch
			var got Records
			_, complete, err := NextBatch(set, &batch)
			if complete {
				_, err = batch.AppendTo(&got, 0, nil)
			}
			if !errors.Is(err, ErrCorrupt) || got.Len() != 0 {
				t.Errorf("%d records, error %v", got.Len(), err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	run := &Records{}
	for i := range int64(5) {
		run.Append(i, i*1000, []byte("key"), bytes.Repeat([]byte("value"), int(i)), AppendHeaders(nil, []Header{{Key: "h", Value: []byte("v")}}))
	}
	for codec := NoCompression; codec <= Zstd; codec++ {
		f.Add(encode(f, run, codec, plain))
	}
	f.Fuzz(func(t *testing.T, set []byte) {
		if len(set) >= batchOverhead {
			binary.BigEndian.PutUint32(set[8:], uint32(len(set)-batchLengthEnd))
			set[batchMagicAt] = 2
			resum(set)
		}
		var batch Batch
		_, complete, err := NextBatch(set, &batch)
		if err != nil || !complete {
			return
		}
		batch.Marker()
		var got Records
		if _, err := batch.AppendTo(&got, 0, nil); err != nil && (got.Len() != 0 || !errors.Is(err, ErrCorrupt)) {
			t.Errorf("%d records beside the error %v", got.Len(), err)
		}
	})
}

func TestDecompressionBomb(t *testing.T) {
	const limit = 1 << 20
	huge := make([]byte, limit+1)
	for _, codec := range []Compression{Gzip, LZ4, Zstd} {
		small, err := codec.Compress(nil, huge)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := codec.decompressWithin(limit, nil, small); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v: %d bytes became more than the limit: %v", codec, len(small), err)
		}
	}
	if small, err := Snappy.Compress(nil, huge); err != nil {
		t.Error(err)
	} else if _, err := Snappy.decompressWithin(limit, nil, small); !errors.Is(err, ErrCorrupt) {
		t.Errorf("snappy: %v", err)
	}
	promise := binary.AppendUvarint(nil, maxDecompressed-1)
	if _, err := Snappy.Decompress(nil, append(promise, 1, 2, 3)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("snappy believed a length: %v", err)
	}
}

func TestSnappyFrames(t *testing.T) {
	block, err := Snappy.Compress(nil, []byte("hello hello hello"))
	if err != nil {
		t.Fatal(err)
	}
	framed := append(bytes.Clone(xerialMagic), 0, 0, 0, 1, 0, 0, 0, 1)
	for range 2 {
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(block)))
		framed = append(framed, block...)
	}
	got, err := Snappy.Decompress([]byte("> "), framed)
	if want := "> hello hello hellohello hello hello"; err != nil || string(got) != want {
		t.Errorf("got %q, error %v", got, err)
	}
	if _, err := Snappy.Decompress(nil, framed[:len(framed)-1]); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a cut frame gave %v", err)
	}
}

func TestParseCompression(t *testing.T) {
	for codec := NoCompression; codec <= Zstd; codec++ {
		if got, ok := ParseCompression(codec.String()); !ok || got != codec {
			t.Errorf("%v: got %v, %v", codec, got, ok)
		}
	}
	if _, ok := ParseCompression("brotli"); ok {
		t.Error("brotli was accepted")
	}
}

func sampleRun(count int) *Records {
	run := &Records{}
	for i := range count {
		value := fmt.Appendf(nil, `{"id":%d,"customer":"customer-%d","item":"item-%d","price":%d.99,"status":"SHIPPED","note":"left at the door"}`, i, i%1000, i%77, i%500)
		run.Append(int64(i), 1700000000000+int64(i), fmt.Appendf(nil, "key-%d", i), value, nil)
	}
	return run
}

func BenchmarkEncode(b *testing.B) {
	run := sampleRun(1000)
	for codec := NoCompression; codec <= Zstd; codec++ {
		b.Run(codec.String(), func(b *testing.B) {
			var encoder BatchEncoder
			b.ReportAllocs()
			for b.Loop() {
				encoder.Reset()
				for i := range run.Offsets {
					encoder.Append(run.Timestamps[i], run.Keys[i], run.Values[i], nil)
				}
				if _, err := encoder.Finish(codec, plain); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*run.Len()), "ns/record")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	run := sampleRun(1000)
	for codec := NoCompression; codec <= Zstd; codec++ {
		b.Run(codec.String(), func(b *testing.B) {
			set := encode(b, run, codec, plain)
			var got Records
			var arena []byte
			b.ReportAllocs()
			for b.Loop() {
				got.truncate(0)
				var batch Batch
				if _, complete, err := NextBatch(set, &batch); err != nil || !complete {
					b.Fatal(err)
				}
				var err error
				if arena, err = batch.AppendTo(&got, 0, arena[:0]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*run.Len()), "ns/record")
		})
	}
}
