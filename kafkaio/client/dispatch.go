package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"millrace/kafkaio"
)

// dispatch sends sealed batches until the session ends: it adds new partitions
// to the transaction and starts one request for each broker that has none.
func (s *session) dispatch() {
	for {
		again := s.dispatchOnce()
		var timer <-chan time.Time
		if again > 0 {
			timer = time.After(again)
		}
		select {
		case <-s.work:
		case <-timer:
		case <-s.ctx.Done():
			return
		}
	}
}

// dispatchOnce starts what can be started and tells when to look again, 0 for
// not before something happens.
func (s *session) dispatchOnce() (again time.Duration) {
	ready, toAdd, again := s.pending()
	if len(toAdd) > 0 {
		if err := s.add(toAdd); err != nil {
			return 0
		}
	}
	requests := make(map[*broker][]*partitionWriter)
	for _, w := range ready {
		b, err := s.client.leader(s.ctx, w.TopicPartition)
		if err != nil {
			s.mu.Lock()
			again = sooner(again, s.failedAttempt(w, err))
			s.mu.Unlock()
			continue
		}
		requests[b] = append(requests[b], w)
	}
	for b, writers := range requests {
		s.start(b, writers)
	}
	return again
}

// sooner is the shorter of two waits, where 0 means none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// pending gives the partitions that have something to send, those of the
// transaction that the coordinator does not know of, if one of them is ready,
// and when the next one that waits will be ready.
func (s *session) pending() (ready, toAdd []*partitionWriter, again time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.dropping {
		return nil, nil, 0
	}
	now := time.Now()
	add := false
	for _, w := range s.touched {
		if len(w.queue) == 0 || w.inFlight {
			continue
		}
		if wait := w.retryAt.Sub(now); wait > 0 {
			again = sooner(again, wait)
			continue
		}
		ready = append(ready, w)
		add = add || !w.added
	}
	if add {
		// Partitions whose batches are still being filled go along: they will
		// be written too, and one request is enough for all.
		for _, w := range s.touched {
			if !w.added {
				toAdd = append(toAdd, w)
			}
		}
		s.adding = true
	}
	return ready, toAdd, again
}

// add makes partitions part of the transaction.
func (s *session) add(writers []*partitionWriter) error {
	partitions := make([]kafkaio.TopicPartition, len(writers))
	for i, w := range writers {
		partitions[i] = w.TopicPartition
	}
	// From the first attempt on the coordinator may know of the transaction.
	s.begun.Store(true)
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	begin := time.Now()
	err := retryWhile(ctx, func() error { return s.addPartitions(ctx, partitions) }, func(err error) bool {
		return errors.Is(err, kafkaio.ErrUnknownTopic) && time.Since(begin) < unknownGrace
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adding = false
	signal(s.progress)
	if err != nil {
		if s.ctx.Err() == nil {
			s.setError(fmt.Errorf("add partitions to the transaction: %w", err))
		}
		return err
	}
	for _, w := range writers {
		w.added = true
	}
	return nil
}

// start sends one batch of each partition to the broker, unless it is busy.
func (s *session) start(b *broker, writers []*partitionWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[b] || s.err != nil || s.dropping {
		return
	}
	request := &produceRequest{
		clientID: s.client.options.ClientID, transactionalID: s.transactionalID, timeout: s.client.options.RequestTimeout,
	}
	size := 0
	for _, w := range writers {
		if len(w.queue) == 0 || w.inFlight || !w.added {
			continue // the transaction was dropped meanwhile
		}
		first := w.queue[0]
		if size += first.encoder.Len(); size > queueBytes && len(request.parts) > 0 {
			break
		}
		if first.encoded == nil {
			first.sequence = w.sequence
			w.sequence = advance(w.sequence, first.encoder.Count())
		}
		w.inFlight = true
		s.inFlight++
		request.parts = append(request.parts, producePart{writer: w, source: first})
	}
	if len(request.parts) > 0 {
		s.busy[b] = true
		go s.send(b, request)
	}
}

// send does one exchange and settles its batches.
func (s *session) send(b *broker, request *produceRequest) {
	err := s.encode(request)
	if err == nil {
		// The broker may take the whole time-out; the answer needs its way.
		_, err = b.exchange(s.ctx, s.client.options.RequestTimeout+s.client.options.DialTimeout, request)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, b)
	for i := range request.parts {
		part := &request.parts[i]
		part.writer.inFlight = false
		s.inFlight--
		if err != nil {
			part.source.abandoned = true
			s.failedAttempt(part.writer, err)
			continue
		}
		s.settle(part.writer, part)
	}
	signal(s.work)
	signal(s.progress)
}

func (s *session) encode(request *produceRequest) error {
	for i := range request.parts {
		part := &request.parts[i]
		if err := s.finish(part.source); err != nil {
			return err
		}
		part.batch = part.source.encoded
	}
	return nil
}

// settle handles a partition's answer; the caller holds the lock.
func (s *session) settle(w *partitionWriter, part *producePart) {
	switch {
	case !part.answered:
		s.failedAttempt(w, codeErr(codeLeaderNotAvailable))
	case part.code == 0, part.code == codeDuplicateSequence:
		acknowledged := w.queue[0]
		s.remove(w)
		acknowledged.recycle()
		w.waits, w.retryAt, w.unknown = backoff{}, time.Time{}, time.Time{}
	case part.code == codeMessageTooLarge && w.queue[0].encoder.Count() > 1:
		if err := s.split(w); err != nil {
			s.setError(err)
		}
	default:
		s.failedAttempt(w, &codeError{code: part.code, message: part.message})
	}
}

// remove takes the first batch off the queue.
func (s *session) remove(w *partitionWriter) {
	s.batches--
	s.queued -= w.queue[0].encoder.Len()
	w.queue[0] = nil
	if w.queue = w.queue[1:]; len(w.queue) == 0 {
		w.queue = nil
	}
}

// failedAttempt decides whether a partition is tried again, and tells when; the
// caller holds the lock. The bytes that are sent again are the same, so that a
// broker which has them already knows them by their sequence number.
func (s *session) failedAttempt(w *partitionWriter, err error) (again time.Duration) {
	if s.ctx.Err() != nil || len(w.queue) == 0 {
		return 0
	}
	s.client.forgetTopic(w.Topic)
	passes := errors.Is(err, kafkaio.ErrTransient)
	if errors.Is(err, kafkaio.ErrUnknownTopic) {
		if w.unknown.IsZero() {
			w.unknown = time.Now()
		}
		passes = time.Since(w.unknown) < unknownGrace
	}
	if waited := time.Since(w.queue[0].sealed); passes && waited > s.timeout {
		err = fmt.Errorf("not acknowledged for %v: %w", waited.Round(time.Millisecond), err)
		passes = false
	}
	if !passes || s.dropping {
		s.setError(&kafkaio.PartitionError{TopicPartition: w.TopicPartition, Offset: -1, Err: err})
		return 0
	}
	again = w.waits.next(err)
	w.retryAt = time.Now().Add(again)
	return again
}

// split replaces the first batch by two of half its records with the same
// sequence numbers: the topic takes only smaller ones. The caller holds the lock.
func (s *session) split(w *partitionWriter) error {
	var header kafkaio.Batch
	var records kafkaio.Records
	whole := w.queue[0]
	if _, complete, err := kafkaio.NextBatch(whole.encoded, &header); err != nil || !complete {
		return fmt.Errorf("split a batch that is too large: complete %t: %w", complete, err)
	}
	if _, err := header.AppendTo(&records, 0, nil); err != nil {
		return fmt.Errorf("split a batch that is too large: %w", err)
	}
	half := records.Len() / 2
	halves := make([]*batch, 2)
	for i, limits := range [][2]int{{0, half}, {half, records.Len()}} {
		part := &batch{sealed: whole.sealed, sequence: advance(whole.sequence, int32(limits[0]))}
		for j := limits[0]; j < limits[1]; j++ {
			part.encoder.Append(records.Timestamps[j], records.Keys[j], records.Values[j], records.Headers[j])
		}
		if err := s.finish(part); err != nil {
			return err
		}
		halves[i] = part
	}
	s.remove(w)
	w.queue = slices.Insert(w.queue, 0, halves...)
	s.batches += 2
	s.queued += halves[0].encoder.Len() + halves[1].encoder.Len()
	return nil
}
