package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// ErrUncommitted says that a checkpoint was asked for in the middle of a
// transaction.
var ErrUncommitted = errors.New("checkpoint with uncommitted changes")

// backing is what a table knows about its rows in the backend.
type backing struct {
	spilled  bool  // the backend may have rows that are not in memory
	dirty    []Row // rows newer than the backend, in the order they became so
	round    int   // how many of dirty, from the front, the current round must write
	inFlight []Row // rows of the batch that is being written
	hand     Row   // where the next sweep starts
}

// checkpointing is the progress of a task's checkpoint.
type checkpointing struct {
	busy     bool // the writer has a job
	inRound  bool
	begun    time.Time        // of the last round
	begin    map[string]int64 // changelog positions at the begin of the round
	written  map[string]int64 // positions that the backend has
	dropped  [][]byte         // windows to delete
	inFlight []*Table
	value    []byte
	failed   error
}

// settle takes a committed or restored change of a row to the backend's list,
// or frees a row that is gone.
func (t *Table) settle(row Row, h *header) {
	switch {
	case h.flags&dirty != 0:
	case !t.store.durable:
		if h.flags&exists == 0 {
			t.remove(row)
		}
	case h.flags&(exists|writing|stored) == 0:
		t.remove(row)
	default:
		h.flags |= dirty
		t.dirty = append(t.dirty, row)
	}
}

// forget takes a dropped window's rows out of the backend.
func (s *Store) forget(t *Table) {
	t.dirty, t.round = nil, 0
	if s.durable && s.task.backend != nil {
		s.task.dropped = append(s.task.dropped, t.appendBackendPrefix(nil))
	}
}

func (s *Store) appendBackendStore(dst []byte) []byte {
	return binary.BigEndian.AppendUint16(append(dst, 1), s.number)
}

// appendBackendPrefix appends what all of the table's keys in the backend start
// with.
func (t *Table) appendBackendPrefix(dst []byte) []byte {
	return appendTable(t.store.appendBackendStore(dst), t)
}

// Checkpoint writes a slice of what is newer than the local copy, in the
// background. It is called right after a commit, with the positions in each
// store's changelog behind everything committed so far; a restore may call it
// too, with the positions behind the last record restored. Over the memory
// budget it waits for the writer and frees rows.
//
// An error means that the local copy makes no progress any more; the stores
// stay valid until a spilled row is needed.
func (t *Task) Checkpoint(positions map[string]int64) error {
	if t.options.Directory == "" {
		t.report()
		return nil
	}
	for _, s := range t.stores {
		if s.Changed() {
			return fmt.Errorf("store %s: %w", s.name, ErrUncommitted)
		}
	}
	if !t.loaded {
		// Nobody asked for the local copy, so the stores do not contain it.
		if err := t.removeDirectory(); err != nil {
			return err
		}
		t.loaded = true
	}
	if err := t.collect(false); err != nil {
		return err
	}
	t.report()
	need := t.excess()
	if !t.busy {
		if !t.inRound && (need > 0 || t.due()) {
			t.beginRound(positions)
		}
		if t.inRound {
			if err := t.submit(); err != nil {
				return err
			}
		}
	}
	if need > 0 {
		return t.relieve(need, positions)
	}
	return nil
}

// relieve frees memory, and writes as many rows as it takes for that.
func (t *Task) relieve(need int64, positions map[string]int64) error {
	for {
		need -= t.evict(need)
		if need <= 0 {
			break
		}
		if !t.busy {
			if !t.inRound {
				if !t.anyDirty() {
					break
				}
				t.beginRound(positions)
			}
			if err := t.submit(); err != nil {
				return err
			}
		}
		if err := t.collect(true); err != nil {
			return err
		}
	}
	t.report()
	return nil
}

func (t *Task) due() bool {
	return t.begun.IsZero() || t.options.Now().Sub(t.begun) >= t.options.Interval
}

func (t *Task) anyDirty() bool {
	for _, s := range t.stores {
		for _, table := range s.tables {
			if len(table.dirty) > 0 {
				return true
			}
		}
	}
	return false
}

// beginRound fixes which rows the round must write for its positions to hold.
func (t *Task) beginRound(positions map[string]int64) {
	t.begun = t.options.Now()
	anything := len(t.dropped) > 0
	for _, s := range t.stores {
		anything = anything || len(s.metaDirty) > 0 || t.backend != nil && t.written[s.name] != positions[s.name]
		for _, table := range s.tables {
			table.round = len(table.dirty)
			anything = anything || table.round > 0
		}
	}
	if !anything {
		return
	}
	t.inRound = true
	t.begin = make(map[string]int64, len(positions))
	for name, at := range positions {
		t.begin[name] = at
	}
}

// submit hands the next slice of the round to the writer, with the position
// record if it is the last.
func (t *Task) submit() error {
	if t.backend == nil {
		if err := t.openBackend(); err != nil {
			return err
		}
	}
	j := &job{dropped: t.dropped}
	t.dropped = nil
	room, last := t.options.SliceRows, true
	for _, s := range t.stores {
		for _, start := range s.starts {
			table := s.tables[start]
			room -= t.slice(table, room, &j.batch)
			last = last && table.round == 0
		}
	}
	if last {
		for _, s := range t.stores {
			t.sliceMeta(s, &j.batch)
		}
		record, err := t.encodePosition(t.begin)
		if err != nil {
			return err
		}
		j.position, t.written, t.inRound = record, t.begin, false
	}
	t.busy = true
	t.writer.jobs <- j
	return nil
}

// slice encodes up to room of the round's rows of a table and returns how many.
func (t *Task) slice(table *Table, room int, batch *Batch) int {
	n := min(room, table.round)
	if n == 0 {
		return 0
	}
	key := table.appendBackendPrefix(nil)
	prefix := len(key)
	for _, row := range table.dirty[:n] {
		h := table.header(row)
		h.flags &^= dirty
		if h.flags&(exists|stored) == 0 {
			table.remove(row)
			continue
		}
		key = append(key[:prefix], table.Key(row)...)
		if h.flags&exists != 0 {
			t.value = table.appendRow(t.value[:0], row)
			batch.Put(key, t.value)
			h.flags |= stored
		} else {
			batch.Delete(key)
		}
		h.flags |= writing
		table.inFlight = append(table.inFlight, row)
	}
	table.dirty = table.dirty[n:]
	table.round -= n
	t.inFlight = append(t.inFlight, table)
	return n
}

func (t *Task) sliceMeta(s *Store, batch *Batch) {
	for _, name := range metaNames(s.metaDirty) {
		key := appendMetaKey(s.appendBackendStore(nil), name)
		if value, ok := s.meta[name]; ok {
			batch.Put(key, appendMetaValue(nil, value))
		} else {
			batch.Delete(key)
		}
	}
	clear(s.metaDirty)
}

// collect takes the result of the writer's job if it is there, or waits for it.
func (t *Task) collect(wait bool) error {
	if t.failed != nil || !t.busy {
		return t.failed
	}
	var err error
	if wait {
		err = <-t.writer.results
	} else {
		select {
		case err = <-t.writer.results:
		default:
			return nil
		}
	}
	t.busy = false
	if err != nil {
		t.failed = fmt.Errorf("write state %s: %w", t.options.Directory, err)
		return t.failed
	}
	for _, table := range t.inFlight {
		table.landed()
	}
	clear(t.inFlight)
	t.inFlight = t.inFlight[:0]
	return nil
}

// landed ends the write of rows: the backend has them as they were then.
func (t *Table) landed() {
	for _, row := range t.inFlight {
		h := t.header(row)
		h.flags &^= writing
		if h.flags&(exists|dirty) == 0 {
			t.remove(row)
		}
	}
	t.inFlight = t.inFlight[:0]
}
