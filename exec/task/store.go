package task

import (
	"context"
	"fmt"
	"time"

	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/state"
)

// taskStore is a store of the task with its changelog.
type taskStore struct {
	plan      plan.Store
	store     *state.Store
	changelog kafkaio.TopicPartition
	begin     int64 // where its restore begins
	from      int64 // up to where it has come
	end       int64 // and where it ends
	restored  int64
	fault     error // the first record that could not be restored
}

// store finds a store for an operator.
func (t *Task) store(name string) (*state.Store, error) {
	for _, s := range t.stores {
		if s.plan.Name == name {
			return s.store, nil
		}
	}
	return nil, fmt.Errorf("%s: there is no store %s", t, name)
}

// writeChangelogs adds what changed in the stores to the transaction.
func (t *Task) writeChangelogs(ctx context.Context) error {
	for _, s := range t.stores {
		if s.plan.Changelog == "" {
			continue
		}
		err := s.store.Changes(func(key, value []byte, timestamp int64) error {
			return t.output.Append(ctx, s.changelog, timestamp, key, value, nil)
		})
		if err != nil {
			return &QueryError{Query: t.config.Query.ID, Place: "changelog " + s.changelog.Topic, Err: err}
		}
	}
	return nil
}

// keep makes the work since the last commit permanent.
func (t *Task) keep() {
	for _, s := range t.stores {
		s.store.Commit()
	}
	for _, in := range t.inputs {
		in.committed, in.settled = in.position, in.position
	}
	t.dirty = false
}

// rollback takes the work since the last commit back. Operators keep nothing
// outside the stores that may survive it, so they are made again.
func (t *Task) rollback() error {
	for _, s := range t.stores {
		s.store.Rollback()
	}
	for _, in := range t.inputs {
		in.start(in.settled, in.committed)
	}
	t.counts, t.dirty, t.current = Counts{}, false, nil
	if t.state != Running {
		return nil
	}
	return t.build()
}

// positionsAge is how old the changelog positions of a checkpoint may be. An
// old position only makes a later replay longer.
const positionsAge = 5 * time.Second

// checkpoint writes a slice of the stores to the local directory, after a
// commit. A failure costs the local copy only: the changelogs have everything.
func (t *Task) checkpoint(ctx context.Context, log kafkaio.Log) {
	if t.config.Directory == "" || len(t.stores) == 0 {
		return
	}
	if t.rereads() {
		t.positions = t.readPositions()
	} else if now := t.config.Now(); t.positions == nil || now.Sub(t.positionsAt) >= min(positionsAge, t.config.CheckpointInterval) {
		ranges, err := log.Offsets(ctx, t.Changelogs())
		if err != nil {
			return
		}
		t.positions, t.positionsAt = make(map[string]int64, len(t.stores)), now
		for _, s := range t.stores {
			// Nothing is being written here between two transactions: the end
			// lies behind all committed changes, and before all later ones.
			t.positions[s.plan.Name] = ranges[s.changelog].HighWatermark
		}
	}
	if err := t.local.Checkpoint(t.positions); err != nil {
		t.abandonLocal()
	}
}

// abandonLocal gives the local copy up after a failed write: without a marker
// that is clean, and with its position, it stays usable for what it holds.
func (t *Task) abandonLocal() { t.config.Directory = "" }

// Discard drops the local copy of the state, before Close; cause tells why.
func (t *Task) Discard(cause error) error {
	if t.local == nil {
		return nil
	}
	t.reportDropped(cause)
	if err := t.local.Discard(); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	return nil
}

// Close ends the task and gives its memory and directory back. Clean says that
// everything was committed, so that the next start can trust the directory even
// after a reboot.
func (t *Task) Close(clean bool) error {
	if t.state == Closed {
		return nil
	}
	if err := t.moveTo(Closed); err != nil {
		return err
	}
	for _, in := range t.inputs {
		in.release()
	}
	if t.local == nil {
		return nil
	}
	if err := t.local.Close(clean); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	return nil
}
