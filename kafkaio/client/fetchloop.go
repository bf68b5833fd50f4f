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

// deliver decodes a partition's answer and makes it ready for Poll.
func (l *fetchLoop) deliver(part *fetchPart, buffer *buffer) {
	if part.code != 0 {
		l.refused(part)
		return
	}
	r, err := l.decode(part, buffer)
	f, s := l.fetcher, part.state
	f.mu.Lock()
	defer f.mu.Unlock()
	s.unknown = time.Time{}
	if s.removed {
		r.discard()
		return
	}
	progress := r.Next != s.next
	if len(part.set) > 0 && !progress && err == nil {
		s.maxBytes = int32(min(kafkaio.BatchLength(part.set), maxAnswer/2))
	} else if progress {
		s.maxBytes = 0
	}
	s.next = r.Next
	if r.Len() > 0 || progress || r.Stable != s.stable {
		s.stable = r.Stable
		r.hold(f, s, buffer, len(part.set))
		f.ready = append(f.ready, r)
		signal(f.arrived)
	} else {
		r.discard()
	}
	if err != nil {
		f.fail(s, err)
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

// decode makes a run of the committed records of an answer. With an error the
// run holds what came before the fault.
func (l *fetchLoop) decode(part *fetchPart, buffer *buffer) (*run, error) {
	r := takeRun()
	r.TopicPartition = part.TopicPartition
	r.Next, r.Stable, r.HighWatermark = part.offset, part.stable, part.highWatermark
	l.filter.Begin(part.aborted)
	set := part.set
	for len(set) > 0 {
		var batch kafkaio.Batch
		rest, complete, err := kafkaio.NextBatch(set, &batch)
		if err != nil {
			return r, err
		}
		if !complete {
			break
		}
		if l.filter.Keep(&batch) && batch.LastOffset() >= part.offset {
			if r.arena, err = batch.AppendTo(&r.Records, part.offset, r.arena); err != nil {
				return r, err
			}
		}
		r.Next = max(r.Next, batch.LastOffset()+1)
		set = rest
	}
	return r, nil
}

// broker gives a known broker by its id, nil if the cluster has none such.
func (c *Client) broker(id int32) *broker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.brokers[id]
}
