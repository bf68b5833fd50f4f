package client

import (
	"fmt"
	"time"

	"github.com/segmentio/kafka-go/protocol"
)

// produceRequest is a Produce of version 8 with batches as bytes. They must not
// change until the exchange has ended without an error of the connection.
type produceRequest struct {
	clientID        string
	transactionalID string
	timeout         time.Duration
	parts           []producePart // all led by the broker that is asked

	encoder encoder
	answer  []byte
}

// producePart is a partition's batch, filled with its answer.
type producePart struct {
	writer *partitionWriter
	source *batch
	batch  []byte // source's encoded form

	code     int16
	message  string
	answered bool
}

// ApiKey implements protocol.Message.
func (*produceRequest) ApiKey() protocol.ApiKey { return protocol.Produce }

// Required implements protocol.RawExchanger.
func (*produceRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// smallBatch is copied into the request; a larger one is written by itself.
const smallBatch = 16 << 10

const allReplicas = -1

// RawExchange implements protocol.RawExchanger.
func (p *produceRequest) RawExchange(rw readWriter) (protocol.Message, error) {
	e := &p.encoder
	p.encodeHead(e)
	// Batches stand between the fields of the partitions: cuts are the places
	// in the encoded rest where a large one is to be inserted.
	cuts := make([]int, len(p.parts))
	extra := 0
	for i := range p.parts {
		part := &p.parts[i]
		e.string(part.writer.Topic)
		e.array(1)
		e.int32(part.writer.Partition)
		e.int32(int32(len(part.batch)))
		if len(part.batch) <= smallBatch {
			e.buf = append(e.buf, part.batch...)
		} else {
			cuts[i] = len(e.buf)
			extra += len(part.batch)
		}
	}
	if err := p.write(rw, e.finish(extra), cuts); err != nil {
		return nil, err
	}
	body, err := readAnswer(rw, e.correlation, p.answer)
	p.answer = body
	if err != nil {
		return nil, err
	}
	return p, p.decode(&decoder{buf: body})
}

func (p *produceRequest) encodeHead(e *encoder) {
	e.begin(protocol.Produce, produceVersion, false, p.clientID)
	e.string(p.transactionalID)
	e.int16(allReplicas)
	e.int32(milliseconds(p.timeout))
	e.array(len(p.parts))
}

func (p *produceRequest) write(rw readWriter, encoded []byte, cuts []int) error {
	written := 0
	for i, cut := range cuts {
		if cut == 0 {
			continue
		}
		if _, err := rw.Write(encoded[written:cut]); err != nil {
			return err
		}
		if _, err := rw.Write(p.parts[i].batch); err != nil {
			return err
		}
		written = cut
	}
	if written == len(encoded) {
		return nil
	}
	_, err := rw.Write(encoded[written:])
	return err
}

func (p *produceRequest) decode(d *decoder) error {
	next := 0
	for range d.array() {
		topic := d.string()
		for range d.array() {
			part := p.find(topic, d.int32(), &next)
			if part == nil {
				return fmt.Errorf("produce: answer for a partition of %q that was not asked for", topic)
			}
			part.answered = true
			part.code = d.int16()
			d.int64() // base offset
			d.int64() // append time
			d.int64() // log start
			for range d.array() {
				d.int32() // record
				part.message = d.string()
			}
			if message := d.string(); message != "" {
				part.message = message
			}
		}
	}
	d.int32() // throttle time
	if d.err != nil {
		return fmt.Errorf("produce: %w", d.err)
	}
	return nil
}

func (p *produceRequest) find(topic string, partition int32, next *int) *producePart {
	for range p.parts {
		part := &p.parts[*next%len(p.parts)]
		*next++
		if part.writer.Partition == partition && part.writer.Topic == topic {
			return part
		}
	}
	return nil
}
