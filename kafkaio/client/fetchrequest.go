package client

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/protocol"

	"millrace/kafkaio"
)

// fetchRequest is a Fetch of version 11 without a session. The batches of the
// answer stay bytes, in a buffer that the request is given.
type fetchRequest struct {
	clientID string
	maxWait  time.Duration
	maxBytes int32
	parts    []fetchPart // all led by the broker that is asked
	body     []byte      // filled by the answer; its capacity is reused

	encoder encoder
}

// fetchPart is a partition to read, filled with its answer.
type fetchPart struct {
	kafkaio.TopicPartition
	offset   int64
	maxBytes int32
	state    *fetchState

	code          int16
	highWatermark int64
	stable        int64
	aborted       []kafkaio.AbortedTransaction
	set           []byte // batches, in the request's body
}

// ApiKey implements protocol.Message.
func (*fetchRequest) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Required implements protocol.RawExchanger.
func (*fetchRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (f *fetchRequest) RawExchange(rw readWriter) (protocol.Message, error) {
	f.encode()
	if _, err := rw.Write(f.encoder.finish(0)); err != nil {
		return nil, err
	}
	body, err := readAnswer(rw, f.encoder.correlation, f.body)
	f.body = body
	if err != nil {
		return nil, err
	}
	return f, f.decode(&decoder{buf: body})
}

func (f *fetchRequest) encode() {
	e := &f.encoder
	e.begin(protocol.Fetch, fetchVersion, false, f.clientID)
	e.int32(-1) // no replica
	e.int32(milliseconds(f.maxWait))
	e.int32(1) // answer as soon as there is anything
	e.int32(f.maxBytes)
	e.int8(readCommitted)
	e.int32(0)  // no session
	e.int32(-1) // and none to begin
	e.array(len(f.parts))
	for i := range f.parts {
		part := &f.parts[i]
		e.string(part.Topic)
		e.array(1)
		e.int32(part.Partition)
		e.int32(-1) // leader epoch not known
		e.int64(part.offset)
		e.int64(-1) // log start, a replica's
		e.int32(part.maxBytes)
	}
	e.array(0)   // nothing to forget
	e.string("") // no rack
}

func (f *fetchRequest) decode(d *decoder) error {
	for i := range f.parts {
		part := &f.parts[i]
		part.code, part.set, part.aborted = codeNotLeader, nil, part.aborted[:0]
	}
	d.int32() // throttle time
	code := d.int16()
	d.int32() // session
	next := 0
	for range d.array() {
		topic := d.raw()
		for range d.array() {
			part := f.find(topic, d.int32(), &next)
			if part == nil {
				return fmt.Errorf("fetch: answer for a partition of %q that was not asked for", topic)
			}
			part.code = d.int16()
			part.highWatermark = d.int64()
			part.stable = d.int64()
			d.int64() // log start
			aborted := d.array()
			part.aborted = slices.Grow(part.aborted, min(aborted, len(d.buf)/16))
			for range aborted {
				if d.err != nil {
					break
				}
				part.aborted = append(part.aborted, kafkaio.AbortedTransaction{ProducerID: d.int64(), FirstOffset: d.int64()})
			}
			d.int32() // preferred replica
			part.set = d.bytes()
		}
	}
	if d.err != nil {
		return fmt.Errorf("fetch: %w", d.err)
	}
	return codeErr(code)
}

// find looks for the part that is answered, in the order of the request.
func (f *fetchRequest) find(topic []byte, partition int32, next *int) *fetchPart {
	for range f.parts {
		part := &f.parts[*next%len(f.parts)]
		*next++
		if part.Partition == partition && len(topic) == len(part.Topic) && bytes.Equal(topic, []byte(part.Topic)) {
			return part
		}
	}
	return nil
}
