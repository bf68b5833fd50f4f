package bench

import (
	"context"

	"millrace/kafkaio"
	"millrace/kafkaio/memory"
)

// sinkLog is a log in memory whose producers count what they are given instead
// of keeping it.
type sinkLog struct {
	*memory.Log
	framed   bool // records go into batches, as a client's would
	produced producer
}

// NewProducer implements kafkaio.Log.
func (l *sinkLog) NewProducer(kafkaio.ProducerOptions) kafkaio.Producer {
	l.produced.framed = l.framed
	return &l.produced
}

type producer struct {
	framed  bool
	encoder kafkaio.BatchEncoder
	records int64
	bytes   int64
}

const batchBytes = 512 << 10

func (p *producer) Append(_ context.Context, _ kafkaio.TopicPartition, timestamp int64, key, value, headers []byte) error {
	p.records++
	p.bytes += int64(len(key) + len(value) + len(headers))
	if !p.framed {
		return nil
	}
	p.encoder.Append(timestamp, key, value, headers)
	if p.encoder.Len() < batchBytes {
		return nil
	}
	_, err := p.encoder.Finish(kafkaio.NoCompression, kafkaio.BatchProducer{})
	p.encoder.Reset()
	return err
}

func (p *producer) Init(context.Context) error { return nil }

func (p *producer) SendOffsets(context.Context, kafkaio.Group, map[kafkaio.TopicPartition]int64) error {
	return nil
}

func (p *producer) Flush(context.Context) error  { return nil }
func (p *producer) Commit(context.Context) error { return nil }
func (p *producer) Abort(context.Context) error  { return nil }
func (p *producer) Close() error                 { return nil }
