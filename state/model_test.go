package state_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"millrace/state"
	"millrace/state/badger"
	"millrace/state/memory"
)

// modelRow is a row as a map holds it.
type modelRow struct {
	fixed    uint64
	variable string
	some     bool // has a variable part
	time     int64
}

// modelStore is the plain answer to what a store must hold.
type modelStore struct {
	windows map[int64]map[string]modelRow
	meta    map[string]string
}

func newModelStore() modelStore {
	return modelStore{windows: map[int64]map[string]modelRow{}, meta: map[string]string{}}
}

func (m modelStore) clone() modelStore {
	c := modelStore{windows: map[int64]map[string]modelRow{}, meta: maps.Clone(m.meta)}
	for start, rows := range m.windows {
		c.windows[start] = maps.Clone(rows)
	}
	return c
}

func (m modelStore) rows(window int64) map[string]modelRow {
	if m.windows[window] == nil {
		m.windows[window] = map[string]modelRow{}
	}
	return m.windows[window]
}

type record struct{ key, value []byte }

// world is a task, its changelogs, and the model of its stores.
type world struct {
	t         *testing.T
	r         *rand.Rand
	options   state.Options
	fault     *fault
	task      *state.Task
	stores    []*state.Store
	committed []modelStore
	now       []modelStore
	log       [][]record
}

var errFault = errors.New("write failed")

// onDisk opens stores in memory whose content is gone when their directory was
// removed.
func onDisk() func(string) (state.Backend, error) {
	disk := memory.NewDisk()
	return func(directory string) (state.Backend, error) {
		file := filepath.Join(directory, "content")
		if _, err := os.Stat(file); err != nil {
			disk.Remove(directory)
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				return nil, err
			}
		}
		return disk.Open(directory)
	}
}

// fault makes a backend's writes fail halfway.
type fault struct {
	mutex sync.Mutex
	after int // writes that still succeed; negative: all
	part  float64
}

func (f *fault) set(after int, part float64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.after, f.part = after, part
}

// next tells whether the next write succeeds, and which part of it if not.
func (f *fault) next() (part float64, ok bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.after != 0 {
		f.after--
		return 1, true
	}
	return f.part, false
}

type faulty struct {
	state.Backend
	fault *fault
}

func (f *faulty) Write(b *state.Batch) error {
	part, ok := f.fault.next()
	if ok {
		return f.Backend.Write(b)
	}
	var torn state.Batch
	limit := int(part * float64(b.Len()+1))
	_ = b.Each(func(key, value []byte, deleted bool) error {
		if torn.Len() < limit {
			if deleted {
				torn.Delete(key)
			} else {
				torn.Put(key, value)
			}
		}
		return nil
	})
	if err := f.Backend.Write(&torn); err != nil {
		return err
	}
	return errFault
}

func newWorld(t *testing.T, seed uint64, open func(string) (state.Backend, error), budget int64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 7)), fault: &fault{after: -1}}
	w.options = state.Options{
		QueryHash: "q", BootID: "boot", SliceRows: 7,
		TopicIDs: map[string][16]byte{"plain": {1}, "windowed": {2}},
	}
	if open != nil {
		w.options.Directory = t.TempDir()
		w.options.OpenBackend = func(directory string) (state.Backend, error) {
			b, err := open(directory)
			return &faulty{b, w.fault}, err
		}
	}
	if budget > 0 {
		w.options.Budget = state.NewBudget(budget)
	}
	for range 2 {
		w.committed = append(w.committed, newModelStore())
		w.now = append(w.now, newModelStore())
		w.log = append(w.log, nil)
	}
	w.open()
	return w
}

// open starts the task and replays what the local copy lacks.
func (w *world) open() {
	w.t.Helper()
	task, err := state.Open(w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.task = task
	w.stores = []*state.Store{
		task.AddStore("plain", state.Layout{Fixed: 8}, false),
		task.AddStore("windowed", state.Layout{Fixed: 8}, true),
	}
	positions, _, ok := task.Trusted()
	if !ok && len(positions) > 0 {
		w.t.Fatal("positions of a copy that is not trusted")
	}
	done := map[string]int64{}
	for i, s := range w.stores {
		from := positions[s.Name()]
		for at := from; at < int64(len(w.log[i])); at++ {
			if err := s.Restore(w.log[i][at].key, w.log[i][at].value); err != nil {
				w.t.Fatal(err)
			}
		}
		done[s.Name()] = int64(len(w.log[i]))
	}
	w.fault.set(-1, 0)
	if err := task.Checkpoint(done); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) key() []byte {
	return binary.BigEndian.AppendUint16([]byte("k"), uint16(w.r.IntN(60)))
}

func (w *world) window(store int) int64 {
	if store == 0 {
		return 0
	}
	return int64(w.r.IntN(5)-1) * 1000
}

// change updates and deletes some rows of a window.
func (w *world) change() {
	store := w.r.IntN(2)
	window := w.window(store)
	table, model := w.stores[store].Table(window), w.now[store].rows(window)
	var keys state.Keys
	for range 1 + w.r.IntN(30) {
		keys.AppendBytes(w.key())
	}
	rows := make([]state.Row, keys.Len())
	if err := table.FindOrAdd(&keys, nil, rows); err != nil {
		w.t.Fatal(err)
	}
	for n, row := range rows {
		key := string(keys.Key(n))
		old, had := model[key]
		w.check(table, row, old, had)
		switch {
		case w.r.IntN(4) == 0:
			continue
		case had && w.r.IntN(4) == 0:
			table.Delete(row)
			delete(model, key)
			continue
		}
		table.Touch(row)
		old.fixed += 1 + w.r.Uint64N(1000)
		binary.LittleEndian.PutUint64(table.Fixed(row), old.fixed)
		old.time = w.r.Int64N(1_000_000)
		table.SetTime(row, old.time)
		w.changeVariable(table, row, &old)
		model[key] = old
	}
}

func (w *world) changeVariable(table *state.Table, row state.Row, old *modelRow) {
	switch w.r.IntN(6) {
	case 0:
		old.variable, old.some = "", false
		table.SetVariable(row, nil)
	case 1, 2:
		for range 1 + w.r.IntN(4) {
			tail := bytes.Repeat([]byte{byte(w.r.IntN(256))}, w.r.IntN(30))
			if w.r.IntN(20) == 0 {
				tail = bytes.Repeat(tail, 700)
			}
			part := table.ExtendVariable(row, len(tail))
			copy(part[len(part)-len(tail):], tail)
			if len(part) > 0 {
				part[w.r.IntN(len(part))]++
			}
			if want := len(old.variable) + len(tail); len(part) != want {
				w.t.Fatalf("a part of %d bytes, want %d", len(part), want)
			}
			old.variable, old.some = string(part), true
		}
	case 3, 4:
		length := w.r.IntN(40)
		if w.r.IntN(20) == 0 {
			length = w.r.IntN(40_000)
		}
		value := bytes.Repeat([]byte{byte(w.r.IntN(256))}, length)
		old.variable, old.some = string(value), true
		table.SetVariable(row, value)
	}
}

func (w *world) check(table *state.Table, row state.Row, want modelRow, exists bool) {
	w.t.Helper()
	if table.Exists(row) != exists {
		w.t.Fatalf("row %q exists: %v, want %v", table.Key(row), table.Exists(row), exists)
	}
	variable := table.Variable(row)
	got := modelRow{binary.LittleEndian.Uint64(table.Fixed(row)), string(variable), variable != nil, table.Time(row)}
	if !exists {
		got.time = want.time
	}
	if got != want {
		w.t.Fatalf("row %q is %+v, want %+v", table.Key(row), got, want)
	}
}

// find compares lookups with the model.
func (w *world) find() {
	store := w.r.IntN(2)
	window := w.window(store)
	table, model := w.stores[store].Table(window), w.now[store].rows(window)
	var keys state.Keys
	var selection []int32
	for n := range int32(200) {
		keys.AppendBytes(w.key())
		if w.r.IntN(3) > 0 {
			selection = append(selection, n)
		}
	}
	rows := make([]state.Row, keys.Len())
	if err := table.Find(&keys, selection, rows); err != nil {
		w.t.Fatal(err)
	}
	for _, n := range selection {
		want, exists := model[string(keys.Key(int(n)))]
		if exists != (rows[n] != state.NoRow) {
			w.t.Fatalf("key %q: row %d, want exists %v", keys.Key(int(n)), rows[n], exists)
		}
		if exists {
			w.check(table, rows[n], want, true)
		}
	}
}

func (w *world) other() {
	if w.r.IntN(3) == 0 {
		start := w.window(1)
		w.stores[1].DropWindow(start)
		delete(w.now[1].windows, start)
		return
	}
	store, name := w.r.IntN(2), fmt.Sprint("m", w.r.IntN(3))
	if w.r.IntN(4) == 0 {
		w.stores[store].SetMeta(name, nil)
		delete(w.now[store].meta, name)
		return
	}
	value := fmt.Sprint(w.r.IntN(1000))
	w.stores[store].SetMeta(name, []byte(value))
	w.now[store].meta[name] = value
}

// checkPreImages compares the rows before the transaction with the model's.
func (w *world) checkPreImages() {
	for i, s := range w.stores {
		s.Touched(func(table *state.Table, row state.Row) {
			if i == 1 && w.now[1].windows[table.Window()] == nil {
				return
			}
			fixed, variable, existed, time := table.PreImage(row)
			want, had := w.committed[i].windows[table.Window()][string(table.Key(row))]
			got := modelRow{binary.LittleEndian.Uint64(fixed), string(variable), variable != nil, time}
			if dropped := existed != had; dropped && !existed {
				return // its window was dropped in this transaction and began anew
			}
			if existed != had || had && got != want {
				w.t.Fatalf("row %q was %+v (%v), want %+v (%v)", table.Key(row), got, existed, want, had)
			}
		})
	}
}

// commit ends the transaction; it returns false if the checkpoint failed.
func (w *world) commit() bool {
	w.checkPreImages()
	positions := map[string]int64{}
	for i, s := range w.stores {
		err := s.Changes(func(key, value []byte, _ int64) error {
			w.log[i] = append(w.log[i], record{bytes.Clone(key), bytes.Clone(value)})
			return nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
		positions[s.Name()] = int64(len(w.log[i]))
		w.committed[i] = w.now[i].clone()
	}
	w.task.Commit()
	err := w.task.Checkpoint(positions)
	if err != nil && !errors.Is(err, errFault) {
		w.t.Fatal(err)
	}
	return err == nil
}

func (w *world) rollback() {
	w.task.Rollback()
	for i := range w.now {
		w.now[i] = w.committed[i].clone()
	}
}

// restart ends the task, losing what is not committed, and starts it anew.
func (w *world) restart(clean bool) {
	w.t.Helper()
	if err := w.task.Close(clean); err != nil && !errors.Is(err, errFault) {
		w.t.Fatal(err)
	}
	for i := range w.now {
		w.now[i] = w.committed[i].clone()
	}
	w.open()
	w.checkAll()
}

// checkAll compares everything with the model.
func (w *world) checkAll() {
	w.t.Helper()
	for i, s := range w.stores {
		for _, start := range s.Windows() {
			w.checkWindow(s, start, w.now[i].windows[start])
		}
		for start, rows := range w.now[i].windows {
			if len(rows) > 0 && s.Lookup(start) == nil {
				w.t.Fatalf("store %s has no window %d", s.Name(), start)
			}
		}
		for n := range 3 {
			name := fmt.Sprint("m", n)
			want, has := w.now[i].meta[name]
			if got := s.Meta(name); string(got) != want || has != (got != nil) {
				w.t.Fatalf("metadata %s is %q, want %q", name, got, want)
			}
		}
	}
}

func (w *world) checkWindow(s *state.Store, start int64, model map[string]modelRow) {
	w.t.Helper()
	from, to := w.key(), w.key()
	if w.r.IntN(2) == 0 {
		from, to = nil, nil
	}
	var want, got []string
	for _, key := range slices.Sorted(maps.Keys(model)) {
		if key >= string(from) && (to == nil || key < string(to)) {
			want = append(want, key)
		}
	}
	err := s.Range(start, from, to, func(table *state.Table, row state.Row) bool {
		key := string(table.Key(row))
		old, had := model[key]
		w.check(table, row, old, had)
		got = append(got, key)
		return true
	})
	if err != nil || !slices.Equal(got, want) {
		w.t.Fatalf("store %s window %d has %q (%v), want %q", s.Name(), start, got, err, want)
	}
}

func (w *world) run(steps int) {
	for range steps {
		switch n := w.r.IntN(40); {
		case n < 16:
			w.change()
		case n < 20:
			w.find()
		case n < 23:
			w.other()
		case n < 25:
			w.rollback()
			w.checkAll()
		case n < 26:
			w.checkAll()
		case n < 27 && w.options.Directory != "":
			w.restart(w.r.IntN(2) == 0)
		case n < 28 && w.options.Directory != "":
			w.fault.set(w.r.IntN(3), w.r.Float64())
		default:
			if !w.commit() {
				w.restart(false)
			}
		}
	}
	w.rollback()
	w.checkAll()
	if err := w.task.Close(true); err != nil && !errors.Is(err, errFault) {
		w.t.Fatal(err)
	}
}

func onBadger() func(string) (state.Backend, error) { return badger.Opener(0) }

func nowhere() func(string) (state.Backend, error) { return nil }

// TestModel runs random operations in many worlds; all must agree with maps.
func TestModel(t *testing.T) {
	for _, c := range []struct {
		name   string
		open   func() func(string) (state.Backend, error)
		budget int64
		seeds  uint64
	}{
		{"memory only", nowhere, 0, 12},
		{"checkpoint", onDisk, 0, 12},
		{"spill", onDisk, 1, 12},
		{"spill some", onDisk, 20_000, 12},
		{"badger", onBadger, 15_000, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range c.seeds {
				t.Run(fmt.Sprint(seed), func(t *testing.T) { newWorld(t, seed, c.open(), c.budget).run(400) })
			}
		})
	}
}
