package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"millrace/exec/replay"
	"millrace/kafkaio"
	"millrace/planner/catalog"
)

// display shows the records of sinks. One goroutine uses it.
type display interface {
	// add tells of a sink before its first record.
	add(sink *catalog.Source)
	// show takes records that were written, and what reads them; it keeps nothing
	// of the run.
	show(sink *catalog.Source, run *kafkaio.Records, recorder *replay.Recorder) error
	// refresh is called when nothing more has arrived for the moment.
	refresh() error
	// close shows what is left.
	close() error
}

// sinkReader reads what queries write, as committed, and hands it to a display
// in a goroutine of its own.
type sinkReader struct {
	log      kafkaio.Log
	recorder *replay.Recorder
	display  display
	done     chan struct{}
	err      error // valid after done

	mu       sync.Mutex // guards what follows
	sinks    map[string]*catalog.Source
	ids      map[string][16]byte // of the sinks' topics
	position map[kafkaio.TopicPartition]int64
	changed  bool                             // sinks were added since the last Assign
	until    map[kafkaio.TopicPartition]int64 // nil: no end is set yet
	halted   bool
}

// readerWait is how long the reader waits for records before it refreshes.
const readerWait = 100 * time.Millisecond

func newSinkReader(log kafkaio.Log, recorder *replay.Recorder, d display) *sinkReader {
	return &sinkReader{
		log: log, recorder: recorder, display: d, done: make(chan struct{}),
		sinks: make(map[string]*catalog.Source), ids: make(map[string][16]byte), position: make(map[kafkaio.TopicPartition]int64),
	}
}

// add reads a sink from where it ended before its query; partitions that were
// not there then are read whole, and so is a topic that was made again.
func (r *sinkReader) add(ctx context.Context, sink *catalog.Source, begin map[int32]int64) error {
	topics, err := r.log.Topics(ctx, sink.Topic)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	topic := topics[sink.Topic]
	if _, known := r.sinks[sink.Topic]; known {
		if topic.ID == r.ids[sink.Topic] {
			return nil
		}
		r.forget(sink.Topic)
		begin = nil
	}
	r.sinks[sink.Topic], r.ids[sink.Topic] = sink, topic.ID
	for p := range int32(topic.Partitions) {
		r.position[kafkaio.TopicPartition{Topic: sink.Topic, Partition: p}] = begin[p]
	}
	r.changed = true
	r.display.add(sink)
	return nil
}

// forget takes a sink out; the caller holds the lock.
func (r *sinkReader) forget(topic string) {
	delete(r.sinks, topic)
	delete(r.ids, topic)
	maps.DeleteFunc(r.position, func(tp kafkaio.TopicPartition, _ int64) bool { return tp.Topic == topic })
	r.changed = true
}

// forgetDeleted takes the sinks out whose topics a statement has deleted. It
// tells whether there were any.
func (r *sinkReader) forgetDeleted(ctx context.Context) (found bool, err error) {
	r.mu.Lock()
	names := slices.Collect(maps.Keys(r.sinks))
	r.mu.Unlock()
	if len(names) == 0 {
		return false, nil
	}
	topics, err := r.log.Topics(ctx, names...)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		if topic, there := topics[name]; !there || topic.ID != r.ids[name] {
			r.forget(name)
			found = true
		}
	}
	return found, nil
}

// run reads until finish has been called and its end is reached.
func (r *sinkReader) run(ctx context.Context) {
	defer close(r.done)
	fetcher := r.log.NewFetcher(kafkaio.FetchOptions{})
	defer fetcher.Close() //nolint:errcheck // it was only read from
	for !r.complete() {
		r.assign(fetcher)
		runs, err := fetcher.Poll(ctx, readerWait)
		for _, run := range runs {
			if r.err == nil {
				r.err = r.take(run)
			}
			run.Release()
		}
		if errors.Is(err, kafkaio.ErrUnknownTopic) {
			if deleted, missing := r.forgetDeleted(ctx); deleted && missing == nil {
				err = nil
			}
		}
		if err != nil && ctx.Err() == nil && r.err == nil {
			r.err = fmt.Errorf("reading results: %w", err)
		}
		if r.err != nil || ctx.Err() != nil {
			break
		}
		if r.err = r.display.refresh(); r.err != nil {
			break
		}
	}
	if err := r.display.close(); r.err == nil {
		r.err = err
	}
}

func (r *sinkReader) assign(fetcher kafkaio.Fetcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.changed {
		return
	}
	r.changed = false
	fetcher.Assign(r.position)
}

func (r *sinkReader) take(run *kafkaio.Records) error {
	r.mu.Lock()
	sink := r.sinks[run.Topic]
	if sink != nil {
		r.position[run.TopicPartition] = run.Next
	}
	r.mu.Unlock()
	if run.Len() == 0 || sink == nil {
		return nil
	}
	return r.display.show(sink, run, r.recorder)
}

func (r *sinkReader) complete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halted {
		return true
	}
	if r.until == nil {
		return false
	}
	for tp, end := range r.until {
		if r.position[tp] < end {
			return false
		}
	}
	return true
}

// finish reads on to where the sinks end now, as long as ctx lasts, and ends
// the reader.
func (r *sinkReader) finish(ctx context.Context) error {
	if _, err := r.forgetDeleted(ctx); err != nil {
		r.halt()
		return fmt.Errorf("where the results end: %w", err)
	}
	r.mu.Lock()
	var partitions []kafkaio.TopicPartition
	for tp := range r.position {
		partitions = append(partitions, tp)
	}
	r.mu.Unlock()
	until := make(map[kafkaio.TopicPartition]int64)
	if len(partitions) > 0 {
		ranges, err := r.log.Offsets(ctx, partitions)
		if err != nil {
			r.halt()
			return fmt.Errorf("where the results end: %w", err)
		}
		for tp, held := range ranges {
			until[tp] = held.HighWatermark
		}
	}
	r.mu.Lock()
	r.until = until
	r.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		r.halt()
	}
	return r.err
}

// halt ends the reader where it is.
func (r *sinkReader) halt() {
	r.mu.Lock()
	r.halted = true
	r.mu.Unlock()
	<-r.done
}
