package client

import (
	"errors"
	"time"

	"millrace/kafkaio"
)

// fetchLoop fetches from one broker, one request after the other. It decodes
// an answer while the owner works on the one before.
type fetchLoop struct {
	fetcher *fetcher
	id      int32
	wake    chan struct{}
	turn    int // where the next request begins among the partitions
	request *fetchRequest
	filter  kafkaio.CommittedFilter
	waits   backoff
}

// heldBackWait replaces FetchOptions.MaxWait while a partition is left out
// because its runs are not released: it must not wait for the others' data.
const heldBackWait = 10 * time.Millisecond

func (l *fetchLoop) run() {
	for {
		wait := l.prepare()
		if len(l.request.parts) == 0 {
			select {
			case <-l.wake:
			case <-l.fetcher.ctx.Done():
				return
			}
			continue
		}
		if err := l.fetch(wait); err != nil {
			if l.fetcher.ctx.Err() != nil {
				return
			}
			l.lost()
			if sleep(l.fetcher.ctx, l.waits.next(err)) != nil {
				return
			}
			continue
		}
		l.waits = backoff{}
	}
}

// prepare fills the request with the partitions that may be fetched, beginning
// with another one each time: brokers serve them in order, up to a limit.
func (l *fetchLoop) prepare() (wait time.Duration) {
	if l.request == nil {
		l.request = &fetchRequest{clientID: l.fetcher.client.options.ClientID}
	}
	f, request := l.fetcher, l.request
	f.mu.Lock()
	defer f.mu.Unlock()
	request.parts = request.parts[:0]
	wait = f.options.MaxWait
	count := len(f.states)
	if count == 0 {
		return wait
	}
	share := int64(max(f.options.BufferBytes/count, f.options.PartitionBytes))
	usual := int32(min(f.options.PartitionBytes, max(f.options.BufferBytes/count, leastPartitionBytes)))
	asked := f.held.Load()
	l.turn++
	for i := range count {
		s := f.states[(i+l.turn)%count]
		if s.leader != l.id || s.failed {
			continue
		}
		// A partition of which nothing is held is always fetched, so that those
		// that the owner does not read now cannot stop the others.
		if held := s.held.Load(); held > 0 && (held >= share || asked >= int64(f.options.BufferBytes)) {
			wait = min(wait, heldBackWait)
			f.heldBack.Store(true)
			continue
		}
		l.add(s, max(usual, s.maxBytes))
		asked += int64(usual)
	}
	return wait
}

func (l *fetchLoop) add(s *fetchState, maxBytes int32) {
	parts := l.request.parts
	if len(parts) < cap(parts) {
		parts = parts[:len(parts)+1] // keeps the list of aborted transactions
	} else {
		parts = append(parts, fetchPart{})
	}
	part := &parts[len(parts)-1]
	part.TopicPartition, part.offset, part.maxBytes, part.state = s.TopicPartition, s.next, maxBytes, s
	l.request.parts = parts
}

// fetch does one exchange and hands over what came.
func (l *fetchLoop) fetch(wait time.Duration) error {
	f, request := l.fetcher, l.request
	b := f.client.broker(l.id)
	if b == nil {
		return codeErr(codeLeaderNotAvailable)
	}
	request.maxWait = wait
	request.maxBytes = 0
	for i := range request.parts {
		request.maxBytes += min(request.parts[i].maxBytes, maxAnswer/2-request.maxBytes)
	}
	buffer := takeBuffer()
	request.body = buffer.bytes
	_, err := b.exchange(f.ctx, wait+f.client.options.RequestTimeout/2, request)
	if err != nil {
		l.request = nil // the connection may still use it, and the buffer
		return l.keepParts(request, err)
	}
	buffer.bytes, request.body = request.body, nil
	buffer.users.Store(1)
	for i := range request.parts {
		l.deliver(&request.parts[i], buffer)
		request.parts[i].state, request.parts[i].set = nil, nil
	}
	buffer.done()
	return nil
}

// keepParts leaves the partitions of a failed request for lost to see.
func (l *fetchLoop) keepParts(failed *fetchRequest, err error) error {
	parts := make([]fetchPart, len(failed.parts))
	for i := range parts {
		parts[i].state = failed.parts[i].state
	}
	l.request = &fetchRequest{clientID: failed.clientID, parts: parts}
	return err
}

// lost sends the request's partitions back to the router.
func (l *fetchLoop) lost() {
	f := l.fetcher
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range l.request.parts {
		if s := l.request.parts[i].state; s != nil {
			f.client.forgetTopic(s.Topic)
			s.leader = noLeader
		}
	}
	signal(f.reroute)
}

// runBytes is how much is decompressed for one run; an answer that unpacks to
// more becomes several.
const runBytes = 4 << 20

// deliver decodes a partition's answer and makes it ready for Poll.
func (l *fetchLoop) deliver(part *fetchPart, buffer *buffer) {
	if part.code != 0 {
		l.refused(part)
		return
	}
	l.filter.Begin(part.aborted)
	next := part.offset
	for set := part.set; ; {
		r, rest, err := l.decode(part, set, next)
		next = r.Next
		l.publish(part, r, len(set)-len(rest), buffer)
		if err != nil {
			l.fetcher.mu.Lock()
			l.fetcher.fail(part.state, err)
			l.fetcher.mu.Unlock()
			return
		}
		if len(rest) == 0 {
			return
		}
		set = rest
	}
}

// publish makes a run ready, unless it brings nothing new; size is that of its
// batches.
func (l *fetchLoop) publish(part *fetchPart, r *run, size int, buffer *buffer) {
	f, s := l.fetcher, part.state
	f.mu.Lock()
	defer f.mu.Unlock()
	s.unknown = time.Time{}
	next := r.Next // r is another's as soon as it is ready or discarded
	progress := next != s.next
	if s.removed || r.Len() == 0 && !progress && r.Stable == s.stable {
		r.discard()
	} else {
		s.stable = r.Stable
		r.hold(f, s, buffer, size)
		f.ready = append(f.ready, r)
		signal(f.arrived)
	}
	if s.removed {
		return
	}
	s.next = next
	if next != part.offset {
		s.maxBytes = 0
	} else if size > 0 {
		s.maxBytes = int32(min(kafkaio.BatchLength(part.set), maxAnswer/2))
	}
}

// refused handles a partition's error code.
func (l *fetchLoop) refused(part *fetchPart) {
	f, err := l.fetcher, codeErr(part.code)
	transient := errors.Is(err, kafkaio.ErrTransient)
	f.mu.Lock()
	defer f.mu.Unlock()
	if transient || part.code == codeUnknownTopic && f.unroutable(part.state, err) {
		f.client.forgetTopic(part.Topic)
		part.state.leader = noLeader
		time.AfterFunc(firstWait, func() { signal(f.reroute) })
		return
	}
	f.fail(part.state, err)
}

// decode makes a run of the committed records from an offset on, up to runBytes,
// and gives the batches that are left. With an error the run holds what came
// before the fault.
func (l *fetchLoop) decode(part *fetchPart, set []byte, from int64) (r *run, rest []byte, err error) {
	r = takeRun()
	r.TopicPartition = part.TopicPartition
	r.Next, r.Stable, r.HighWatermark = from, part.stable, part.highWatermark
	for len(set) > 0 && len(r.arena) < runBytes {
		var batch kafkaio.Batch
		rest, complete, err := kafkaio.NextBatch(set, &batch)
		if err != nil {
			return r, nil, err
		}
		if !complete {
			return r, nil, nil
		}
		if l.filter.Keep(&batch) && batch.LastOffset() >= from {
			if r.arena, err = batch.AppendTo(&r.Records, from, r.arena); err != nil {
				return r, nil, err
			}
		}
		r.Next = max(r.Next, batch.LastOffset()+1)
		set = rest
	}
	return r, set, nil
}

// broker gives a known broker by its id, nil if the cluster has none such.
func (c *Client) broker(id int32) *broker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.brokers[id]
}
