package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/kafkaio"
)

// Defaults and limits of a producer.
const (
	defaultTransactionTimeout = time.Minute
	defaultBatchBytes         = 512 << 10
	// largestBatch keeps a batch of several records below max.message.bytes,
	// which is 1 MiB unless it was changed.
	largestBatch = 900_000
	// largestRecord is what is sent at all; beyond it brokers close the
	// connection (socket.request.max.bytes is 100 MiB) instead of answering.
	largestRecord = 64 << 20
)

var errNotInitialised = errors.New("the producer was not initialised")

// producer implements kafkaio.Producer. What belongs to a producer id and
// epoch is in the session, which Init replaces: what comes back late for an
// old one then concerns nobody.
type producer struct {
	client  *Client
	options kafkaio.ProducerOptions
	session *session
}

// NewProducer implements kafkaio.Log.
func (c *Client) NewProducer(options kafkaio.ProducerOptions) kafkaio.Producer {
	if options.Timeout <= 0 {
		options.Timeout = defaultTransactionTimeout
	}
	if options.BatchBytes <= 0 {
		options.BatchBytes = defaultBatchBytes
	}
	options.BatchBytes = min(options.BatchBytes, largestBatch)
	return &producer{client: c, options: options}
}

// Init implements kafkaio.Producer.
func (p *producer) Init(ctx context.Context) error { return p.init(ctx, -1, -1) }

func (p *producer) init(ctx context.Context, id int64, epoch int16) error {
	p.stop()
	request := initRequest(p.options.TransactionalID, p.options.Timeout, id, epoch)
	id, epoch, err := p.client.initProducer(ctx, request)
	if err != nil {
		return err
	}
	p.session = newSession(p.client, p.options, id, epoch)
	return nil
}

func (p *producer) stop() {
	if p.session != nil {
		p.session.stop()
		p.session = nil
	}
}

// Append implements kafkaio.Producer.
func (p *producer) Append(ctx context.Context, to kafkaio.TopicPartition, timestamp int64, key, value, headers []byte) error {
	s := p.session
	if s == nil {
		return errNotInitialised
	}
	if s.failed.Load() {
		return s.failure()
	}
	size := kafkaio.RecordSize(key, value, headers)
	if size > largestRecord {
		return &kafkaio.PartitionError{TopicPartition: to, Offset: -1, Err: fmt.Errorf("%w: %d bytes", kafkaio.ErrRecordTooLarge, size)}
	}
	w := s.last
	if w == nil || w.TopicPartition != to {
		w = s.writer(to)
	}
	if w.open != nil && w.open.encoder.Len()+size > largestBatch {
		if err := s.seal(ctx, w); err != nil {
			return err
		}
	}
	if w.open == nil {
		s.begin(w)
	}
	w.open.encoder.Append(timestamp, key, value, headers)
	if w.open.encoder.Len() >= p.options.BatchBytes {
		return s.seal(ctx, w)
	}
	return nil
}

// SendOffsets implements kafkaio.Producer.
func (p *producer) SendOffsets(ctx context.Context, group kafkaio.Group, positions map[kafkaio.TopicPartition]int64) error {
	s := p.session
	if s == nil {
		return errNotInitialised
	}
	if s.failed.Load() {
		return s.failure()
	}
	if len(positions) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if !s.groups[group.Name] {
		if err := s.addGroup(ctx, group.Name); err != nil {
			return s.failCall(fmt.Errorf("add group %s to the transaction: %w", group.Name, err))
		}
		s.groups[group.Name] = true
		s.begun.Store(true)
	}
	if err := s.commitOffsets(ctx, group, positions); err != nil {
		return s.failCall(fmt.Errorf("offsets of group %s: %w", group.Name, err))
	}
	return nil
}

// Flush implements kafkaio.Producer.
func (p *producer) Flush(ctx context.Context) error {
	if p.session == nil {
		return errNotInitialised
	}
	return p.session.flush(ctx)
}

// Commit implements kafkaio.Producer. It waits for the cluster up to the
// transaction's time-out, not longer, however long ctx lasts.
func (p *producer) Commit(ctx context.Context) error {
	s := p.session
	if s == nil {
		return errNotInitialised
	}
	if err := s.flush(ctx); err != nil {
		return p.giveUp(ctx, err)
	}
	if !s.begun.Load() {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.endTransaction(bounded, true); err != nil {
		return s.failCall(fmt.Errorf("commit of transactional id %s: %w", s.transactionalID, err))
	}
	s.reset()
	return nil
}

// giveUp aborts a transaction that could not be written.
func (p *producer) giveUp(ctx context.Context, cause error) error {
	if errors.Is(cause, kafkaio.ErrFenced) || ctx.Err() != nil {
		return cause
	}
	if err := p.Abort(ctx); err != nil {
		return fmt.Errorf("%w; the abort failed too: %w", cause, err)
	}
	return fmt.Errorf("%w: %w", kafkaio.ErrAborted, cause)
}

// Abort implements kafkaio.Producer.
func (p *producer) Abort(ctx context.Context) error {
	s := p.session
	if s == nil {
		return errNotInitialised
	}
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	clean, err := s.drop(bounded)
	if err != nil {
		return err
	}
	if s.begun.Load() {
		err := s.endTransaction(bounded, false)
		if hasCode(err, codeInvalidTransactionState) {
			// What should have begun it was refused. The new epoch is too, if
			// it was another holder who ended the transaction.
			clean = false
		} else if err != nil {
			return s.failCall(fmt.Errorf("abort of transactional id %s: %w", s.transactionalID, err))
		}
	}
	if clean {
		s.reset()
		return nil
	}
	// Batches are missing in the sequence: a new epoch begins a new one.
	return p.init(bounded, s.id, s.epoch)
}

// Close implements kafkaio.Producer. An open transaction stays open until its
// time-out or until somebody initialises the transactional id.
func (p *producer) Close() error {
	p.stop()
	return nil
}
