// Package conformance is the suite that every implementation of kafkaio.Log
// passes. It makes topics, groups and transactional ids with names of its own,
// so that it may run on a cluster in use.
package conformance

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"millrace/kafkaio"
)

// patience bounds a single step of a test; nothing should come near it.
const patience = 60 * time.Second

// Run runs the suite. open gives the log to test, every time a new one or one
// shared by all tests; it registers its own clean-up.
func Run(t *testing.T, open func(t *testing.T) kafkaio.Log) {
	tests := []struct {
		name string
		run  func(*env)
	}{
		{"commit and abort", commitAndAbort},
		{"interleaved producers keep the order of production", interleavedProducers},
		{"an open transaction holds later ones back", openTransactionHoldsBack},
		{"read committed from any offset", mixedHistory},
		{"init fences", initFences},
		{"fence ends a dead producer's transaction", fenceEndsTransaction},
		{"offsets are part of the transaction", offsetsInTransaction},
		{"a pending commit makes readers of offsets wait", pendingOffsets},
		{"empty transactions", emptyTransactions},
		{"large transaction", largeTransaction},
		{"codecs", codecs},
		{"null and empty", nullAndEmpty},
		{"timestamps", timestamps},
		{"record too large", recordTooLarge},
		{"commit gives up a transaction that cannot be written", commitAborts},
		{"end of a partition", endOfPartition},
		{"waiting poll", waitingPoll},
		{"assign keeps and repositions", assign},
		{"unreleased runs stop the fetch", unreleased},
		{"close ends a poll", closeEndsPoll},
		{"cancelled context", cancelled},
		{"offset out of range", offsetOutOfRange},
		{"delete records", deleteRecords},
		{"describe topics", describeTopics},
		{"unknown topic", unknownTopic},
		{"create existing topic", createExisting},
		{"create again", createAgain},
		{"delete group", deleteGroup},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			test.run(&env{T: t, ctx: ctx, log: open(t)})
		})
	}
}

// env is what a test works with.
type env struct {
	*testing.T
	ctx context.Context
	log kafkaio.Log
}

// name makes a name that no other test and no other run uses.
func (e *env) name(kind string) string {
	return "conformance-" + kind + "-" + strings.ToLower(rand.Text()[:12])
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// topic makes a topic and deletes it at the end of the test.
func (e *env) topic(partitions int, config map[string]string) string {
	e.Helper()
	name := e.name("topic")
	spec := kafkaio.TopicSpec{Name: name, Partitions: partitions, Config: map[string]string{"retention.ms": "-1"}} // records of 1970 stay
	maps.Copy(spec.Config, config)
	e.must(e.log.CreateTopic(e.ctx, spec))
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := e.log.DeleteTopic(ctx, name); err != nil {
			e.Logf("delete topic: %v", err)
		}
	})
	return name
}

// producer gives an initialised producer with a transactional id of its own.
func (e *env) producer() kafkaio.Producer {
	e.Helper()
	return e.producerOf(kafkaio.ProducerOptions{TransactionalID: e.name("id")})
}

func (e *env) producerOf(options kafkaio.ProducerOptions) kafkaio.Producer {
	e.Helper()
	p := e.log.NewProducer(options)
	e.Cleanup(func() { e.must(p.Close()) })
	e.must(p.Init(e.ctx))
	return p
}

// write appends values and waits until they are in the log, so that the order
// between producers is known.
func (e *env) write(p kafkaio.Producer, to kafkaio.TopicPartition, values ...string) {
	e.Helper()
	for _, value := range values {
		e.must(p.Append(e.ctx, to, 1700000000000, nil, []byte(value), nil))
	}
	e.must(p.Flush(e.ctx))
}

// offsets waits for the partition's range to be as wanted.
func (e *env) offsets(tp kafkaio.TopicPartition, wanted func(kafkaio.OffsetRange) bool) kafkaio.OffsetRange {
	e.Helper()
	for {
		ranges, err := e.log.Offsets(e.ctx, []kafkaio.TopicPartition{tp})
		e.must(err)
		if wanted(ranges[tp]) {
			return ranges[tp]
		}
		select {
		case <-e.ctx.Done():
			e.Fatalf("%v: offsets stay at %+v", tp, ranges[tp])
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// settled waits until no transaction is open on the partition.
func (e *env) settled(tp kafkaio.TopicPartition) kafkaio.OffsetRange {
	e.Helper()
	return e.offsets(tp, func(r kafkaio.OffsetRange) bool { return r.Stable == r.HighWatermark })
}

// reader reads one or more partitions and keeps what it saw.
type reader struct {
	*env
	fetcher kafkaio.Fetcher
	next    map[kafkaio.TopicPartition]int64
	values  map[kafkaio.TopicPartition][]string
}

func (e *env) reader(positions map[kafkaio.TopicPartition]int64) *reader {
	e.Helper()
	r := &reader{
		env: e, fetcher: e.log.NewFetcher(kafkaio.FetchOptions{}),
		next: positions, values: make(map[kafkaio.TopicPartition][]string),
	}
	e.Cleanup(func() { e.must(r.fetcher.Close()) })
	r.fetcher.Assign(positions)
	return r
}

// poll takes what has arrived, checks the runs and releases them.
func (r *reader) poll(wait time.Duration) {
	r.Helper()
	runs, err := r.fetcher.Poll(r.ctx, wait)
	r.must(err)
	for _, run := range runs {
		r.check(run)
		for _, value := range run.Values {
			r.values[run.TopicPartition] = append(r.values[run.TopicPartition], string(value))
		}
		r.next[run.TopicPartition] = run.Next
		run.Release()
	}
}

// check holds a run to the contract: parallel slices, rising offsets between
// the last run's end and its own, all below the last stable offset.
func (r *reader) check(run *kafkaio.Records) {
	r.Helper()
	n := run.Len()
	if len(run.Timestamps) != n || len(run.Keys) != n || len(run.Values) != n || len(run.Headers) != n {
		r.Fatalf("%v: slices of %d, %d, %d, %d and %d", run.TopicPartition, n, len(run.Timestamps), len(run.Keys), len(run.Values), len(run.Headers))
	}
	at := r.next[run.TopicPartition]
	for _, offset := range run.Offsets {
		if offset < at {
			r.Fatalf("%v: offset %d follows position %d", run.TopicPartition, offset, at)
		}
		at = offset + 1
	}
	if run.Next < at || n > 0 && at > run.Stable || run.Stable > run.HighWatermark {
		r.Fatalf("%v: records end at %d, next %d, stable %d, high watermark %d", run.TopicPartition, at, run.Next, run.Stable, run.HighWatermark)
	}
}

// readTo polls until the partition's position is at or behind the offset.
func (r *reader) readTo(tp kafkaio.TopicPartition, offset int64) []string {
	r.Helper()
	for r.next[tp] < offset {
		if r.ctx.Err() != nil {
			r.Fatalf("%v: position stays at %d of %d", tp, r.next[tp], offset)
		}
		r.poll(time.Second)
	}
	return r.values[tp]
}

// readAll reads the partition from an offset to its end, after all transactions
// on it have ended.
func (e *env) readAll(tp kafkaio.TopicPartition, from int64) []string {
	e.Helper()
	r := e.reader(map[kafkaio.TopicPartition]int64{tp: from})
	return r.readTo(tp, e.settled(tp).HighWatermark)
}

// same compares values one by one in text that a failure can show.
func (e *env) same(what string, got, want []string) {
	e.Helper()
	if len(got) != len(want) {
		e.Fatalf("%s: %d records, expected %d: %.200v", what, len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			e.Fatalf("%s: record %d is %.100q, expected %.100q", what, i, got[i], want[i])
		}
	}
}

func numbered(prefix string, count int) []string {
	values := make([]string, count)
	for i := range values {
		values[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return values
}
