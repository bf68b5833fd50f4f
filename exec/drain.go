package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/planner/plan"
)

// ends are the offsets up to which inputs are to be read. While a topic has
// none, queries of this engine still write it.
type ends struct {
	mu    sync.RWMutex
	known map[kafkaio.TopicPartition]int64
}

// AtEnd implements task.Ends.
func (e *ends) AtEnd(in *task.Input, position int64) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	end, ok := e.known[in.TopicPartition]
	return ok && position >= end
}

func (e *ends) set(tp kafkaio.TopicPartition, end int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[tp] = end
}

func (e *ends) get(tp kafkaio.TopicPartition) (int64, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	end, ok := e.known[tp]
	return end, ok
}

// Drain is RunUntilEnd, or without workers RunUntilIdle.
func (e *Engine) Drain(ctx context.Context) error {
	if e.manual() {
		return e.RunUntilIdle(ctx)
	}
	return e.RunUntilEnd(ctx)
}

// RunUntilEnd returns when all queries have read their inputs up to where these
// end at the call, and have committed. What queries of this engine write counts
// as input in full: it is read to its end when its writers are done. Meanwhile a
// task with several inputs waits for each of them until it has ended, so that
// the order of records among its inputs is that of their times. A query that
// fails or is paused shows it in its Status and is not waited for.
func (e *Engine) RunUntilEnd(ctx context.Context) error {
	e.control.Lock()
	defer e.control.Unlock()
	if e.manual() {
		return errors.New("an engine without workers of its own is run with RunUntilIdle")
	}
	if !e.started {
		return nil
	}
	defer e.follow(nil)
	for round := 1; ; round++ {
		grown, err := e.drain(ctx)
		if err != nil || len(grown) == 0 {
			return err
		}
		if round == longCircle && e.options.Events.CircleGoesOn != nil {
			e.options.Events.CircleGoesOn(CircleGoesOn{Topics: grown, Rounds: round})
		}
	}
}

// longCircle is after how many rounds a circle of queries is told of. One that
// has no end cannot be told from one that has.
const longCircle = 100

// follow lets all workers read up to the ends, or as long as they run.
func (e *Engine) follow(to *ends) {
	for _, w := range e.workers {
		w.ends.Store(to)
		w.nudge()
	}
}

// drain reads everything once, stage by stage. grown are the topics of circles
// of queries that have more records afterwards.
func (e *Engine) drain(ctx context.Context) (grown []string, err error) {
	to := &ends{known: make(map[kafkaio.TopicPartition]int64)}
	stages := e.stages()
	written := make(map[string]bool)
	for _, s := range stages {
		written[task.OutputTopic(s.subgraph)] = true
	}
	for _, s := range stages {
		for _, tp := range s.inputs() {
			if written[tp.Topic] {
				continue
			}
			if err := e.setEnd(ctx, to, tp, false); err != nil {
				return nil, err
			}
		}
	}
	e.follow(to)
	circular := make(map[kafkaio.TopicPartition]int64)
	for n, s := range stages {
		for _, tp := range s.inputs() {
			if _, ok := to.get(tp); ok {
				continue
			}
			// All writers come earlier, unless they stand in a circle.
			if err := e.setEnd(ctx, to, tp, true); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(stages[n:], func(later stage) bool { return task.OutputTopic(later.subgraph) == tp.Topic }) {
				circular[tp], _ = to.get(tp)
			}
		}
		if err := e.await(ctx, s, to); err != nil {
			return nil, err
		}
	}
	for tp, end := range circular {
		if err := e.setEnd(ctx, to, tp, true); err != nil {
			return nil, err
		}
		if now, _ := to.get(tp); now > end && !slices.Contains(grown, tp.Topic) {
			grown = append(grown, tp.Topic)
		}
	}
	slices.Sort(grown)
	return grown, nil
}

// stableWait is how long a foreign transaction that is open on an input is
// waited for: its markers come some milliseconds after the answer to its commit.
const stableWait = time.Second

// setEnd looks up where a partition ends. All transactions of this engine's own
// writers have ended, so that their last markers are sure to come; an open
// transaction of others is waited for a moment.
func (e *Engine) setEnd(ctx context.Context, to *ends, tp kafkaio.TopicPartition, own bool) error {
	deadline := time.Now().Add(stableWait)
	for {
		ranges, err := e.log.Offsets(ctx, []kafkaio.TopicPartition{tp})
		if err != nil {
			return fmt.Errorf("end of topic %s, partition %d: %w", tp.Topic, tp.Partition, err)
		}
		held := ranges[tp]
		if own || held.Stable >= held.HighWatermark || time.Now().After(deadline) {
			end := held.HighWatermark
			if !own {
				end = held.Stable
			}
			to.set(tp, end)
			return nil
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

func (s stage) inputs() []kafkaio.TopicPartition {
	var partitions []kafkaio.TopicPartition
	for _, input := range s.subgraph.Inputs {
		for p := range s.query.topics.Tasks(s.subgraph) {
			partitions = append(partitions, kafkaio.TopicPartition{Topic: plan.InputTopic(input), Partition: int32(p)})
		}
	}
	return partitions
}

// await returns when all tasks of a stage have committed up to their ends.
func (e *Engine) await(ctx context.Context, s stage, to *ends) error {
	e.nudge()
	for {
		news := e.news()
		done := true
		for _, w := range e.workers {
			if err := w.do(ctx, func(context.Context) error {
				done = done && w.reached(s, to)
				return nil
			}); err != nil {
				return err
			}
		}
		if done {
			return nil
		}
		timer := time.NewTimer(awaitInterval)
		select {
		case <-news:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
}

const awaitInterval = 50 * time.Millisecond

// reached tells whether the worker's tasks of the stage are done and committed.
func (w *worker) reached(s stage, to *ends) bool {
	if !s.query.is(Running) {
		return true
	}
	for _, sh := range w.shares {
		if sh.query != s.query {
			continue
		}
		for _, t := range sh.tasks {
			if t.Subgraph() == s.subgraph.ID && (t.Pending() || !t.Done(to)) {
				return false
			}
		}
	}
	return true
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
