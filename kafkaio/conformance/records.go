package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"millrace/kafkaio"
)

func largeTransaction(e *env) {
	const perPartition = 4000
	topic := e.topic(3, nil)
	p := e.producer()
	filler := strings.Repeat("0123456789", 60)
	want := make([][]string, 3)
	for i := range 3 * perPartition {
		value := fmt.Sprintf("%d %s", i, filler)
		to := kafkaio.TopicPartition{Topic: topic, Partition: int32(i % 3)}
		e.must(p.Append(e.ctx, to, 1700000000000+int64(i), fmt.Append(nil, i), []byte(value), nil))
		want[i%3] = append(want[i%3], value)
	}
	e.must(p.Commit(e.ctx))
	for i := range want {
		tp := kafkaio.TopicPartition{Topic: topic, Partition: int32(i)}
		e.same(fmt.Sprintf("partition %d", i), e.readAll(tp, 0), want[i])
	}
}

func codecs(e *env) {
	for codec := kafkaio.NoCompression; codec <= kafkaio.Zstd; codec++ {
		tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
		p := e.producerOf(kafkaio.ProducerOptions{TransactionalID: e.name("id"), Compression: codec, BatchBytes: 10000})
		want := numbered("a value of some length that can be compressed ", 2000)
		for _, value := range want {
			e.must(p.Append(e.ctx, tp, 1700000000000, nil, []byte(value), nil))
		}
		e.must(p.Commit(e.ctx))
		e.same(codec.String(), e.readAll(tp, 0), want)
		got := e.readAll(tp, 700)
		e.same(codec.String()+" from offset 700", got, want[len(want)-len(got):])
		if len(got) < 1000 || len(got) > 1300 {
			e.Errorf("%v: %d records from offset 700", codec, len(got))
		}
	}
}

func nullAndEmpty(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	block := kafkaio.AppendHeaders(nil, []kafkaio.Header{{Key: "h", Value: []byte("v")}, {Key: "", Value: nil}})
	records := []struct{ key, value, headers []byte }{
		{nil, nil, nil},
		{[]byte{}, []byte{}, nil},
		{[]byte("k"), nil, block},
		{nil, []byte("v"), []byte{}},
		{[]byte("k"), []byte("v"), []byte{0}},
	}
	p := e.producer()
	buffer := make([]byte, 0, 64)
	for i, record := range records {
		buffer = append(buffer[:0], record.value...)
		value := buffer
		if record.value == nil {
			value = nil
		}
		e.must(p.Append(e.ctx, tp, int64(i), record.key, value, record.headers))
		clear(buffer)
	}
	e.must(p.Commit(e.ctx))
	e.settled(tp)
	f := e.log.NewFetcher(kafkaio.FetchOptions{})
	defer f.Close()
	f.Assign(map[kafkaio.TopicPartition]int64{tp: 0})
	seen := 0
	for seen < len(records) {
		runs, err := f.Poll(e.ctx, time.Second)
		e.must(err)
		for _, run := range runs {
			for i := range run.Offsets {
				want := records[seen]
				wantHeaders := want.headers
				if len(wantHeaders) < 2 {
					wantHeaders = nil
				}
				same(e, seen, "key", run.Keys[i], want.key)
				same(e, seen, "value", run.Values[i], want.value)
				gotHeaders := run.Headers[i]
				if len(gotHeaders) == 1 && gotHeaders[0] == 0 {
					gotHeaders = nil
				}
				same(e, seen, "headers", gotHeaders, wantHeaders)
				if run.Timestamps[i] != int64(seen) {
					e.Errorf("record %d: timestamp %d", seen, run.Timestamps[i])
				}
				seen++
			}
			run.Release()
		}
	}
}

func same(e *env, record int, what string, got, want []byte) {
	e.Helper()
	if (got == nil) != (want == nil) || string(got) != string(want) {
		e.Errorf("record %d: %s is %#v, expected %#v", record, what, got, want)
	}
}

func timestamps(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, map[string]string{
		"message.timestamp.after.max.ms": "9223372036854775807",
	})}
	times := []int64{
		time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
		time.Now().Add(2 * time.Hour).UnixMilli(),
		0,
		time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
	}
	p := e.producer()
	for _, at := range times {
		e.must(p.Append(e.ctx, tp, at, nil, nil, nil))
	}
	e.must(p.Commit(e.ctx))
	end := e.settled(tp).HighWatermark
	f := e.log.NewFetcher(kafkaio.FetchOptions{})
	defer f.Close()
	f.Assign(map[kafkaio.TopicPartition]int64{tp: 0})
	var got []int64
	for next := int64(0); next < end; {
		runs, err := f.Poll(e.ctx, time.Second)
		e.must(err)
		for _, run := range runs {
			got = append(got, run.Timestamps...)
			next = run.Next
			run.Release()
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(times) {
		e.Errorf("got %v, expected %v", got, times)
	}
}

func recordTooLarge(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	p := e.producer()
	e.must(p.Append(e.ctx, tp, 1, nil, []byte("before"), nil))
	err := p.Append(e.ctx, tp, 1, nil, make([]byte, 10<<20), nil)
	if err == nil {
		err = p.Flush(e.ctx)
	}
	if !errors.Is(err, kafkaio.ErrRecordTooLarge) || !strings.Contains(err.Error(), tp.Topic) {
		e.Fatalf("got %v", err)
	}
	e.must(p.Abort(e.ctx))
	e.write(p, tp, "after")
	e.must(p.Commit(e.ctx))
	large := strings.Repeat("x", 800_000)
	e.write(p, tp, large, large, large)
	e.must(p.Commit(e.ctx))
	e.same("partition", e.readAll(tp, 0), []string{"after", large, large, large})
}

// commitAborts holds where Append leaves the check of a record's size to the
// broker, and where it does not.
func commitAborts(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, map[string]string{"max.message.bytes": "5000"})}
	p := e.producer()
	e.write(p, tp, "lost with the transaction")
	if err := p.Append(e.ctx, tp, 1, nil, make([]byte, 6000), nil); err == nil {
		err = p.Commit(e.ctx)
		if !errors.Is(err, kafkaio.ErrRecordTooLarge) || !errors.Is(err, kafkaio.ErrAborted) {
			e.Fatalf("commit gave %v", err)
		}
	} else {
		e.must(p.Abort(e.ctx))
	}
	want := numbered(strings.Repeat("small enough alone ", 10), 100)
	for _, value := range want {
		e.must(p.Append(e.ctx, tp, 1, nil, []byte(value), nil))
	}
	e.must(p.Commit(e.ctx))
	e.same("partition", e.readAll(tp, 0), want)
}
