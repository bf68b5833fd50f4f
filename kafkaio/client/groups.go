package client

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/segmentio/kafka-go/protocol/deletegroups"
	"github.com/segmentio/kafka-go/protocol/offsetdelete"

	"millrace/kafkaio"
)

// DeleteGroup implements kafkaio.Admin. The positions are deleted one by one
// before the group: not every broker keeps the deletion of a group as safe as
// that of a position, and positions that come back after a crash would let a
// query of the same name leave records out.
func (c *Client) DeleteGroup(ctx context.Context, group string) error {
	err := c.onCoordinator(ctx, coordinatorKey{groupCoordinator, group}, func(b *broker) error {
		// It waits for the end of transactions on the positions.
		offsets, err := c.fetchOffsets(ctx, b, group, nil)
		if err != nil {
			return err
		}
		if len(offsets) > 0 {
			if err := c.deleteOffsets(ctx, b, group, slices.Collect(maps.Keys(offsets))); err != nil {
				return err
			}
		}
		answer, err := ask[*deletegroups.Response](ctx, b, c.options.RequestTimeout, &deletegroups.Request{GroupIDs: []string{group}})
		if err != nil {
			return err
		}
		for _, result := range answer.Responses {
			if result.ErrorCode != codeGroupNotFound {
				return codeErr(result.ErrorCode)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete group %s: %w", group, err)
	}
	return nil
}

func (c *Client) deleteOffsets(ctx context.Context, b *broker, group string, partitions []kafkaio.TopicPartition) error {
	request := &offsetdelete.Request{GroupID: group}
	for _, topic := range groupByTopic(slices.Values(partitions)) {
		asked := offsetdelete.RequestTopic{Name: topic.name}
		for _, number := range topic.partitions {
			asked.Partitions = append(asked.Partitions, offsetdelete.RequestPartition{PartitionIndex: number})
		}
		request.Topics = append(request.Topics, asked)
	}
	answer, err := ask[*offsetdelete.Response](ctx, b, c.options.RequestTimeout, request)
	if err != nil {
		return err
	}
	if answer.ErrorCode != 0 && answer.ErrorCode != codeGroupNotFound {
		return codeErr(answer.ErrorCode)
	}
	for _, topic := range answer.Topics {
		for _, partition := range topic.Partitions {
			// A topic that is gone has no positions that count.
			if code := partition.ErrorCode; code != 0 && code != codeUnknownTopic {
				return codeErr(code)
			}
		}
	}
	return nil
}
