package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"millrace/exec"
	"millrace/exec/session"
	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// host gives a session its engine. The engine is made at the first query, with
// the properties that are set then.
type host struct {
	log        kafkaio.Log
	options    exec.Options // without the session's properties
	properties func() map[string]string
	monitor    *monitor

	engine  *exec.Engine      // nil before the first query
	applied map[string]string // the engine's properties

	mu     sync.Mutex // guards what follows
	begins map[string]map[int32]int64
}

// Start implements session.Engine. It notes where the query's sink ends, so that
// what the query writes can be told from what was there.
func (h *host) Start(ctx context.Context, q *plan.Query) error {
	properties := enginePart(h.properties())
	if h.engine == nil {
		options := h.options
		if err := applyProperties(&options, properties); err != nil {
			return err
		}
		h.engine, h.applied = exec.New(h.log, options), properties
	}
	if changed := changedProperty(h.applied, properties); changed != "" {
		return types.Errorf(types.CodeProperty, "property %s was changed after the first query", changed).
			WithHint("set it before the first query")
	}
	if !q.Transient && q.SinkTopic != "" {
		if err := h.noteBegin(ctx, q.SinkTopic); err != nil {
			return err
		}
	}
	h.monitor.starting(q, time.Now())
	return h.engine.Start(ctx, q)
}

// CheckTopics refuses a query that Start would refuse for its topics.
func (h *host) CheckTopics(ctx context.Context, q *plan.Query) error {
	return task.CheckTopics(ctx, h.log, q)
}

// changedProperty names a property of the engine that differs; empty: none does.
func changedProperty(before, now map[string]string) string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(now))
	slices.Sort(names)
	for _, name := range names {
		if before[name] != now[name] {
			return name
		}
	}
	return ""
}

// Stop implements session.Engine.
func (h *host) Stop(ctx context.Context, id string) error { return h.engine.Stop(ctx, id) }

// Drain lets all queries read what is there now.
func (h *host) Drain(ctx context.Context) error { return h.engine.Drain(ctx) }

// Drop implements session.Engine. It tells of what a SELECT left out.
func (h *host) Drop(ctx context.Context, id string) error {
	h.monitor.ended(id, h.status(id))
	return h.engine.Drop(ctx, id)
}

// Scan answers a SELECT from the rows that another query keeps, and tells of
// what became null on the way.
func (h *host) Scan(ctx context.Context, keeper string, q *plan.Query, yield task.Yield) (ok bool, err error) {
	h.monitor.starting(q, time.Now())
	ok, err = h.engine.Scan(ctx, keeper, q, yield)
	h.monitor.scanned(q.ID, ok)
	return ok, err
}

// Rows counts the rows that a query keeps.
func (h *host) Rows(ctx context.Context, id string) (rows int64, known bool) {
	return h.engine.Rows(ctx, id)
}

// Pause implements session.Engine.
func (h *host) Pause(id string) error { return h.engine.Pause(id) }

// Resume implements session.Engine.
func (h *host) Resume(id string) error { return h.engine.Resume(id) }

func (h *host) noteBegin(ctx context.Context, topic string) error {
	h.mu.Lock()
	_, known := h.begins[topic]
	h.mu.Unlock()
	if known {
		return nil
	}
	begin, err := topicEnds(ctx, h.log, topic)
	if err != nil {
		return fmt.Errorf("where topic %s ends: %w", topic, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begins[topic] = begin
	return nil
}

// begin is where a sink's topic ended before its first query was started.
func (h *host) begin(topic string) map[int32]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begins[topic]
}

// topicEnds gives the high watermark of each partition; none if there is no
// such topic.
func topicEnds(ctx context.Context, log kafkaio.Log, topic string) (map[int32]int64, error) {
	topics, err := log.Topics(ctx, topic)
	if err != nil {
		return nil, err
	}
	partitions := make([]kafkaio.TopicPartition, topics[topic].Partitions)
	for p := range partitions {
		partitions[p] = kafkaio.TopicPartition{Topic: topic, Partition: int32(p)}
	}
	ends := make(map[int32]int64, len(partitions))
	if len(partitions) == 0 {
		return ends, nil
	}
	ranges, err := log.Offsets(ctx, partitions)
	if err != nil {
		return nil, err
	}
	for tp, held := range ranges {
		ends[tp.Partition] = held.HighWatermark
	}
	return ends, nil
}

// status tells how a query stands.
func (h *host) status(id string) exec.QueryStatus {
	if h.engine == nil {
		return exec.QueryStatus{ID: id, State: exec.Unknown}
	}
	return h.engine.Status(id)
}

// queryStatus is status for the session.
func (h *host) queryStatus(id string) session.QueryStatus {
	known := h.status(id)
	status := session.QueryStatus{
		State: string(known.State), In: known.In, Out: known.Out, Late: known.Late, RowErrors: known.RowErrors, Lag: known.Lag,
		Cause: known.Cause,
	}
	for _, n := range known.Skipped {
		status.Skipped += n
	}
	return status
}

func (h *host) close(ctx context.Context) error {
	if h.engine == nil {
		return nil
	}
	return h.engine.Close(ctx)
}
