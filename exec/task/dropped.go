package task

import (
	"context"
	"errors"
	"fmt"

	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/state"
)

// ErrDropped: the query was dropped and a crash has left some of it, which has
// to be deleted before a query of its id can start anew.
var ErrDropped = errors.New("the query was dropped")

// droppedMark stands in place of the foundation in a changelog whose rows do
// not count any more.
var droppedMark = []byte("dropped")

// MarkDropped writes into all changelogs of a query, as far as their topics are
// there, that what they hold does not count any more. It does so in a
// transaction of its own: nothing may be pending. An error leaves the tasks of
// the transaction as they are.
func (x *Transaction) MarkDropped(ctx context.Context, query *plan.Query, topics map[string]kafkaio.Topic) error {
	written := false
	for _, g := range query.Subgraphs {
		for _, s := range g.Stores {
			for partition := range topics[s.Changelog].Partitions {
				written = true
				if err := x.markDropped(ctx, s, int32(partition)); err != nil {
					return errors.Join(err, x.abort(ctx, err))
				}
			}
		}
	}
	if !written {
		return nil
	}
	if err := x.producer.Commit(ctx); err != nil {
		return errors.Join(fmt.Errorf("commit: %w", err), x.abort(ctx, err))
	}
	return nil
}

func (x *Transaction) markDropped(ctx context.Context, s plan.Store, partition int32) error {
	local, err := state.Open(state.Options{})
	if err != nil {
		return err
	}
	store := local.AddStore(s.Name, state.Layout{}, s.Windowed)
	store.SetMeta(foundationName, droppedMark)
	to := kafkaio.TopicPartition{Topic: s.Changelog, Partition: partition}
	return store.Changes(func(key, value []byte, timestamp int64) error {
		return x.producer.Append(ctx, to, timestamp, key, value, nil)
	})
}
