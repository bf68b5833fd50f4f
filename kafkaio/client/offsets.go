package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/listoffsets"

	"millrace/kafkaio"
)

// What ListOffsets asks for.
const (
	earliestTimestamp = -2
	latestTimestamp   = -1
	readUncommitted   = 0
	readCommitted     = 1
)

// offsetQuestion is one of the three requests that make an OffsetRange.
type offsetQuestion struct {
	timestamp int64
	isolation int8
	set       func(*kafkaio.OffsetRange, int64)
}

var offsetQuestions = []offsetQuestion{
	{earliestTimestamp, readUncommitted, func(r *kafkaio.OffsetRange, offset int64) { r.Start = offset }},
	{latestTimestamp, readCommitted, func(r *kafkaio.OffsetRange, offset int64) { r.Stable = offset }},
	{latestTimestamp, readUncommitted, func(r *kafkaio.OffsetRange, offset int64) { r.HighWatermark = offset }},
}

// Offsets implements kafkaio.Log. The high watermark is read last, so that it
// is not before the other two.
func (c *Client) Offsets(ctx context.Context, partitions []kafkaio.TopicPartition) (map[kafkaio.TopicPartition]kafkaio.OffsetRange, error) {
	var ranges map[kafkaio.TopicPartition]kafkaio.OffsetRange
	err := retry(ctx, func() error {
		ranges = make(map[kafkaio.TopicPartition]kafkaio.OffsetRange, len(partitions))
		grouped, err := c.byLeader(ctx, partitions)
		if err != nil {
			return err
		}
		for b, led := range grouped {
			for _, question := range offsetQuestions {
				if err := c.listOffsets(ctx, b, led, question, ranges); err != nil {
					for _, tp := range led {
						c.forgetTopic(tp.Topic)
					}
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("offsets: %w", err)
	}
	return ranges, nil
}

func (c *Client) listOffsets(ctx context.Context, b *broker, partitions []kafkaio.TopicPartition, question offsetQuestion,
	ranges map[kafkaio.TopicPartition]kafkaio.OffsetRange,
) error {
	request := &listoffsets.Request{ReplicaID: -1, IsolationLevel: question.isolation}
	for _, topic := range groupByTopic(slices.Values(partitions)) {
		asked := listoffsets.RequestTopic{Topic: topic.name}
		for _, number := range topic.partitions {
			asked.Partitions = append(asked.Partitions, listoffsets.RequestPartition{
				Partition: number, CurrentLeaderEpoch: -1, Timestamp: question.timestamp,
			})
		}
		request.Topics = append(request.Topics, asked)
	}
	answer, err := ask[*listoffsets.Response](ctx, b, c.options.RequestTimeout, request)
	if err != nil {
		return err
	}
	for _, topic := range answer.Topics {
		for _, partition := range topic.Partitions {
			tp := kafkaio.TopicPartition{Topic: topic.Topic, Partition: partition.Partition}
			if err := codeErr(partition.ErrorCode); err != nil {
				return &kafkaio.PartitionError{TopicPartition: tp, Offset: -1, Err: err}
			}
			known := ranges[tp]
			question.set(&known, partition.Offset)
			ranges[tp] = known
		}
	}
	return nil
}

// CommittedOffsets implements kafkaio.Log.
func (c *Client) CommittedOffsets(ctx context.Context, group string, partitions []kafkaio.TopicPartition) (map[kafkaio.TopicPartition]int64, error) {
	if len(partitions) == 0 {
		return map[kafkaio.TopicPartition]int64{}, ctx.Err()
	}
	var offsets map[kafkaio.TopicPartition]int64
	err := c.onCoordinator(ctx, coordinatorKey{groupCoordinator, group}, func(b *broker) error {
		var err error
		offsets, err = c.fetchOffsets(ctx, b, group, partitions)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("committed offsets of group %s: %w", group, err)
	}
	return offsets, nil
}

// fetchOffsets asks for stable offsets (KIP-447), which kafka-go's version of
// the request cannot: the broker then answers a code while a transaction that
// commits some of them is open. Without partitions (nil) it gives all that the
// group has.
func (c *Client) fetchOffsets(ctx context.Context, b *broker, group string, partitions []kafkaio.TopicPartition) (map[kafkaio.TopicPartition]int64, error) {
	offsets := make(map[kafkaio.TopicPartition]int64)
	var failure error
	request := &rawMessage{
		key: protocol.OffsetFetch, version: offsetFetchVersion, flexible: true, clientID: c.options.ClientID,
		encode: func(e *encoder) {
			e.string(group)
			encodePartitions(e, partitions)
			e.bool(true) // stable offsets only
			e.tags()
		},
		decode: func(d *decoder) { failure = decodeOffsets(d, offsets) },
	}
	if _, err := b.exchange(ctx, c.options.RequestTimeout, request); err != nil {
		return nil, err
	}
	return offsets, failure
}

// encodePartitions writes partitions by topic; nil asks for all.
func encodePartitions(e *encoder, partitions []kafkaio.TopicPartition) {
	if partitions == nil {
		e.nullArray()
		return
	}
	topics := groupByTopic(slices.Values(partitions))
	e.array(len(topics))
	for _, topic := range topics {
		e.string(topic.name)
		e.array(len(topic.partitions))
		for _, number := range topic.partitions {
			e.int32(number)
		}
		e.tags()
	}
}

func decodeOffsets(d *decoder, offsets map[kafkaio.TopicPartition]int64) error {
	var failure error
	d.int32() // throttle time
	for range d.array() {
		topic := d.string()
		for range d.array() {
			tp := kafkaio.TopicPartition{Topic: topic, Partition: d.int32()}
			offset := d.int64()
			d.int32() // leader epoch
			d.raw()   // metadata
			code := d.int16()
			d.tags()
			if code != 0 {
				failure = &kafkaio.PartitionError{TopicPartition: tp, Offset: -1, Err: codeErr(code)}
			} else if offset >= 0 {
				offsets[tp] = offset
			}
		}
		d.tags()
	}
	// A group that never committed is unknown to some brokers and without
	// offsets to others.
	if code := d.int16(); code != 0 && code != codeGroupNotFound {
		failure = codeErr(code)
	}
	d.tags()
	return failure
}
