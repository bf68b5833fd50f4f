// Package memory is a log in the process' memory, for replays and tests. It has
// no goroutines, clock or randomness of its own: the same calls give the same
// offsets, and a Poll that does not wait returns at once. It holds no
// transaction markers, so a partition's offsets have no gaps, and it neither
// compacts nor expires records, nor refuses timestamps.
package memory

import (
	"context"
	"fmt"
	"sync"

	"millrace/kafkaio"
)

// Log implements kafkaio.Log. Members of groups are not checked: a transaction
// commits the offsets of any generation.
type Log struct {
	mu        sync.Mutex
	topics    map[string]*topic
	lastTopic uint64
	writers   map[string]*writer
	groups    map[string]*group
	changed   chan struct{} // closed when a waiting call should look again
	waiting   int
}

var _ kafkaio.Log = (*Log)(nil)

// writer is what the log knows of a transactional id.
type writer struct {
	epoch       int
	transaction *transaction // nil when none is open
}

// group holds the positions of a consumer group.
type group struct {
	committed map[kafkaio.TopicPartition]int64
	pending   map[kafkaio.TopicPartition]int // open transactions that set the position
}

// New makes an empty log.
func New() *Log {
	return &Log{
		topics:  make(map[string]*topic),
		writers: make(map[string]*writer),
		groups:  make(map[string]*group),
		changed: make(chan struct{}),
	}
}

// Close does nothing: the log lives as long as something refers to it.
func (*Log) Close() error { return nil }

// Fence implements kafkaio.Log.
func (l *Log) Fence(ctx context.Context, transactionalIDs []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range transactionalIDs {
		l.takeOver(id)
	}
	return nil
}

// takeOver raises the epoch of a transactional id and aborts what is open.
func (l *Log) takeOver(id string) *writer {
	w := l.writers[id]
	if w == nil {
		w = &writer{}
		l.writers[id] = w
	}
	w.epoch++
	if w.transaction != nil {
		l.end(w, aborted)
	}
	return w
}

// CommittedOffsets implements kafkaio.Log.
func (l *Log) CommittedOffsets(ctx context.Context, name string, partitions []kafkaio.TopicPartition) (map[kafkaio.TopicPartition]int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("committed offsets of group %s: %w", name, err)
		}
		offsets, stable := l.committedOffsets(name, partitions)
		if stable {
			return offsets, nil
		}
		l.wait(ctx.Done(), nil)
	}
}

func (l *Log) committedOffsets(name string, partitions []kafkaio.TopicPartition) (offsets map[kafkaio.TopicPartition]int64, stable bool) {
	offsets = make(map[kafkaio.TopicPartition]int64, len(partitions))
	g := l.groups[name]
	if g == nil {
		return offsets, true
	}
	for _, tp := range partitions {
		if g.pending[tp] > 0 {
			return nil, false
		}
		if offset, ok := g.committed[tp]; ok {
			offsets[tp] = offset
		}
	}
	return offsets, true
}

// Offsets implements kafkaio.Log.
func (l *Log) Offsets(ctx context.Context, partitions []kafkaio.TopicPartition) (map[kafkaio.TopicPartition]kafkaio.OffsetRange, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ranges := make(map[kafkaio.TopicPartition]kafkaio.OffsetRange, len(partitions))
	for _, tp := range partitions {
		p, err := l.partition(tp)
		if err != nil {
			return nil, err
		}
		ranges[tp] = kafkaio.OffsetRange{Start: p.start, Stable: p.stable(), HighWatermark: p.end()}
	}
	return ranges, nil
}

func (l *Log) partition(tp kafkaio.TopicPartition) (*partition, error) {
	t := l.topics[tp.Topic]
	if t == nil || tp.Partition < 0 || int(tp.Partition) >= len(t.partitions) {
		return nil, &kafkaio.PartitionError{TopicPartition: tp, Offset: -1, Err: kafkaio.ErrUnknownTopic}
	}
	return t.partitions[tp.Partition], nil
}

// notify wakes the calls that wait for a change.
func (l *Log) notify() {
	if l.waiting > 0 {
		close(l.changed)
		l.changed = make(chan struct{})
		l.waiting = 0
	}
}

// wait gives the lock up until notify is called or one of the channels is
// ready, and tells whether it was notify.
func (l *Log) wait(done <-chan struct{}, other <-chan struct{}) bool {
	changed := l.changed
	l.waiting++
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-changed:
		return true
	case <-done:
	case <-other:
	}
	return false
}
