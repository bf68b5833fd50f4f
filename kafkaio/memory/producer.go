package memory

import (
	"context"
	"errors"
	"fmt"

	"millrace/kafkaio"
)

// How a transaction stands.
const (
	open = iota
	committed
	aborted
)

// transaction is the unit that becomes visible as a whole.
type transaction struct {
	state      int
	partitions []*partition
	offsets    map[string]map[kafkaio.TopicPartition]int64 // by group
}

// join adds the partition and tells whether it is new to the transaction.
func (t *transaction) join(p *partition) bool {
	for _, known := range t.partitions {
		if known == p {
			return false
		}
	}
	t.partitions = append(t.partitions, p)
	return true
}

// end closes the writer's transaction.
func (l *Log) end(w *writer, state int) {
	t := w.transaction
	w.transaction = nil
	t.state = state
	for _, p := range t.partitions {
		p.closed(t)
	}
	for name, positions := range t.offsets {
		g := l.groups[name]
		for tp, offset := range positions {
			if g.pending[tp]--; g.pending[tp] == 0 {
				delete(g.pending, tp)
			}
			if state == committed {
				g.committed[tp] = offset
			}
		}
	}
	t.partitions, t.offsets = nil, nil
	l.notify()
}

type producer struct {
	log    *Log
	id     string
	epoch  int
	writer *writer // nil before Init
}

// NewProducer implements kafkaio.Log. Records are in the log at once, where
// other producers' records follow them, and are visible after Commit.
func (l *Log) NewProducer(options kafkaio.ProducerOptions) kafkaio.Producer {
	return &producer{log: l, id: options.TransactionalID}
}

var errNotInitialised = errors.New("the producer was not initialised")

// Init implements kafkaio.Producer.
func (p *producer) Init(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	p.writer = p.log.takeOver(p.id)
	p.epoch = p.writer.epoch
	return nil
}

// current checks that the producer may write; the caller holds the lock.
func (p *producer) current() error {
	if p.writer == nil {
		return errNotInitialised
	}
	if p.writer.epoch != p.epoch {
		return fmt.Errorf("transactional id %s: %w", p.id, kafkaio.ErrFenced)
	}
	return nil
}

func (p *producer) transaction() *transaction {
	if p.writer.transaction == nil {
		p.writer.transaction = &transaction{}
	}
	return p.writer.transaction
}

// Append implements kafkaio.Producer.
func (p *producer) Append(_ context.Context, to kafkaio.TopicPartition, timestamp int64, key, value, headers []byte) error {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	if err := p.current(); err != nil {
		return err
	}
	target, err := p.log.partition(to)
	if err != nil {
		return err
	}
	if size := kafkaio.RecordSize(key, value, headers); size > p.log.topics[to.Topic].messageBytes {
		return &kafkaio.PartitionError{TopicPartition: to, Offset: -1, Err: fmt.Errorf("%w: %d bytes", kafkaio.ErrRecordTooLarge, size)}
	}
	target.append(p.transaction(), timestamp, key, value, headers)
	return nil
}

// SendOffsets implements kafkaio.Producer.
func (p *producer) SendOffsets(_ context.Context, of kafkaio.Group, positions map[kafkaio.TopicPartition]int64) error {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	if err := p.current(); err != nil {
		return err
	}
	g := p.log.groups[of.Name]
	if g == nil {
		g = &group{
			committed: make(map[kafkaio.TopicPartition]int64),
			pending:   make(map[kafkaio.TopicPartition]int),
		}
		p.log.groups[of.Name] = g
	}
	t := p.transaction()
	if t.offsets == nil {
		t.offsets = make(map[string]map[kafkaio.TopicPartition]int64)
	}
	sent := t.offsets[of.Name]
	if sent == nil {
		sent = make(map[kafkaio.TopicPartition]int64, len(positions))
		t.offsets[of.Name] = sent
	}
	for tp, offset := range positions {
		if _, again := sent[tp]; !again {
			g.pending[tp]++
		}
		sent[tp] = offset
	}
	return nil
}

// Flush implements kafkaio.Producer.
func (p *producer) Flush(context.Context) error {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return p.current()
}

// Commit implements kafkaio.Producer.
func (p *producer) Commit(ctx context.Context) error { return p.end(ctx, committed) }

// Abort implements kafkaio.Producer.
func (p *producer) Abort(ctx context.Context) error { return p.end(ctx, aborted) }

func (p *producer) end(ctx context.Context, state int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	if err := p.current(); err != nil {
		return err
	}
	if p.writer.transaction != nil {
		p.log.end(p.writer, state)
	}
	return nil
}

// Close implements kafkaio.Producer. As with a cluster, an open transaction
// stays open until somebody initialises the transactional id.
func (*producer) Close() error { return nil }
