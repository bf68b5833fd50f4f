package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"millrace/kafkaio"
)

// This file holds every rule of commits and crashes.
//
// A worker's tasks share one Kafka transaction. It commits in this order:
//
//  1. operators hand on what they held back; all output is under the transaction
//  2. what changed in the stores is written to the changelogs
//  3. everything is acknowledged
//  4. the positions of the inputs are added
//  5. the transaction is committed
//  6. the stores take their changes as permanent
//  7. a slice of the stores' checkpoint may go to the local directory
//  8. what no one needs any more is deleted from the repartition topics
//
// A store's memory is ahead of the log between 1 and 6 only, and takes that
// back (Rollback) when the transaction does not commit. The local directory is
// never ahead: it is written after 6 only, and rows of a later transaction do
// not reach it before that one's own 6.
//
// The order of a start: Init of the own transactional id and Fence of those of
// earlier owners, which ends what they left open; then the committed positions,
// which are read when no transaction is pending on them; then the high watermark
// of the changelogs, up to which they are read back. A changelog's last stable
// offset would not do: the broker answers a commit before its markers are
// everywhere, so committed rows may lie above it for a moment.

// CrashPoint names a place at which a process may die. The hook of a
// Transaction is called there, so that tests can kill at each.
type CrashPoint string

// The crash points, in the order of a commit.
const (
	// AfterFlush: output is under an open transaction. The next Init of the id
	// aborts it, and the records are read again.
	AfterFlush CrashPoint = "after-flush"
	// AfterChangelog: so are changelog records; the abort takes them along, and
	// a restore reads committed records only.
	AfterChangelog CrashPoint = "after-changelog"
	// AfterAcknowledge: all is on the brokers, but not committed; as before.
	AfterAcknowledge CrashPoint = "after-acknowledge"
	// AfterOffsets: the positions are part of the open transaction. The next
	// owner's Init aborts it; until then the group's positions are pending and
	// nobody reads the old ones as current.
	AfterOffsets CrashPoint = "after-offsets"
	// AfterCommit: the log is ahead of the local directory. The changelog is
	// replayed over it from the position that the directory names.
	AfterCommit CrashPoint = "after-commit"
	// AfterStores: as before; committed memory is gone with the process.
	AfterStores CrashPoint = "after-stores"
	// AfterCheckpoint: the directory may hold some rows newer than its position.
	// Changelog values are absolute: the replay from there writes them again.
	AfterCheckpoint CrashPoint = "after-checkpoint"
	// AfterPurge: only records below committed positions are gone.
	AfterPurge CrashPoint = "after-purge"
)

// CrashPoints lists all of them in order.
var CrashPoints = []CrashPoint{
	AfterFlush, AfterChangelog, AfterAcknowledge, AfterOffsets, AfterCommit, AfterStores, AfterCheckpoint, AfterPurge,
}

// mostFences is how often another process may take the transactional id over
// before this one gives way.
const mostFences = 3

// Transaction is a worker's transactional producer with the tasks whose work
// it commits. One goroutine uses it.
type Transaction struct {
	log      kafkaio.Log
	producer kafkaio.Producer
	options  TransactionOptions
	tasks    []*Task
	records  int // appended since the last commit
	bytes    int
	ready    bool // Init succeeded and no abort is due
	fences   int
}

// TransactionOptions sets up a Transaction.
type TransactionOptions struct {
	Producer kafkaio.ProducerOptions
	// Crash is called at each crash point; nil in production.
	Crash func(CrashPoint)
	// Committed is told what a task did in a transaction that has committed.
	Committed func(t *Task, counts Counts)
}

// NewTransaction makes a worker's transaction; Init must come first.
func NewTransaction(log kafkaio.Log, options TransactionOptions) *Transaction {
	if options.Crash == nil {
		options.Crash = func(CrashPoint) {}
	}
	return &Transaction{log: log, producer: log.NewProducer(options.Producer), options: options}
}

// Init takes the transactional id over and ends what its earlier holder left open.
func (x *Transaction) Init(ctx context.Context) error {
	if err := x.producer.Init(ctx); err != nil {
		return fmt.Errorf("transactional id %s: %w", x.options.Producer.TransactionalID, err)
	}
	x.ready = true
	return nil
}

// Add makes a restored task part of the transaction.
func (x *Transaction) Add(t *Task) { x.tasks = append(x.tasks, t) }

// Remove takes a task out; nothing of it may be pending.
func (x *Transaction) Remove(t *Task) {
	x.tasks = slices.DeleteFunc(x.tasks, func(other *Task) bool { return other == t })
}

// Close gives the producer up. A transaction that is open stays so until the
// next Init of its id.
func (x *Transaction) Close() error { return x.producer.Close() }

// Append adds a record to the transaction; its parts are copied.
func (x *Transaction) Append(ctx context.Context, to kafkaio.TopicPartition, timestamp int64, key, value, headers []byte) error {
	x.records++
	x.bytes += len(key) + len(value) + len(headers)
	return x.producer.Append(ctx, to, timestamp, key, value, headers)
}

// Bytes is how much was added since the last commit.
func (x *Transaction) Bytes() int { return x.bytes }

// Pending tells whether a commit would do something.
func (x *Transaction) Pending() bool {
	return slices.ContainsFunc(x.tasks, (*Task).Pending)
}

// Commit commits the work of all tasks. After an error nothing of it counts,
// and Rollback must follow.
func (x *Transaction) Commit(ctx context.Context) error {
	pending := x.pending()
	if len(pending) == 0 {
		return nil
	}
	positions, err := x.prepare(ctx, pending)
	if err != nil {
		return err
	}
	if err := x.producer.Commit(ctx); err != nil {
		if errors.Is(err, kafkaio.ErrAborted) {
			return fmt.Errorf("commit: %w", err)
		}
		if err := x.settle(ctx, positions, err); err != nil {
			return err
		}
	}
	x.options.Crash(AfterCommit)
	x.fences = 0
	x.finish(ctx, pending)
	return nil
}

func (x *Transaction) pending() []*Task {
	var pending []*Task
	for _, t := range x.tasks {
		if t.Pending() {
			pending = append(pending, t)
		}
	}
	return pending
}

// prepare is the steps before the commit itself. It gives the new positions by group.
func (x *Transaction) prepare(ctx context.Context, pending []*Task) (map[string]map[kafkaio.TopicPartition]int64, error) {
	for _, t := range pending {
		if err := t.flush(ctx); err != nil {
			return nil, err
		}
	}
	x.options.Crash(AfterFlush)
	for _, t := range pending {
		if err := t.writeChangelogs(ctx); err != nil {
			return nil, err
		}
	}
	x.options.Crash(AfterChangelog)
	if err := x.producer.Flush(ctx); err != nil {
		return nil, fmt.Errorf("flush before a commit: %w", err)
	}
	x.options.Crash(AfterAcknowledge)
	positions := positionsOf(pending)
	for _, group := range slices.Sorted(maps.Keys(positions)) {
		if err := x.producer.SendOffsets(ctx, kafkaio.Group{Name: group, Generation: -1}, positions[group]); err != nil {
			return nil, fmt.Errorf("positions of group %s: %w", group, err)
		}
	}
	x.options.Crash(AfterOffsets)
	return positions, nil
}

// positionsOf gives the positions that differ from the committed ones, by group.
func positionsOf(tasks []*Task) map[string]map[kafkaio.TopicPartition]int64 {
	positions := make(map[string]map[kafkaio.TopicPartition]int64)
	for _, t := range tasks {
		if t.rereads() {
			continue // its position is that of the local copy
		}
		group := t.config.Query.Group
		for _, in := range t.inputs {
			if in.position == in.committed {
				continue
			}
			if positions[group] == nil {
				positions[group] = make(map[kafkaio.TopicPartition]int64)
			}
			positions[group][in.TopicPartition] = in.position
		}
	}
	return positions
}

// settle finds out whether a transaction whose commit was not answered counts:
// it does if and only if its positions are the committed ones once no
// transaction is pending on them. Init ends it, either way.
func (x *Transaction) settle(ctx context.Context, positions map[string]map[kafkaio.TopicPartition]int64, cause error) error {
	x.ready = false
	if errors.Is(cause, kafkaio.ErrFenced) {
		x.fences++
	}
	if err := x.Init(ctx); err != nil {
		return fmt.Errorf("%w: %w; %w", ErrDoubt, cause, err)
	}
	counted, total := 0, 0
	for group, sent := range positions {
		committed, err := x.log.CommittedOffsets(ctx, group, slices.Collect(maps.Keys(sent)))
		if err != nil {
			return fmt.Errorf("%w: %w; %w", ErrDoubt, cause, err)
		}
		for tp, position := range sent {
			total++
			if offset, ok := committed[tp]; ok && offset == position {
				counted++
			}
		}
	}
	if counted == total && total > 0 {
		return nil
	}
	return fmt.Errorf("commit: %w: %w", kafkaio.ErrAborted, cause)
}

// finish makes the work of the tasks permanent after their transaction has committed.
func (x *Transaction) finish(ctx context.Context, tasks []*Task) {
	x.records, x.bytes = 0, 0
	for _, t := range tasks {
		t.keep()
		if x.options.Committed != nil {
			x.options.Committed(t, t.counts)
		}
		t.counts = Counts{}
	}
	x.options.Crash(AfterStores)
	for _, t := range tasks {
		t.checkpoint(ctx, x.log)
	}
	x.options.Crash(AfterCheckpoint)
	x.purge(ctx, tasks)
	x.options.Crash(AfterPurge)
}

// purgeRecords is how many records of a repartition topic's partition are
// deleted at once; a request a commit would cost more than it frees.
const purgeRecords = 10_000

// purge deletes what was read from repartition topics. It may fail: the records
// are deleted with the next ones then.
func (x *Transaction) purge(ctx context.Context, tasks []*Task) {
	var before map[kafkaio.TopicPartition]int64
	for _, t := range tasks {
		for _, in := range t.inputs {
			if !in.Repartition || in.committed-in.purged < purgeRecords {
				continue
			}
			if before == nil {
				before = make(map[kafkaio.TopicPartition]int64)
			}
			before[in.TopicPartition] = in.committed
		}
	}
	if before == nil || x.log.DeleteRecords(ctx, before) != nil {
		return
	}
	for _, t := range tasks {
		for _, in := range t.inputs {
			if offset, ok := before[in.TopicPartition]; ok && in.Repartition {
				in.purged = offset
			}
		}
	}
}

// Rollback takes back what was done since the last commit: in the log, unless
// the cause says that nothing of it is left there, and in all tasks, whose
// inputs then stand at the committed positions and wait for records from there.
// It may be called again after an error.
func (x *Transaction) Rollback(ctx context.Context, cause error) error {
	if err := x.abort(ctx, cause); err != nil {
		return err
	}
	x.records, x.bytes = 0, 0
	for _, t := range x.tasks {
		if err := t.rollback(); err != nil {
			return err
		}
	}
	return nil
}

// abort ends the producer's transaction, so that the next one can begin.
func (x *Transaction) abort(ctx context.Context, cause error) error {
	if errors.Is(cause, kafkaio.ErrFenced) && x.ready {
		x.fences++
		x.ready = false
	}
	if x.fences > mostFences {
		return fmt.Errorf("%w: %w", ErrDisplaced, cause)
	}
	if x.ready {
		if err := x.producer.Abort(ctx); err == nil {
			return nil
		}
		x.ready = false
	}
	return x.Init(ctx)
}
