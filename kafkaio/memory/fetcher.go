package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"millrace/kafkaio"
)

const defaultPartitionBytes = 1 << 20

// recordOverhead is what a record counts beside its bytes.
const recordOverhead = 88

// fetcher reads straight from the log when it is polled.
type fetcher struct {
	log            *Log
	partitionBytes int64
	positions      []*position // sorted, so that runs come in the same order every time
	closed         chan struct{}
}

// position is where the fetcher stands in a partition.
type position struct {
	kafkaio.TopicPartition
	next       int64
	stable     int64 // last one reported; -1 before the first report
	unreleased atomic.Int64
	failed     bool // an error was reported; silent until it is assigned again
}

// NewFetcher implements kafkaio.Log. A run lends views of the log's own slices:
// its elements must not be overwritten. Only FetchOptions.PartitionBytes counts.
func (l *Log) NewFetcher(options kafkaio.FetchOptions) kafkaio.Fetcher {
	f := &fetcher{log: l, partitionBytes: int64(options.PartitionBytes), closed: make(chan struct{})}
	if f.partitionBytes <= 0 {
		f.partitionBytes = defaultPartitionBytes
	}
	return f
}

// Assign implements kafkaio.Fetcher.
func (f *fetcher) Assign(positions map[kafkaio.TopicPartition]int64) {
	kept := f.positions[:0:0]
	for _, p := range f.positions {
		if next, ok := positions[p.TopicPartition]; ok && next == p.next && !p.failed {
			kept = append(kept, p)
		}
	}
	known := func(tp kafkaio.TopicPartition) bool {
		return slices.ContainsFunc(kept, func(p *position) bool { return p.TopicPartition == tp })
	}
	old := len(kept)
	for tp, next := range positions {
		if old == 0 || !known(tp) {
			kept = append(kept, &position{TopicPartition: tp, next: next, stable: -1})
		}
	}
	slices.SortFunc(kept, func(a, b *position) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	f.positions = kept
}

// Poll implements kafkaio.Fetcher.
func (f *fetcher) Poll(ctx context.Context, wait time.Duration) ([]*kafkaio.Records, error) {
	var deadline <-chan struct{}
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		runs, err := f.collect()
		if len(runs) > 0 || err != nil || wait <= 0 {
			return runs, err
		}
		if deadline == nil {
			waiting, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			deadline = waiting.Done()
		}
		if !f.log.wait(deadline, f.closed) {
			return nil, ctx.Err()
		}
	}
}

// collect reads from every partition; an error waits until there is nothing
// else to return.
func (f *fetcher) collect() ([]*kafkaio.Records, error) {
	var runs []*kafkaio.Records
	var failed *position
	var failure error
	for _, p := range f.positions {
		if p.failed || p.unreleased.Load() >= f.partitionBytes {
			continue
		}
		var err error
		if runs, err = f.read(runs, p); err != nil && failure == nil {
			failed, failure = p, err
		}
	}
	if len(runs) == 0 && failure != nil {
		failed.failed = true
		return nil, failure
	}
	return runs, nil
}

// read appends the runs of one partition: one for each stretch of committed
// records that no aborted record interrupts.
func (f *fetcher) read(runs []*kafkaio.Records, pos *position) ([]*kafkaio.Records, error) {
	p, err := f.log.partition(pos.TopicPartition)
	if err != nil {
		return runs, err
	}
	if pos.next < p.start || pos.next > p.end() {
		return runs, &kafkaio.PartitionError{TopicPartition: pos.TopicPartition, Offset: pos.next, Err: kafkaio.ErrOffsetOutOfRange}
	}
	stable, before := p.stable(), pos.next
	first := len(runs)
	budget := f.partitionBytes
	for index := p.spanAt(pos.next); pos.next < stable && budget > 0; {
		end := p.spanEnd(index)
		if p.spans[index].transaction.state == aborted {
			pos.next = min(end, stable)
			index++
			continue
		}
		for index++; end < stable && p.spans[index].transaction.state == committed; index++ {
			end = p.spanEnd(index)
		}
		var run *kafkaio.Records
		run, budget = p.run(pos.next, min(end, stable), budget)
		pos.next = run.Next
		runs = append(runs, run)
	}
	switch {
	case len(runs) > first:
		runs[len(runs)-1].Next = pos.next
	case pos.next != before || pos.stable != stable:
		runs = append(runs, &kafkaio.Records{Next: pos.next})
	}
	pos.stable = stable
	for _, run := range runs[first:] {
		run.TopicPartition, run.Stable, run.HighWatermark = pos.TopicPartition, stable, p.end()
		lend(run, pos)
	}
	return runs, nil
}

// run is a view of the records in [from, to), as far as the budget reaches.
func (p *partition) run(from, to, budget int64) (*kafkaio.Records, int64) {
	i := int(from - p.base)
	j := i
	for last := int(to - p.base); j < last && budget > 0; j++ {
		budget -= recordBytes(p.keys[j], p.values[j], p.headers[j])
	}
	return &kafkaio.Records{
		Offsets:    p.offsets[i:j:j],
		Timestamps: p.timestamps[i:j:j],
		Keys:       p.keys[i:j:j],
		Values:     p.values[i:j:j],
		Headers:    p.headers[i:j:j],
		Next:       p.base + int64(j),
	}, budget
}

func recordBytes(key, value, headers []byte) int64 {
	return int64(recordOverhead + len(key) + len(value) + len(headers))
}

// lend counts the run against its partition until it is released.
func lend(run *kafkaio.Records, pos *position) {
	var size int64
	for i := range run.Keys {
		size += recordBytes(run.Keys[i], run.Values[i], run.Headers[i])
	}
	if size > 0 {
		pos.unreleased.Add(size)
		run.OnRelease(func(*kafkaio.Records) { pos.unreleased.Add(-size) })
	}
}

// Close implements kafkaio.Fetcher.
func (f *fetcher) Close() error {
	select {
	case <-f.closed:
	default:
		close(f.closed)
	}
	return nil
}
