package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// retentionTimeout bounds one question to the broker.
const retentionTimeout = 30 * time.Second

// applyRetention drops expired records every interval until ctx ends.
func (b *Broker) applyRetention(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if err := b.dropExpired(ctx, now); err != nil && ctx.Err() == nil {
				b.log.Warn("embedded broker: retention", "error", err)
			}
		}
	}
}

// dropExpired drops the records older than their topic's own retention.ms, by
// their timestamps, up to the first record that is younger. Records of open
// transactions and each partition's last batch stay.
func (b *Broker) dropExpired(ctx context.Context, now time.Time) error {
	var file topicsFile
	if _, err := readJSON(filepath.Join(b.logDir(), "topics.json"), &file); err != nil {
		return err
	}
	var faults []error
	for _, topic := range file.Topics {
		age, ok := retentionOf(topic)
		if !ok {
			continue
		}
		for partition := range topic.Partitions {
			if err := b.dropBefore(ctx, topic.Name, partition, now.Add(-age)); err != nil {
				faults = append(faults, fmt.Errorf("topic %s, partition %d: %w", topic.Name, partition, err))
			}
			if ctx.Err() != nil {
				return errors.Join(faults...)
			}
		}
	}
	return errors.Join(faults...)
}

// retentionOf is a topic's own retention.ms, if it has one and deletes by it.
func retentionOf(topic topicInfo) (time.Duration, bool) {
	if policy, ok := topic.Configs["cleanup.policy"]; ok && !strings.Contains(policy, "delete") {
		return 0, false
	}
	ms, err := strconv.ParseInt(topic.Configs["retention.ms"], 10, 64)
	if err != nil || ms <= 0 || ms > int64(1<<63-1)/int64(time.Millisecond) {
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

func (b *Broker) dropBefore(ctx context.Context, topic string, partition int32, limit time.Time) error {
	first, err := b.firstSince(ctx, topic, partition, limit)
	if err != nil {
		return err
	}
	info := b.cluster.PartitionInfo(topic, partition)
	if info == nil {
		return nil // deleted meanwhile
	}
	if first < 0 {
		first = info.HighWatermark
	}
	first = min(first, info.LastStableOffset, info.HighWatermark-1)
	if first <= info.LogStartOffset {
		return nil
	}
	return b.cluster.DeleteRecords(topic, partition, first)
}

// firstSince is the offset of the first record not older than limit, -1 when
// there is none.
func (b *Broker) firstSince(ctx context.Context, topic string, partition int32, limit time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, retentionTimeout)
	defer cancel()
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp, p.CurrentLeaderEpoch = partition, max(limit.UnixMilli(), 0), -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.ListOffsetsRequestTopicPartition{p}
	request := kmsg.NewPtrListOffsetsRequest()
	request.Version, request.ReplicaID, request.Topics = 1, -1, []kmsg.ListOffsetsRequestTopic{t}
	answer, err := exchange(ctx, b.addresses[0], request)
	if err != nil {
		return 0, err
	}
	response := answer.(*kmsg.ListOffsetsResponse)
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return 0, errors.New("ListOffsets: no answer for the partition")
	}
	found := response.Topics[0].Partitions[0]
	return found.Offset, kerr.ErrorForCode(found.ErrorCode)
}
