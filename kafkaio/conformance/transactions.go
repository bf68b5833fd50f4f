package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"millrace/kafkaio"
)

func commitAndAbort(e *env) {
	topic := e.topic(2, nil)
	p0, p1 := kafkaio.TopicPartition{Topic: topic}, kafkaio.TopicPartition{Topic: topic, Partition: 1}
	p := e.producer()
	e.write(p, p0, "a", "b")
	e.write(p, p1, "x")
	r := e.reader(map[kafkaio.TopicPartition]int64{p0: 0, p1: 0})
	r.poll(100 * time.Millisecond)
	e.same("before the commit", r.values[p0], nil)
	e.must(p.Commit(e.ctx))
	e.write(p, p0, "lost")
	e.must(p.Abort(e.ctx))
	e.must(p.Append(e.ctx, p0, 1, nil, []byte("dropped before it was sent"), nil))
	e.must(p.Abort(e.ctx))
	e.must(p.Append(e.ctx, p0, 1, nil, []byte("c"), nil))
	e.must(p.Commit(e.ctx))
	e.same("partition 0", r.readTo(p0, e.settled(p0).HighWatermark), []string{"a", "b", "c"})
	e.same("partition 1", r.readTo(p1, e.settled(p1).HighWatermark), []string{"x"})
}

func interleavedProducers(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	a, b, c := e.producer(), e.producer(), e.producer()
	e.write(a, tp, "a1")
	e.write(b, tp, "b1")
	e.write(c, tp, "c1")
	e.write(a, tp, "a2")
	e.write(b, tp, "b2")
	e.must(b.Commit(e.ctx))
	e.must(c.Abort(e.ctx))
	e.must(a.Commit(e.ctx))
	e.same("partition", e.readAll(tp, 0), []string{"a1", "b1", "a2", "b2"})
}

func openTransactionHoldsBack(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	a, b := e.producer(), e.producer()
	e.write(b, tp, "first")
	e.must(b.Commit(e.ctx))
	e.settled(tp)
	e.write(a, tp, "open")
	e.write(b, tp, "later")
	e.must(b.Commit(e.ctx))
	limits := e.offsets(tp, func(r kafkaio.OffsetRange) bool { return r.Stable < r.HighWatermark })
	r := e.reader(map[kafkaio.TopicPartition]int64{tp: 0})
	e.same("up to the open transaction", r.readTo(tp, limits.Stable), []string{"first"})
	r.poll(100 * time.Millisecond)
	e.same("still open", r.values[tp], []string{"first"})
	e.must(a.Abort(e.ctx))
	e.same("ended", r.readTo(tp, e.settled(tp).HighWatermark), []string{"first", "later"})
}

func mixedHistory(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	producers := []kafkaio.Producer{
		e.producer(), e.producer(),
		e.producerOf(kafkaio.ProducerOptions{TransactionalID: e.name("id"), Compression: kafkaio.Zstd}),
	}
	type write struct {
		value     string
		committed *bool
	}
	var history []write
	current := make([]*bool, len(producers))
	// A fixed sequence stands in for chance, so that a failure can be repeated.
	state := uint32(1)
	next := func(n uint32) int {
		state = state*1664525 + 1013904223
		return int(state >> 16 % n)
	}
	for step := range 120 {
		i := next(uint32(len(producers)))
		p := producers[i]
		if current[i] == nil {
			current[i] = new(bool)
		}
		for n := range 1 + next(4) {
			value := fmt.Sprintf("%d/%d/%d", step, i, n)
			e.must(p.Append(e.ctx, tp, int64(step), nil, []byte(value), nil))
			history = append(history, write{value, current[i]})
		}
		e.must(p.Flush(e.ctx))
		switch next(5) {
		case 0:
			e.must(p.Commit(e.ctx))
			*current[i], current[i] = true, nil
		case 1:
			e.must(p.Abort(e.ctx))
			current[i] = nil
		}
	}
	for i, p := range producers {
		e.must(p.Commit(e.ctx))
		if current[i] != nil {
			*current[i] = true
		}
	}
	var want []string
	for _, w := range history {
		if *w.committed {
			want = append(want, w.value)
		}
	}
	e.same("from the first offset", e.readAll(tp, 0), want)
	end := e.settled(tp).HighWatermark
	for from := int64(1); from <= end; from += 23 {
		got := e.readAll(tp, from)
		at := len(want) - len(got)
		if at < 0 || !slices.Equal(want[at:], got) {
			e.Fatalf("from offset %d: %d records that are not the last of the committed ones", from, len(got))
		}
	}
}

func initFences(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	options := kafkaio.ProducerOptions{TransactionalID: e.name("id")}
	old := e.producerOf(options)
	e.write(old, tp, "old")
	successor := e.producerOf(options)
	err := old.Append(e.ctx, tp, 1, nil, []byte("too late"), nil)
	if err == nil {
		err = old.Commit(e.ctx)
	}
	if !errors.Is(err, kafkaio.ErrFenced) || errors.Is(err, kafkaio.ErrAborted) {
		e.Errorf("the old producer got %v", err)
	}
	e.write(successor, tp, "new")
	e.must(successor.Commit(e.ctx))
	e.same("partition", e.readAll(tp, 0), []string{"new"})
	e.must(old.Init(e.ctx))
	e.write(old, tp, "back")
	e.must(old.Commit(e.ctx))
	e.same("after a new init", e.readAll(tp, 0), []string{"new", "back"})
}

func fenceEndsTransaction(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	ids := []string{e.name("id"), e.name("id-never-used")}
	dead := e.producerOf(kafkaio.ProducerOptions{TransactionalID: ids[0]})
	group := kafkaio.Group{Name: e.name("group"), Generation: -1}
	e.write(dead, tp, "lost")
	e.must(dead.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tp: 5}))
	e.must(e.log.Fence(e.ctx, ids))
	offsets, err := e.log.CommittedOffsets(e.ctx, group.Name, []kafkaio.TopicPartition{tp})
	e.must(err)
	if len(offsets) != 0 {
		e.Errorf("the fenced transaction committed %v", offsets)
	}
	e.same("partition", e.readAll(tp, 0), nil)
	if err := dead.Commit(e.ctx); !errors.Is(err, kafkaio.ErrFenced) {
		e.Errorf("the dead producer's commit gave %v", err)
	}
}

func offsetsInTransaction(e *env) {
	topic := e.topic(3, nil)
	tps := make([]kafkaio.TopicPartition, 3)
	for i := range tps {
		tps[i] = kafkaio.TopicPartition{Topic: topic, Partition: int32(i)}
	}
	group := kafkaio.Group{Name: e.name("group"), Generation: -1}
	p := e.producer()
	check := func(what string, want ...int64) {
		e.Helper()
		offsets, err := e.log.CommittedOffsets(e.ctx, group.Name, tps)
		e.must(err)
		for i, tp := range tps {
			offset, ok := offsets[tp]
			if !ok {
				offset = -1
			}
			if offset != want[i] {
				e.Errorf("%s: partition %d at %d, expected %d", what, i, offset, want[i])
			}
		}
	}
	check("new group", -1, -1, -1)
	e.must(p.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tps[0]: 10, tps[1]: 20}))
	e.must(p.Append(e.ctx, tps[0], 1, nil, []byte("a"), nil))
	e.must(p.Commit(e.ctx))
	check("committed", 10, 20, -1)
	e.must(p.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tps[0]: 99}))
	e.must(p.Abort(e.ctx))
	check("aborted", 10, 20, -1)
	e.must(p.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tps[1]: 21}))
	e.must(p.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tps[1]: 22, tps[2]: 0}))
	e.must(p.Commit(e.ctx))
	check("sent twice", 10, 22, 0)
	e.same("partition", e.readAll(tps[0], 0), []string{"a"})
}

func pendingOffsets(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	group := kafkaio.Group{Name: e.name("group"), Generation: -1}
	p := e.producer()
	e.must(p.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tp: 3}))
	e.must(p.Commit(e.ctx))
	e.must(p.SendOffsets(e.ctx, group, map[kafkaio.TopicPartition]int64{tp: 7}))
	short, cancel := context.WithTimeout(e.ctx, 150*time.Millisecond)
	defer cancel()
	offsets, err := e.log.CommittedOffsets(short, group.Name, []kafkaio.TopicPartition{tp})
	if !errors.Is(err, context.DeadlineExceeded) {
		e.Errorf("got %v, %v while the transaction was open", offsets, err)
	}
	result := make(chan int64, 1)
	go func() {
		offsets, err := e.log.CommittedOffsets(e.ctx, group.Name, []kafkaio.TopicPartition{tp})
		if err != nil {
			offsets = map[kafkaio.TopicPartition]int64{tp: -2}
		}
		result <- offsets[tp]
	}()
	e.must(p.Commit(e.ctx))
	if got := <-result; got != 7 {
		e.Errorf("the waiting call got %d", got)
	}
}

func emptyTransactions(e *env) {
	tp := kafkaio.TopicPartition{Topic: e.topic(1, nil)}
	p := e.producer()
	e.must(p.Commit(e.ctx))
	e.must(p.Abort(e.ctx))
	e.must(p.Flush(e.ctx))
	e.must(p.Commit(e.ctx))
	e.write(p, tp, "a")
	e.must(p.Commit(e.ctx))
	e.must(p.Commit(e.ctx))
	e.same("partition", e.readAll(tp, 0), []string{"a"})
}
