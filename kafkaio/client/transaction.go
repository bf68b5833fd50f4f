package client

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/protocol/addoffsetstotxn"
	"github.com/segmentio/kafka-go/protocol/addpartitionstotxn"
	"github.com/segmentio/kafka-go/protocol/endtxn"
	"github.com/segmentio/kafka-go/protocol/initproducerid"
	"github.com/segmentio/kafka-go/protocol/txnoffsetcommit"

	"millrace/kafkaio"
)

// This file holds the requests of a transaction (KIP-98), in the versions that
// brokers of 2.5 to 4.x share: the epoch stays the same from one transaction to
// the next. The coordinator answers CONCURRENT_TRANSACTIONS while it writes the
// markers of the one before.

func initRequest(id string, timeout time.Duration, producer int64, epoch int16) *initproducerid.Request {
	return &initproducerid.Request{
		TransactionalID: id, TransactionTimeoutMs: milliseconds(timeout), ProducerID: producer, ProducerEpoch: epoch,
	}
}

// initProducer obtains a producer id and epoch. With those of the request -1
// it fences every holder; with the current ones it only raises the epoch, and
// is refused when another holder has done so (KIP-360).
func (c *Client) initProducer(ctx context.Context, request *initproducerid.Request) (producer int64, epoch int16, err error) {
	err = c.onCoordinator(ctx, coordinatorKey{transactionCoordinator, request.TransactionalID}, func(b *broker) error {
		answer, err := ask[*initproducerid.Response](ctx, b, c.options.RequestTimeout, request)
		if err != nil {
			return err
		}
		producer, epoch = answer.ProducerID, answer.ProducerEpoch
		return codeErr(answer.ErrorCode)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("init of transactional id %s: %w", request.TransactionalID, err)
	}
	return producer, epoch, nil
}

// addPartitions makes partitions part of the transaction, all or none.
func (s *session) addPartitions(ctx context.Context, partitions []kafkaio.TopicPartition) error {
	request := &addpartitionstotxn.Request{TransactionalID: s.transactionalID, ProducerID: s.id, ProducerEpoch: s.epoch}
	for _, topic := range groupByTopic(slices.Values(partitions)) {
		request.Topics = append(request.Topics, addpartitionstotxn.RequestTopic{Name: topic.name, Partitions: topic.partitions})
	}
	return s.client.onCoordinator(ctx, s.key(), func(b *broker) error {
		answer, err := ask[*addpartitionstotxn.Response](ctx, b, s.client.options.RequestTimeout, request)
		if err != nil {
			return err
		}
		var failure error
		for _, topic := range answer.Results {
			for _, partition := range topic.Results {
				code := partition.ErrorCode
				if code == 0 || code == codeOperationNotAttempted && failure != nil {
					continue
				}
				err := &kafkaio.PartitionError{
					TopicPartition: kafkaio.TopicPartition{Topic: topic.Name, Partition: partition.PartitionIndex},
					Offset:         -1, Err: codeErr(code),
				}
				if failure == nil || hasCode(failure, codeOperationNotAttempted) {
					failure = err
				}
			}
		}
		return failure
	})
}

func (s *session) key() coordinatorKey {
	return coordinatorKey{transactionCoordinator, s.transactionalID}
}

// addGroup makes the offsets of a group part of the transaction.
func (s *session) addGroup(ctx context.Context, group string) error {
	request := &addoffsetstotxn.Request{
		TransactionalID: s.transactionalID, ProducerID: s.id, ProducerEpoch: s.epoch, GroupID: group,
	}
	return s.client.onCoordinator(ctx, s.key(), func(b *broker) error {
		answer, err := ask[*addoffsetstotxn.Response](ctx, b, s.client.options.RequestTimeout, request)
		if err != nil {
			return err
		}
		return codeErr(answer.ErrorCode)
	})
}

// commitOffsets sends the positions to the group's coordinator, which holds
// them until the transaction ends.
func (s *session) commitOffsets(ctx context.Context, group kafkaio.Group, positions map[kafkaio.TopicPartition]int64) error {
	request := &txnoffsetcommit.Request{
		TransactionalID: s.transactionalID, ProducerID: s.id, ProducerEpoch: s.epoch,
		GroupID: group.Name, GenerationID: group.Generation, MemberID: group.Member, GroupInstanceID: group.Instance,
	}
	for _, topic := range groupByTopic(maps.Keys(positions)) {
		asked := txnoffsetcommit.RequestTopic{Name: topic.name}
		for _, number := range topic.partitions {
			position := positions[kafkaio.TopicPartition{Topic: topic.name, Partition: number}]
			asked.Partitions = append(asked.Partitions, txnoffsetcommit.RequestPartition{
				Partition: number, CommittedOffset: position, CommittedLeaderEpoch: -1,
			})
		}
		request.Topics = append(request.Topics, asked)
	}
	return s.client.onCoordinator(ctx, coordinatorKey{groupCoordinator, group.Name}, func(b *broker) error {
		answer, err := ask[*txnoffsetcommit.Response](ctx, b, s.client.options.RequestTimeout, request)
		if err != nil {
			return err
		}
		for _, topic := range answer.Topics {
			for _, partition := range topic.Partitions {
				if partition.ErrorCode != 0 {
					return &kafkaio.PartitionError{
						TopicPartition: kafkaio.TopicPartition{Topic: topic.Name, Partition: partition.Partition},
						Offset:         -1, Err: codeErr(partition.ErrorCode),
					}
				}
			}
		}
		return nil
	})
}

// lostAnswerError: the end of a transaction was sent and not answered.
type lostAnswerError struct{ err error }

func (e *lostAnswerError) Error() string {
	return fmt.Sprintf("the end of the transaction was not answered: %v", e.err)
}

// endTransaction commits or aborts. It is sent once: a duplicate that arrives
// late could end the next transaction, which has the same epoch. So a lost
// answer leaves the transaction in doubt.
func (s *session) endTransaction(ctx context.Context, commit bool) error {
	request := &endtxn.Request{
		TransactionalID: s.transactionalID, ProducerID: s.id, ProducerEpoch: s.epoch, Committed: commit,
	}
	return s.client.onCoordinator(ctx, s.key(), func(b *broker) error {
		message := &typedMessage{Message: request, clientID: b.clientID}
		answer, err := askTyped[*endtxn.Response](ctx, b, s.timeout, message)
		if err != nil && message.sent.Load() {
			return &lostAnswerError{err}
		}
		if err != nil {
			return err
		}
		return codeErr(answer.ErrorCode)
	})
}
