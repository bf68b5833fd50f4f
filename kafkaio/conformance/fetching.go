package conformance

import (
	"context"
	"errors"
	"strings"
	"time"

	"millrace/kafkaio"
)

func endOfPartition(e *env) {
	topic := e.topic(2, nil)
	full, empty := kafkaio.TopicPartition{Topic: topic}, kafkaio.TopicPartition{Topic: topic, Partition: 1}
	p := e.producer()
	e.write(p, full, "a")
	e.must(p.Commit(e.ctx))
	end := e.settled(full).HighWatermark
	f := e.log.NewFetcher(kafkaio.FetchOptions{})
	defer f.Close()
	f.Assign(map[kafkaio.TopicPartition]int64{full: 0, empty: 0})
	reached := map[kafkaio.TopicPartition]bool{}
	for len(reached) < 2 {
		runs, err := f.Poll(e.ctx, time.Second)
		e.must(err)
		for _, run := range runs {
			if run.Next >= run.Stable {
				reached[run.TopicPartition] = true
			}
			if run.TopicPartition == full && run.Next > end {
				e.Errorf("position %d is beyond the end %d", run.Next, end)
			}
			run.Release()
		}
		if e.ctx.Err() != nil {
			e.Fatalf("the end was reported of %v only", reached)
		}
	}
	if runs, err := f.Poll(e.ctx, 0); err != nil || len(runs) > 0 {
		e.Errorf("nothing new, but %d runs, error %v", len(runs), err)
	}
}

func waitingPoll(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	p := e.producer()
	r := e.reader(map[kafkaio.TopicPartition]int64{tp: 0})
	for i := range 10 {
		value := numbered("v", 10)[i]
		wrote := make(chan error, 1)
		go func() {
			err := p.Append(e.ctx, tp, 1, nil, []byte(value), nil)
			if err == nil {
				err = p.Commit(e.ctx)
			}
			wrote <- err
		}()
		for len(r.values[tp]) <= i && e.ctx.Err() == nil {
			r.poll(5 * time.Second)
		}
		e.must(<-wrote)
	}
	e.same("partition", r.values[tp], numbered("v", 10))
}

func assign(e *env) {
	topic := e.topic(2, nil)
	p0, p1 := kafkaio.TopicPartition{Topic: topic}, kafkaio.TopicPartition{Topic: topic, Partition: 1}
	p := e.producer()
	want := numbered("v", 500)
	for _, value := range want {
		e.must(p.Append(e.ctx, p0, 1, nil, []byte(value), nil))
		e.must(p.Append(e.ctx, p1, 1, nil, []byte(value), nil))
	}
	e.must(p.Commit(e.ctx))
	end0, end1 := e.settled(p0).HighWatermark, e.settled(p1).HighWatermark

	r := e.reader(map[kafkaio.TopicPartition]int64{p0: 0})
	for r.next[p0] == 0 && e.ctx.Err() == nil {
		r.poll(time.Second)
	}
	r.next[p1] = 490
	r.fetcher.Assign(map[kafkaio.TopicPartition]int64{p0: r.next[p0], p1: 490})
	e.same("kept", r.readTo(p0, end0), want)
	e.same("added", r.readTo(p1, end1), want[490:])

	r.next[p0] = 100
	r.values = map[kafkaio.TopicPartition][]string{}
	r.fetcher.Assign(map[kafkaio.TopicPartition]int64{p0: 100})
	e.same("moved back", r.readTo(p0, end0), want[100:])
	e.same("removed", r.values[p1], nil)
}

func unreleased(e *env) {
	topic := e.topic(2, nil)
	p0, p1 := kafkaio.TopicPartition{Topic: topic}, kafkaio.TopicPartition{Topic: topic, Partition: 1}
	p := e.producerOf(kafkaio.ProducerOptions{TransactionalID: e.name("id"), BatchBytes: 4000})
	want := numbered(strings.Repeat("some bytes ", 50), 2000)
	for _, value := range want {
		e.must(p.Append(e.ctx, p0, 1, nil, []byte(value), nil))
	}
	e.must(p.Append(e.ctx, p1, 1, nil, []byte("other"), nil))
	e.must(p.Commit(e.ctx))
	end := e.settled(p0).HighWatermark
	e.settled(p1)

	f := e.log.NewFetcher(kafkaio.FetchOptions{PartitionBytes: 20000, BufferBytes: 60000})
	defer f.Close()
	f.Assign(map[kafkaio.TopicPartition]int64{p0: 0, p1: 0})
	var held []*kafkaio.Records
	var got, others []string
	var next int64
	copies := map[*kafkaio.Records]string{}
	take := func(wait time.Duration) {
		runs, err := f.Poll(e.ctx, wait)
		e.must(err)
		for _, run := range runs {
			for _, value := range run.Values {
				if run.TopicPartition == p0 {
					got = append(got, string(value))
				} else {
					others = append(others, string(value))
				}
			}
			if run.TopicPartition == p0 {
				next = run.Next
			}
			if run.Len() > 0 {
				copies[run] = string(run.Values[0])
			}
			held = append(held, run)
		}
	}
	for range 10 {
		take(20 * time.Millisecond)
	}
	if len(got) == 0 || len(got) == len(want) {
		e.Errorf("%d of %d records came while none was released", len(got), len(want))
	}
	for len(others) == 0 && e.ctx.Err() == nil {
		take(time.Second) // a partition that waits must not stop another
	}
	for next < end && e.ctx.Err() == nil {
		for _, run := range held {
			if run.Len() > 0 && string(run.Values[0]) != copies[run] {
				e.Fatal("a run changed before it was released")
			}
			run.Release()
		}
		held = held[:0]
		take(time.Second)
	}
	e.same("partition 0", got, want)
}

func closeEndsPoll(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	f := e.log.NewFetcher(kafkaio.FetchOptions{})
	f.Assign(map[kafkaio.TopicPartition]int64{tp: 0})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 3 { // the first may bring news of the empty partition
			runs, err := f.Poll(e.ctx, patience)
			if err != nil || len(runs) == 0 {
				return
			}
		}
	}()
	e.must(f.Close())
	select {
	case <-ended:
	case <-time.After(patience / 2):
		e.Error("Poll goes on after Close")
	}
	e.must(f.Close())
}

func cancelled(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	f := e.log.NewFetcher(kafkaio.FetchOptions{})
	defer f.Close()
	f.Assign(map[kafkaio.TopicPartition]int64{tp: 0})
	if _, err := f.Poll(ctx, time.Second); !errors.Is(err, context.Canceled) {
		e.Errorf("Poll gave %v", err)
	}
	if _, err := e.log.Offsets(ctx, []kafkaio.TopicPartition{tp}); !errors.Is(err, context.Canceled) {
		e.Errorf("Offsets gave %v", err)
	}
	if _, err := e.log.Topics(ctx); !errors.Is(err, context.Canceled) {
		e.Errorf("Topics gave %v", err)
	}
}

// fetchError polls until the fetcher reports an error.
func fetchError(e *env, tp kafkaio.TopicPartition, offset int64) *kafkaio.PartitionError {
	e.Helper()
	f := e.log.NewFetcher(kafkaio.FetchOptions{})
	defer f.Close()
	f.Assign(map[kafkaio.TopicPartition]int64{tp: offset})
	for e.ctx.Err() == nil {
		runs, err := f.Poll(e.ctx, time.Second)
		for _, run := range runs {
			run.Release()
		}
		if partitionError, ok := errors.AsType[*kafkaio.PartitionError](err); ok {
			return partitionError
		}
		e.must(err)
	}
	e.Fatalf("%v: no error at offset %d", tp, offset)
	return nil
}

func offsetOutOfRange(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	p := e.producer()
	e.write(p, tp, "a")
	e.must(p.Commit(e.ctx))
	e.settled(tp)
	err := fetchError(e, tp, 1000)
	if !errors.Is(err, kafkaio.ErrOffsetOutOfRange) || err.TopicPartition != tp || err.Offset != 1000 {
		e.Errorf("got %v", err)
	}
}

func deleteRecords(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	p := e.producer()
	for _, value := range numbered("v", 10) {
		e.write(p, tp, value) // one batch each
	}
	e.must(p.Commit(e.ctx))
	e.settled(tp)
	e.must(e.log.DeleteRecords(e.ctx, map[kafkaio.TopicPartition]int64{tp: 4}))
	if limits := e.settled(tp); limits.Start != 4 {
		e.Errorf("the partition starts at %d", limits.Start)
	}
	e.same("from the new start", e.readAll(tp, 4), numbered("v", 10)[4:])
	if err := fetchError(e, tp, 0); !errors.Is(err, kafkaio.ErrOffsetOutOfRange) {
		e.Errorf("a deleted offset gave %v", err)
	}
	e.must(e.log.DeleteRecords(e.ctx, map[kafkaio.TopicPartition]int64{tp: 2}))
	err := e.log.DeleteRecords(e.ctx, map[kafkaio.TopicPartition]int64{tp: 1000})
	if !errors.Is(err, kafkaio.ErrOffsetOutOfRange) {
		e.Errorf("deleting beyond the end gave %v", err)
	}
}
