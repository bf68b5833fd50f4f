package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"millrace/kafkaio"
)

// Defaults of kafkaio.FetchOptions.
const (
	defaultMaxWait        = 100 * time.Millisecond
	defaultPartitionBytes = 1 << 20
	defaultBufferBytes    = 32 << 20

	// leastPartitionBytes is asked for however many partitions share the buffer.
	leastPartitionBytes = 64 << 10
)

// unknownGrace is how long a topic may be unknown before that is an error: a
// broker learns of a new topic a little later than the one that made it.
const unknownGrace = 2 * time.Second

var errClosed = errors.New("the fetcher is closed")

// fetcher implements kafkaio.Fetcher. A loop per leading broker fetches into
// ready; the router gives partitions whose leader is not known to a loop. All
// fields below mu are guarded by it; a loop works on the parts that it took
// without the lock and only looks afterwards whether they still count.
type fetcher struct {
	client  *Client
	options kafkaio.FetchOptions
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	tasks   sync.WaitGroup
	arrived chan struct{} // a run or an error is there
	reroute chan struct{} // a partition has no leader
	held    atomic.Int64  // bytes of runs that are ready or not released
	// heldBack tells that a loop left a partition out because of them.
	heldBack atomic.Bool

	mu       sync.Mutex
	states   []*fetchState // in the order of Assign; loops begin at changing places
	loops    map[int32]*fetchLoop
	ready    []*run
	failures []error
	closed   bool
}

// fetchState is a partition's position. It is replaced, not moved, when the
// owner assigns another position.
type fetchState struct {
	kafkaio.TopicPartition
	next     int64 // to fetch
	consumed int64 // after the last run that Poll returned
	stable   int64 // last reported; -1 before the first report
	leader   int32 // noLeader: the router's to find
	maxBytes int32 // more than usual for a batch that did not fit; else 0
	removed  bool
	failed   bool // an error was reported; silent until it is assigned again
	unknown  time.Time
	held     atomic.Int64 // bytes of runs that are ready or not released
}

const noLeader = -1

// NewFetcher implements kafkaio.Log.
func (c *Client) NewFetcher(options kafkaio.FetchOptions) kafkaio.Fetcher {
	if options.MaxWait <= 0 {
		options.MaxWait = defaultMaxWait
	}
	if options.PartitionBytes <= 0 {
		options.PartitionBytes = defaultPartitionBytes
	}
	if options.BufferBytes <= 0 {
		options.BufferBytes = defaultBufferBytes
	}
	f := &fetcher{
		client:  c,
		options: options,
		arrived: make(chan struct{}, 1),
		reroute: make(chan struct{}, 1),
		loops:   make(map[int32]*fetchLoop),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.tasks.Go(f.route)
	return f
}

// Assign implements kafkaio.Fetcher.
func (f *fetcher) Assign(positions map[kafkaio.TopicPartition]int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := make(map[kafkaio.TopicPartition]bool, len(positions))
	f.states = slices.DeleteFunc(f.states, func(s *fetchState) bool {
		position, ok := positions[s.TopicPartition]
		if ok && position == s.consumed && !s.failed {
			kept[s.TopicPartition] = true
			return false
		}
		s.removed = true
		return true
	})
	for tp, position := range positions {
		if !kept[tp] {
			f.states = append(f.states, &fetchState{
				TopicPartition: tp, next: position, consumed: position, stable: -1, leader: noLeader,
			})
		}
	}
	slices.SortFunc(f.states, func(a, b *fetchState) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	f.ready = slices.DeleteFunc(f.ready, func(r *run) bool {
		if r.state.removed {
			r.Release()
		}
		return r.state.removed
	})
	f.failures = nil
	signal(f.reroute)
	f.wakeLoops()
}

func (f *fetcher) wakeLoops() {
	for _, loop := range f.loops {
		signal(loop.wake)
	}
}

// released lets loops look again at the partitions that they held back.
func (f *fetcher) released() {
	if f.heldBack.Load() && f.heldBack.CompareAndSwap(true, false) {
		f.mu.Lock()
		f.wakeLoops()
		f.mu.Unlock()
	}
}

// signal marks an event that the receiver has not seen yet.
func signal(event chan struct{}) {
	select {
	case event <- struct{}{}:
	default:
	}
}

// Poll implements kafkaio.Fetcher.
func (f *fetcher) Poll(ctx context.Context, wait time.Duration) ([]*kafkaio.Records, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var timer *time.Timer
	for {
		runs, err := f.take()
		if len(runs) > 0 || err != nil || wait <= 0 {
			return runs, err
		}
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		}
		select {
		case <-f.arrived:
		case <-timer.C:
			wait = 0
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-f.ctx.Done():
			return nil, errClosed
		}
	}
}

// take gives what is ready, and an error only when nothing is.
func (f *fetcher) take() ([]*kafkaio.Records, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ready) == 0 {
		if len(f.failures) == 0 {
			return nil, nil
		}
		err := f.failures[0]
		f.failures = f.failures[1:]
		return nil, err
	}
	runs := make([]*kafkaio.Records, len(f.ready))
	for i, r := range f.ready {
		r.state.consumed = r.Next
		runs[i] = &r.Records
		f.ready[i] = nil
	}
	f.ready = f.ready[:0]
	return runs, nil
}

// Close implements kafkaio.Fetcher. Runs that Poll has returned stay valid.
func (f *fetcher) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.tasks.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.ready {
		r.Release()
	}
	f.ready = nil
	return nil
}

// fail reports a partition's error once; the caller holds the lock.
func (f *fetcher) fail(s *fetchState, err error) {
	if s.removed || s.failed {
		return
	}
	s.failed = true
	f.failures = append(f.failures, &kafkaio.PartitionError{TopicPartition: s.TopicPartition, Offset: s.next, Err: err})
	signal(f.arrived)
}

// route finds the leaders of the partitions that have none.
func (f *fetcher) route() {
	var waits backoff
	for {
		select {
		case <-f.reroute:
		case <-f.ctx.Done():
			return
		}
		for f.routeOnce() {
			if sleep(f.ctx, waits.next(nil)) != nil {
				return
			}
		}
		waits = backoff{}
	}
}

// routeOnce tells whether a partition is left without a leader.
func (f *fetcher) routeOnce() bool {
	f.mu.Lock()
	var lost []*fetchState
	for _, s := range f.states {
		if s.leader == noLeader && !s.failed {
			lost = append(lost, s)
		}
	}
	f.mu.Unlock()
	left := false
	for _, s := range lost {
		b, err := f.client.leader(f.ctx, s.TopicPartition)
		f.mu.Lock()
		if err == nil {
			s.leader = b.id
			f.loop(b)
		} else if f.unroutable(s, err) {
			left = true
		}
		f.mu.Unlock()
	}
	return left
}

// unroutable handles an error in finding a leader, and tells whether it may
// pass; the caller holds the lock.
func (f *fetcher) unroutable(s *fetchState, err error) bool {
	switch {
	case f.ctx.Err() != nil:
		return false
	case errors.Is(err, kafkaio.ErrTransient):
		return true
	case errors.Is(err, kafkaio.ErrUnknownTopic):
		if s.unknown.IsZero() {
			s.unknown = time.Now()
		}
		if time.Since(s.unknown) < unknownGrace {
			return true
		}
	}
	f.fail(s, err)
	return false
}

// loop makes sure that the broker has its loop, and wakes it; the caller holds
// the lock.
func (f *fetcher) loop(b *broker) {
	loop := f.loops[b.id]
	if loop == nil {
		if f.closed {
			return
		}
		loop = &fetchLoop{fetcher: f, id: b.id, wake: make(chan struct{}, 1)}
		f.loops[b.id] = loop
		f.tasks.Go(loop.run)
	}
	signal(loop.wake)
}
