// Package reader reads what a topic's committed records are, as an oracle for
// tests. It shares no code with the engine's own client: requests, decoding
// and the filter of aborted transactions are franz-go's.
package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Record is a committed record. A nil Key or Value is null.
type Record struct {
	Partition int32
	Offset    int64
	Timestamp int64 // milliseconds since 1970
	Key       []byte
	Value     []byte
	Headers   []Header
}

// Header is a record's header.
type Header struct {
	Key   string
	Value []byte
}

// Values are the records' values, separated by spaces.
func Values(records []Record) string {
	values := make([]string, len(records))
	for i, r := range records {
		values[i] = string(r.Value)
	}
	return strings.Join(values, " ")
}

const (
	fetchBytes  = 8 << 20
	fetchWait   = 100 * time.Millisecond
	settlePause = 5 * time.Millisecond
)

// ReadAll reads the topic's committed records from its first to its end
// offsets, ordered by partition and offset. It first waits until no
// transaction is open below the end, since a broker answers the end of a
// transaction before its markers are written; a transaction that nobody ends
// lets it fail with ctx.
func ReadAll(ctx context.Context, brokers []string, topic string) ([]Record, error) {
	return read(ctx, brokers, topic, true)
}

// ReadStable is ReadAll up to the last stable offsets as they are now: what is
// behind an open transaction is not read.
func ReadStable(ctx context.Context, brokers []string, topic string) ([]Record, error) {
	return read(ctx, brokers, topic, false)
}

func read(ctx context.Context, brokers []string, topic string, settled bool) ([]Record, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.MetadataMinAge(10*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("read topic %s: %w", topic, err)
	}
	defer client.Close()
	r := &topicReader{client: client, topic: topic}
	if err := r.describe(ctx); err != nil {
		return nil, fmt.Errorf("read topic %s: %w", topic, err)
	}
	var records []Record
	for _, p := range slices.Clone(r.partitions) {
		if records, err = r.readPartition(ctx, records, p, settled); err != nil {
			return nil, fmt.Errorf("read topic %s, partition %d: %w", topic, p.id, err)
		}
	}
	return records, nil
}

type topicReader struct {
	client     *kgo.Client
	topic      string
	id         [16]byte
	partitions []partition
}

type partition struct{ id, leader int32 }

// describe finds the partitions and their leaders, waiting for leaders that
// are not yet elected.
func (r *topicReader) describe(ctx context.Context) error {
	for {
		err := r.describeOnce(ctx)
		if err == nil || !kerr.IsRetriable(err) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func (r *topicReader) describeOnce(ctx context.Context) error {
	request := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(r.topic)
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, r.client)
	if err != nil {
		return err
	}
	if len(response.Topics) != 1 {
		return fmt.Errorf("metadata of %d topics", len(response.Topics))
	}
	described := response.Topics[0]
	if err := kerr.ErrorForCode(described.ErrorCode); err != nil {
		if err == kerr.UnknownTopicOrPartition {
			return fmt.Errorf("no such topic: %s", err.Error())
		}
		return err
	}
	r.id = described.TopicID
	r.partitions = r.partitions[:0]
	for _, p := range described.Partitions {
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			return err
		}
		r.partitions = append(r.partitions, partition{p.Partition, p.Leader})
	}
	slices.SortFunc(r.partitions, func(a, b partition) int { return int(a.id) - int(b.id) })
	return nil
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settlePause):
		return nil
	}
}

func (r *topicReader) readPartition(ctx context.Context, to []Record, p partition, settled bool) ([]Record, error) {
	const first, last = -2, -1
	offset, err := r.listOffset(ctx, p, first, 0)
	if err != nil {
		return nil, err
	}
	end, err := r.listOffset(ctx, p, last, 0)
	if err != nil {
		return nil, err
	}
	stable, err := r.listOffset(ctx, p, last, 1)
	for ; err == nil && settled && stable < end; stable, err = r.listOffset(ctx, p, last, 1) {
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("a transaction is open at offset %d, before the end %d: %w", stable, end, err)
		}
	}
	if err != nil {
		return nil, err
	}
	for end = min(end, stable); offset < end; {
		if to, offset, err = r.fetch(ctx, to, p, offset, end); err != nil {
			return nil, fmt.Errorf("offset %d of %d: %w", offset, end, err)
		}
	}
	return to, nil
}

// retry asks the partition's leader until the answer is no passing error.
func (r *topicReader) retry(ctx context.Context, p partition, request kmsg.Request, code func(kmsg.Response) (int16, error)) error {
	for {
		response, err := r.client.Broker(int(p.leader)).RetriableRequest(ctx, request)
		if err != nil {
			return err
		}
		answer, err := code(response)
		if err != nil {
			return err
		}
		if err = kerr.ErrorForCode(answer); err == nil || !kerr.IsRetriable(err) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
		if err := r.describe(ctx); err != nil {
			return err
		}
		for _, described := range r.partitions {
			if described.id == p.id {
				p.leader = described.leader
			}
		}
	}
}

func (r *topicReader) listOffset(ctx context.Context, p partition, timestamp int64, isolation int8) (int64, error) {
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID, request.IsolationLevel = -1, isolation
	asked := kmsg.NewListOffsetsRequestTopicPartition()
	asked.Partition, asked.Timestamp = p.id, timestamp
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic, topic.Partitions = r.topic, []kmsg.ListOffsetsRequestTopicPartition{asked}
	request.Topics = append(request.Topics, topic)
	var offset int64
	err := r.retry(ctx, p, request, func(response kmsg.Response) (int16, error) {
		topics := response.(*kmsg.ListOffsetsResponse).Topics
		if len(topics) != 1 || len(topics[0].Partitions) != 1 {
			return 0, fmt.Errorf("list offsets: no answer")
		}
		offset = topics[0].Partitions[0].Offset
		return topics[0].Partitions[0].ErrorCode, nil
	})
	return offset, err
}

// fetch reads on from offset, drops what lies at end or behind it, and gives
// the offset to go on from.
func (r *topicReader) fetch(ctx context.Context, to []Record, p partition, offset, end int64) ([]Record, int64, error) {
	request := kmsg.NewPtrFetchRequest()
	request.MaxWaitMillis = int32(fetchWait.Milliseconds())
	request.MinBytes, request.MaxBytes, request.IsolationLevel = 1, fetchBytes, 1
	request.SessionEpoch = -1 // no fetch session
	asked := kmsg.NewFetchRequestTopicPartition()
	asked.Partition, asked.FetchOffset, asked.PartitionMaxBytes = p.id, offset, fetchBytes
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID, topic.Partitions = r.topic, r.id, []kmsg.FetchRequestTopicPartition{asked}
	request.Topics = append(request.Topics, topic)
	var answer *kmsg.FetchResponseTopicPartition
	err := r.retry(ctx, p, request, func(response kmsg.Response) (int16, error) {
		f := response.(*kmsg.FetchResponse)
		if f.ErrorCode != 0 {
			return f.ErrorCode, nil
		}
		if len(f.Topics) != 1 || len(f.Topics[0].Partitions) != 1 {
			return 0, fmt.Errorf("fetch: no answer")
		}
		answer = &f.Topics[0].Partitions[0]
		return answer.ErrorCode, nil
	})
	if err != nil {
		return to, offset, err
	}
	fetched, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: offset, IsolationLevel: kgo.ReadCommitted(), Topic: r.topic, Partition: p.id,
	}, answer, kgo.DefaultDecompressor(), nil)
	if fetched.Err != nil {
		return to, offset, fetched.Err
	}
	for _, record := range fetched.Records {
		if record.Offset < end {
			to = append(to, convert(record))
		}
	}
	return to, max(next, offset), ctx.Err()
}

func convert(record *kgo.Record) Record {
	r := Record{
		Partition: record.Partition, Offset: record.Offset, Timestamp: record.Timestamp.UnixMilli(),
		Key: record.Key, Value: record.Value,
	}
	for _, header := range record.Headers {
		r.Headers = append(r.Headers, Header{header.Key, header.Value})
	}
	return r
}
