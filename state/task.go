package state

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// defaultSliceRows is what is written after one commit, so that a commit is
// held up by a few milliseconds at most.
const defaultSliceRows = 10_000

// Options say how a task keeps its state.
type Options struct {
	// Directory holds the task's local copy and belongs to it alone. Empty: the
	// state is in memory only and no checkpoint is made.
	Directory string
	// OpenBackend opens the byte store in a directory that exists. Required with
	// Directory.
	OpenBackend func(directory string) (Backend, error)
	// QueryHash identifies the plan that the state belongs to. A local copy of
	// another one is dropped.
	QueryHash string
	// TopicIDs are the ids of the changelog topics as they are now, by store. A
	// local copy of topics with other ids is dropped.
	TopicIDs map[string][16]byte
	// Budget is the process's memory for state; nil: no limit.
	Budget *Budget
	// Interval is the time from the begin of one checkpoint round to the next; 0
	// starts the next round as soon as one ends.
	Interval time.Duration
	// SliceRows is how many rows one checkpoint writes; 0: 10,000.
	SliceRows int
	// BootID identifies the running kernel; empty: it is asked.
	BootID string
	// Now is the clock for Interval; nil: time.Now.
	Now func() time.Time
}

// Task is the stores of one task and their local copy. One goroutine at a time
// may use it and its stores.
type Task struct {
	options  Options
	stores   []*Store
	byName   map[string]*Store
	backend  Backend
	writer   *writer
	position *position // of the trusted local copy
	distrust error
	loaded   bool
	reported int64
	reader   reader

	checkpointing
}

// Open opens the state of a task. A local copy that cannot be trusted is
// removed; Distrust tells why. Stores are added next, then Trusted is asked.
func Open(o Options) (*Task, error) {
	if o.SliceRows <= 0 {
		o.SliceRows = defaultSliceRows
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BootID == "" {
		o.BootID = bootID()
	}
	t := &Task{options: o, byName: map[string]*Store{}}
	if o.Directory == "" {
		return t, nil
	}
	if o.OpenBackend == nil {
		return nil, errors.New("state directory without a backend")
	}
	found, err := t.reopen()
	if err != nil || !found {
		t.distrust = err
		if err := t.removeDirectory(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// reopen opens the local copy if it can be trusted; found is false when there
// is none, and the error says why it cannot be trusted.
func (t *Task) reopen() (found bool, err error) {
	m, err := readMarker(t.options.Directory)
	if err != nil || m == nil {
		return false, err
	}
	if err := m.check(t.options.QueryHash, t.options.BootID); err != nil {
		return false, err
	}
	if err := t.openBackend(); err != nil {
		return false, err
	}
	if t.position, err = readPosition(t.backend); err != nil {
		return false, err
	}
	return true, t.position.checkTopics(t.options.TopicIDs)
}

// openBackend marks the directory as in use and opens the byte store.
func (t *Task) openBackend() error {
	data := filepath.Join(t.options.Directory, dataDirectory)
	if err := makeDirectory(data); err != nil {
		return err
	}
	m := marker{Version: formatVersion, Query: t.options.QueryHash, Boot: t.options.BootID}
	if err := m.write(t.options.Directory); err != nil {
		return err
	}
	backend, err := t.options.OpenBackend(data)
	if err != nil {
		return fmt.Errorf("open state %s: %w", data, err)
	}
	t.backend = backend
	t.writer = startWriter(backend)
	return nil
}

// AddStore adds an empty store. Names are unique in a task. All stores are
// added before Trusted and before the first change, in the same order for the
// same query hash.
func (t *Task) AddStore(name string, layout Layout, windowed bool) *Store {
	s := newStore(name, layout, windowed)
	s.task, s.durable = t, t.options.Directory != ""
	s.number = uint16(len(t.stores))
	t.stores = append(t.stores, s)
	t.byName[name] = s
	return s
}

// Store is the store of a name, nil when there is none.
func (t *Task) Store(name string) *Store { return t.byName[name] }

// Stores are all stores in the order they were added.
func (t *Task) Stores() []*Store { return t.stores }

// Trusted loads the local copy into the stores, if there is one to trust, and
// tells from which changelog position each store has to be replayed, and the
// ids of the changelog topics that the positions belong to. Without ok the
// stores are empty and the changelogs have to be restored from their begin. It
// is called once, before any change.
func (t *Task) Trusted() (positions map[string]int64, topicIDs map[string][16]byte, ok bool) {
	if t.position != nil {
		if err := t.loadAll(); err != nil {
			t.distrust = err
			if err := t.Discard(); err != nil {
				t.distrust = errors.Join(t.distrust, err)
			}
		}
	}
	t.loaded = true
	t.report()
	if t.position == nil {
		return nil, nil, false
	}
	positions, topicIDs = map[string]int64{}, map[string][16]byte{}
	for _, s := range t.position.Stores {
		positions[s.Name], topicIDs[s.Name] = s.Position, s.Topic
	}
	return positions, topicIDs, true
}

// Distrust tells why the local copy was removed; nil when it was trusted or
// there was none.
func (t *Task) Distrust() error { return t.distrust }

// Discard removes the local copy and empties all stores: for a copy whose
// positions the changelogs no longer have, and for ErrCorrupt.
func (t *Task) Discard() error {
	t.position = nil
	for _, s := range t.stores {
		s.clear()
	}
	t.checkpointing = checkpointing{}
	t.report()
	return t.removeDirectory()
}

// MemoryBytes is about how much memory the rows of all stores take.
func (t *Task) MemoryBytes() int64 {
	total := int64(0)
	for _, s := range t.stores {
		total += s.MemoryBytes()
	}
	return total
}

// Commit commits all stores.
func (t *Task) Commit() {
	for _, s := range t.stores {
		s.Commit()
	}
}

// Rollback takes the changes of all stores back.
func (t *Task) Rollback() {
	for _, s := range t.stores {
		s.Rollback()
	}
}

// Close ends the use of the task after the write in progress. Clean says that
// no power cut can follow a wrong copy: the files are synced and marked, so that
// the next Open trusts them also after a reboot. Uncommitted changes are lost.
func (t *Task) Close(clean bool) error {
	if t.options.Budget != nil {
		t.options.Budget.used.Add(-t.reported)
		t.reported = 0
	}
	if t.backend == nil {
		return nil
	}
	failed := t.collect(true)
	err := errors.Join(failed, t.closeBackend())
	if !clean || err != nil {
		return err
	}
	if err := syncTree(t.options.Directory); err != nil {
		return err
	}
	m := marker{Version: formatVersion, Query: t.options.QueryHash, Boot: t.options.BootID, Clean: true}
	return m.write(t.options.Directory)
}

func (t *Task) closeBackend() error {
	t.writer.stop()
	err := t.backend.Close()
	t.backend, t.writer = nil, nil
	return err
}

func (t *Task) removeDirectory() error {
	var err error
	if t.backend != nil {
		err = t.closeBackend()
	}
	t.position = nil
	return errors.Join(err, removeTree(t.options.Directory))
}
