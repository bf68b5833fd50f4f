package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"millrace/kafkaio"
)

// queueBytes is how much may wait to be sent and acknowledged before Append
// waits too.
const queueBytes = 16 << 20

// session is a producer id and epoch with the transaction that is open. The
// owner's goroutine fills batches without a lock; sealed ones are the
// dispatcher's and guarded by mu.
type session struct {
	client          *Client
	transactionalID string
	timeout         time.Duration
	compression     kafkaio.Compression
	id              int64
	epoch           int16
	ctx             context.Context // ends with the session
	cancel          context.CancelFunc

	// The owner's alone.
	writers map[kafkaio.TopicPartition]*partitionWriter
	last    *partitionWriter
	groups  map[string]bool // whose offsets are part of the transaction

	begun    atomic.Bool // the coordinator knows of the transaction
	failed   atomic.Bool // err is set
	work     chan struct{}
	progress chan struct{} // something was acknowledged or failed

	mu         sync.Mutex
	dispatcher bool // it runs
	adding     bool // partitions are being added to the transaction
	dropping   bool // the transaction is given up: nothing new is sent
	err        error
	touched    []*partitionWriter // in the transaction, sent or not
	queued     int                // bytes sealed and not acknowledged
	batches    int                // number of the same
	inFlight   int                // batches being sent
	busy       map[*broker]bool   // one request at a time
}

// partitionWriter is the session's state of a partition.
type partitionWriter struct {
	kafkaio.TopicPartition
	open     *batch // the owner's
	lastSize int    // of the batch before, the owner's

	// Guarded by the session's mu.
	queue    []*batch // in order; the first may be in flight
	inFlight bool
	added    bool // to the transaction
	touched  bool
	sequence int32 // of the next batch that is sent for the first time
	retryAt  time.Time
	waits    backoff
	unknown  time.Time // since when the topic is not known
}

// batch is one batch from its first record to its acknowledgement.
type batch struct {
	encoder  kafkaio.BatchEncoder
	encoded  []byte // set when it is sent first, and then never changed
	sequence int32
	sealed   time.Time
	// abandoned: a connection that failed may still be reading encoded.
	abandoned bool
}

var batches = sync.Pool{New: func() any { return &batch{} }}

func newSession(c *Client, options kafkaio.ProducerOptions, id int64, epoch int16) *session {
	s := &session{
		client:          c,
		transactionalID: options.TransactionalID,
		timeout:         options.Timeout,
		compression:     options.Compression,
		id:              id,
		epoch:           epoch,
		writers:         make(map[kafkaio.TopicPartition]*partitionWriter),
		groups:          make(map[string]bool),
		work:            make(chan struct{}, 1),
		progress:        make(chan struct{}, 1),
		busy:            make(map[*broker]bool),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

func (s *session) stop() { s.cancel() }

func (s *session) writer(to kafkaio.TopicPartition) *partitionWriter {
	w := s.writers[to]
	if w == nil {
		w = &partitionWriter{TopicPartition: to}
		s.writers[to] = w
	}
	s.last = w
	return w
}

// begin opens a batch and makes the partition part of the transaction.
func (s *session) begin(w *partitionWriter) {
	w.open = batches.Get().(*batch)
	w.open.encoder.Grow(w.lastSize)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.touched {
		w.touched = true
		s.touched = append(s.touched, w)
	}
}

// seal hands the open batch to the dispatcher, and waits while too much is
// queued.
func (s *session) seal(ctx context.Context, w *partitionWriter) error {
	w.lastSize = w.open.encoder.Len()
	s.mu.Lock()
	w.open.sealed = time.Now()
	w.queue = append(w.queue, w.open)
	s.batches++
	s.queued += w.open.encoder.Len()
	w.open = nil
	if !s.dispatcher {
		s.dispatcher = true
		go s.dispatch()
	}
	s.mu.Unlock()
	signal(s.work)
	return s.await(ctx, func() bool { return s.queued <= queueBytes })
}

// await waits until done, which is called with the lock held, or until the
// session fails.
func (s *session) await(ctx context.Context, done func() bool) error {
	for {
		s.mu.Lock()
		ready, err := done(), s.err
		s.mu.Unlock()
		if err != nil || ready {
			return err
		}
		select {
		case <-s.progress:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ctx.Done():
			return errNotInitialised
		}
	}
}

// flush seals all open batches and waits for all acknowledgements.
func (s *session) flush(ctx context.Context) error {
	s.mu.Lock()
	touched := s.touched
	s.mu.Unlock()
	for _, w := range touched {
		if w.open != nil {
			if err := s.seal(ctx, w); err != nil {
				return err
			}
		}
	}
	return s.await(ctx, func() bool { return s.batches == 0 })
}

// drop gives up what was not sent and waits for what is being sent. It tells
// whether the sequences are whole, so that the session can go on.
func (s *session) drop(ctx context.Context) (clean bool, err error) {
	s.mu.Lock()
	if errors.Is(s.err, kafkaio.ErrFenced) {
		defer s.mu.Unlock()
		return false, s.err
	}
	s.dropping = true
	for _, w := range s.touched {
		if w.open != nil {
			w.open.recycle()
			w.open = nil
		}
		keep := 0
		if w.inFlight {
			keep = 1
		}
		for _, dropped := range w.queue[keep:] {
			s.batches--
			s.queued -= dropped.encoder.Len()
			if dropped.encoded != nil && s.err == nil {
				s.setError(errNotAcknowledged)
			}
		}
		clear(w.queue[keep:])
		w.queue = w.queue[:keep]
	}
	s.mu.Unlock()
	for {
		s.mu.Lock()
		idle, failure := s.inFlight == 0 && !s.adding, s.err
		s.mu.Unlock()
		if errors.Is(failure, kafkaio.ErrFenced) {
			return false, failure
		}
		if idle {
			return failure == nil, nil
		}
		select {
		case <-s.progress:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

var errNotAcknowledged = errors.New("a batch was not acknowledged")

// reset begins anew after the end of a transaction.
func (s *session) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.touched {
		w.touched, w.added = false, false
	}
	s.touched = s.touched[:0]
	s.dropping = false
	s.begun.Store(false)
	clear(s.groups)
}

// setError keeps the first error; the caller holds the lock.
func (s *session) setError(err error) {
	if s.err == nil || errors.Is(err, kafkaio.ErrFenced) && !errors.Is(s.err, kafkaio.ErrFenced) {
		s.err = err
	}
	s.failed.Store(true)
	signal(s.progress)
}

func (s *session) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// failCall keeps an error of one of the owner's calls, unless only its context
// ended, and returns it.
func (s *session) failCall(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setError(err)
	return err
}

// advance moves a sequence number on; they wrap to 0.
func advance(sequence, count int32) int32 {
	if sequence > math.MaxInt32-count {
		return count - (math.MaxInt32 - sequence) - 1
	}
	return sequence + count
}

// finish encodes a batch with the next sequence number, the first time that it
// is sent. The caller is the only one who has the batch.
func (s *session) finish(b *batch) error {
	if b.encoded != nil {
		return nil
	}
	encoded, err := b.encoder.Finish(s.compression, kafkaio.BatchProducer{
		ID: s.id, Epoch: s.epoch, BaseSequence: b.sequence, Transactional: true,
	})
	if err != nil {
		return fmt.Errorf("encode batch: %w", err)
	}
	b.encoded = encoded
	return nil
}

// largestPooledBatch is the capacity over which a batch's buffers are left to
// the garbage collector.
const largestPooledBatch = 4 << 20

// recycle returns an acknowledged batch to the pool.
func (b *batch) recycle() {
	if b.abandoned || b.encoder.Capacity() > largestPooledBatch {
		return
	}
	b.encoder.Reset()
	b.encoded = nil
	batches.Put(b)
}
