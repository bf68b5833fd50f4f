package task

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"time"

	"millrace/exec/op"
	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/state"
)

// Start says where a task's inputs stand when it is opened.
type Start struct {
	// Committed are the group's positions, Ranges what the partitions hold.
	Committed map[kafkaio.TopicPartition]int64
	Ranges    map[kafkaio.TopicPartition]kafkaio.OffsetRange
	// Latest starts inputs without a position at their end.
	Latest bool
}

// Place sets the positions of the inputs. It refuses positions that the topics
// no longer have, and state without positions, which would count records twice.
func (t *Task) Place(start Start) error {
	if t.rereads() {
		return t.placeAgain(start)
	}
	for _, in := range t.inputs {
		held := start.Ranges[in.TopicPartition]
		committed, ok := start.Committed[in.TopicPartition]
		switch {
		case !ok:
			in.start(held.Start, unknown)
			if start.Latest && !in.Repartition {
				in.start(held.Stable, unknown)
			}
		case committed > held.HighWatermark:
			return t.failed(fmt.Errorf("topic %s, partition %d ends at offset %d, but was read up to %d: it was deleted and made again",
				in.Topic, in.Partition, held.HighWatermark, committed))
		case committed < held.Start:
			t.counts.skip(DeletedUnread, held.Start-committed)
			t.reportSkip(t.placeOf(in, committed), skippedRow{
				reason: DeletedUnread, detail: fmt.Sprintf("up to offset %d", held.Start-1),
			})
			in.start(held.Start, committed)
		default:
			in.start(committed, committed)
		}
		in.purged = held.Start
	}
	return nil
}

// positioned tells whether the group has a position in each input.
func (t *Task) positioned() bool {
	for _, in := range t.inputs {
		if in.committed == unknown {
			return false
		}
	}
	return true
}

// Open makes the stores, with what the local directory holds of them.
func (t *Task) Open() error {
	if err := t.moveTo(Restoring); err != nil {
		return err
	}
	stores := t.config.Subgraph.Stores
	if len(stores) == 0 {
		return nil
	}
	ids := make(map[string][16]byte, len(stores))
	for _, s := range stores {
		ids[s.Name] = t.config.TopicIDs[t.restoredFrom(s)]
	}
	local, err := state.Open(state.Options{
		Directory:   t.config.Directory,
		OpenBackend: t.config.OpenBackend,
		QueryHash:   queryHash(t.config.Query, t.config.Subgraph),
		TopicIDs:    ids,
		Budget:      t.config.Budget,
		Interval:    t.config.CheckpointInterval,
		Now:         t.config.Now,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	t.local = local
	for _, s := range stores {
		layout, err := op.StoreLayout(t.config.Subgraph, s.Name)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		t.foundation = foundationHash(t.config.Query)
		t.stores = append(t.stores, &taskStore{
			plan:      s,
			store:     local.AddStore(s.Name, layout, s.Windowed),
			changelog: kafkaio.TopicPartition{Topic: s.Changelog, Partition: t.config.Partition},
		})
	}
	positions, _, _ := local.Trusted()
	if cause := local.Distrust(); cause != nil {
		t.reportDropped(cause)
	}
	for _, s := range t.stores {
		s.from = unknown
		if position, ok := positions[s.plan.Name]; ok {
			s.from = position
		}
	}
	return nil
}

// queryHash identifies the part of a plan that a task's state depends on.
func queryHash(query *plan.Query, subgraph *plan.Subgraph) string {
	hash := fnv.New128a()
	_, _ = fmt.Fprintf(hash, "%s\n%d\n", query.Statement, subgraph.ID)
	describe(hash, subgraph.Root)
	return hex.EncodeToString(hash.Sum(nil))
}

func describe(to io.Writer, node plan.Node) {
	_, _ = fmt.Fprintln(to, node.Describe())
	for _, input := range node.Inputs() {
		describe(to, input)
	}
}

// Changelogs are the changelog partitions that the task's stores are restored from.
func (t *Task) Changelogs() []kafkaio.TopicPartition {
	var partitions []kafkaio.TopicPartition
	for _, s := range t.stores {
		if s.plan.Changelog != "" {
			partitions = append(partitions, s.changelog)
		}
	}
	return partitions
}

// restoreIdle is how long a restore may stand still: as long as a transaction
// that nobody can end may block a changelog.
const restoreIdle = 2 * time.Minute

// Restore reads the changelogs of opened and placed tasks back, up to the high
// watermark in ranges, and lets the tasks run.
func Restore(ctx context.Context, log kafkaio.Log, tasks []*Task, ranges map[kafkaio.TopicPartition]kafkaio.OffsetRange) error {
	restoring := make(map[kafkaio.TopicPartition]*restoration)
	for _, t := range tasks {
		if err := t.planRestore(ranges, restoring); err != nil {
			return err
		}
	}
	if len(restoring) > 0 {
		if err := readBack(ctx, log, restoring); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		if err := t.checkFoundation(); err != nil {
			return err
		}
		if err := t.checkPositioned(); err != nil {
			return err
		}
		for _, s := range t.stores {
			t.reportRestored(s)
		}
		if err := t.build(); err != nil {
			return err
		}
		if err := t.moveTo(Running); err != nil {
			return err
		}
	}
	return nil
}

// restoration is one changelog partition that is being read.
type restoration struct {
	task  *Task
	store *taskStore
}

// planRestore lists the changelogs that have something to read.
func (t *Task) planRestore(ranges map[kafkaio.TopicPartition]kafkaio.OffsetRange, restoring map[kafkaio.TopicPartition]*restoration) error {
	if t.rereads() {
		return nil
	}
	if err := t.trustPositions(ranges); err != nil {
		return err
	}
	for _, s := range t.stores {
		held := ranges[s.changelog]
		s.end = held.HighWatermark
		s.from = max(s.from, held.Start)
		s.begin = s.from
		if s.from >= s.end {
			continue
		}
		restoring[s.changelog] = &restoration{t, s}
	}
	return nil
}

// checkPositioned refuses state without positions: what it has seen is not
// known. Records of a transaction that was aborted are no state.
func (t *Task) checkPositioned() error {
	for _, s := range t.stores {
		if s.restored > 0 && !t.positioned() {
			return t.failed(fmt.Errorf("the changelog %s holds state, but the group %s has no positions, so what the state has seen is not known: drop the query and create it again",
				s.changelog.Topic, t.config.Query.Group))
		}
	}
	return nil
}

// trustPositions drops a local copy whose positions the changelogs do not have.
// State that has a position but no changelog is lost: its topic was deleted.
func (t *Task) trustPositions(ranges map[kafkaio.TopicPartition]kafkaio.OffsetRange) error {
	for _, s := range t.stores {
		held := ranges[s.changelog]
		if s.from == unknown || s.from >= held.Start && s.from <= held.HighWatermark {
			continue
		}
		return t.dropMisplaced(s, s.changelog.Topic, held)
	}
	return nil
}

// dropMisplaced drops the local copy, of which a store stands at a position that
// its topic does not have.
func (t *Task) dropMisplaced(misplaced *taskStore, topic string, held kafkaio.OffsetRange) error {
	t.reportDropped(fmt.Errorf("it stands at offset %d of %s, which holds the offsets %d to %d",
		misplaced.from, topic, held.Start, held.HighWatermark))
	if err := t.local.Discard(); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	for _, s := range t.stores {
		s.from = unknown
	}
	return nil
}

// readBack reads the changelogs until all stand at their ends.
func readBack(ctx context.Context, log kafkaio.Log, restoring map[kafkaio.TopicPartition]*restoration) error {
	fetcher := log.NewFetcher(kafkaio.FetchOptions{})
	defer func() { _ = fetcher.Close() }() // only read from
	positions := make(map[kafkaio.TopicPartition]int64, len(restoring))
	for tp, r := range restoring {
		positions[tp] = r.store.from
	}
	fetcher.Assign(positions)
	moved := time.Now()
	for len(restoring) > 0 {
		runs, err := fetcher.Poll(ctx, time.Second)
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		if len(runs) > 0 {
			moved = time.Now()
		} else if time.Since(moved) > restoreIdle {
			return fmt.Errorf("restore: the changelogs %v did not move for %s: %w", maps.Collect(lagging(restoring)), restoreIdle, kafkaio.ErrTransient)
		}
		for i, run := range runs {
			if err := restoreRun(restoring, run); err != nil {
				for _, rest := range runs[i:] {
					rest.Release()
				}
				return err
			}
			run.Release()
		}
	}
	return nil
}

func lagging(restoring map[kafkaio.TopicPartition]*restoration) func(yield func(kafkaio.TopicPartition, int64) bool) {
	return func(yield func(kafkaio.TopicPartition, int64) bool) {
		for tp, r := range restoring {
			if !yield(tp, r.store.end) {
				return
			}
		}
	}
}

// restoreRun applies the records of a run, and takes its changelog off the list
// when that has reached its end.
func restoreRun(restoring map[kafkaio.TopicPartition]*restoration, run *kafkaio.Records) error {
	r := restoring[run.TopicPartition]
	if r == nil {
		return nil
	}
	for i, key := range run.Keys {
		err := r.store.store.Restore(key, run.Values[i])
		if err != nil && r.store.fault == nil {
			// What follows may tell that another query wrote this.
			r.store.fault = &QueryError{
				Query: r.task.config.Query.ID,
				Place: fmt.Sprintf("topic %s, partition %d, offset %d", run.Topic, run.Partition, run.Offsets[i]),
				Err:   err,
			}
		}
	}
	r.store.restored += int64(run.Len())
	r.store.from = max(r.store.from, run.Next)
	if r.store.fault == nil {
		r.task.checkpointRestored()
	}
	if run.Next >= r.store.end {
		delete(restoring, run.TopicPartition)
	}
	return nil
}

// checkpointRestored lets a state that is larger than its memory go on to the
// local directory while it is read back.
func (t *Task) checkpointRestored() {
	if t.config.Directory == "" {
		return
	}
	positions := make(map[string]int64, len(t.stores))
	for _, s := range t.stores {
		positions[s.plan.Name] = s.from
	}
	if t.local.Checkpoint(positions) != nil {
		t.abandonLocal()
	}
}

func (t *Task) reportDropped(cause error) {
	if t.config.Reporter.StateDropped != nil {
		t.config.Reporter.StateDropped(StateDropped{Query: t.config.Query.ID, Partition: t.config.Partition, Cause: cause})
	}
}

func (t *Task) reportRestored(s *taskStore) {
	if t.config.Reporter.StateRestored != nil && s.restored > 0 {
		t.config.Reporter.StateRestored(StateRestored{
			Query: t.config.Query.ID, Store: s.plan.Name, Partition: t.config.Partition, Records: s.restored, From: s.begin,
		})
	}
}
