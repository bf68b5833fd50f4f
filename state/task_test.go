package state_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/state"
	"millrace/state/badger"
)

// copyOf is a task with one store and its local copy.
type copyOf struct {
	t       *testing.T
	options state.Options
	task    *state.Task
	store   *state.Store
}

func openCopy(t *testing.T, o state.Options) *copyOf {
	t.Helper()
	c := &copyOf{t: t, options: o}
	c.open()
	return c
}

func (c *copyOf) open() {
	c.t.Helper()
	var err error
	if c.task, err = state.Open(c.options); err != nil {
		c.t.Fatal(err)
	}
	c.store = c.task.AddStore("s", state.Layout{Fixed: 1}, true)
}

func (c *copyOf) close(clean bool) {
	c.t.Helper()
	if err := c.task.Close(clean); err != nil {
		c.t.Fatal(err)
	}
}

// put commits a row and checkpoints with a position, and lets the round end.
func (c *copyOf) put(window int64, key string, position int64) {
	c.t.Helper()
	table := c.store.Table(window)
	row := oneRow(c.t, table, key)
	table.Touch(row)
	table.Fixed(row)[0]++
	c.task.Commit()
	c.checkpoint(position)
}

func (c *copyOf) checkpoint(position int64) {
	c.t.Helper()
	if err := c.task.Checkpoint(map[string]int64{"s": position}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *copyOf) has(window int64, key string) bool {
	c.t.Helper()
	table := c.store.Lookup(window)
	if table == nil {
		return false
	}
	var keys state.Keys
	keys.AppendBytes([]byte(key))
	rows := make([]state.Row, 1)
	if err := table.Find(&keys, nil, rows); err != nil {
		c.t.Fatal(err)
	}
	return rows[0] != state.NoRow
}

func copyOptions(t *testing.T) state.Options {
	return state.Options{
		Directory: filepath.Join(t.TempDir(), "task"), OpenBackend: badger.Opener(0), QueryHash: "q", BootID: "this boot",
		TopicIDs: map[string][16]byte{"s": {1}},
	}
}

// TestTrust says after what a local copy is used, and after what it is removed.
func TestTrust(t *testing.T) {
	for _, c := range []struct {
		name   string
		clean  bool
		change func(o *state.Options)
		want   string // part of the reason; empty: trusted
	}{
		{"clean close", true, func(*state.Options) {}, ""},
		{"crash of the process", false, func(*state.Options) {}, ""},
		{"clean close and another boot", true, func(o *state.Options) { o.BootID = "other" }, ""},
		{"another boot", false, func(o *state.Options) { o.BootID = "other" }, "restarted"},
		{"another plan", true, func(o *state.Options) { o.QueryHash = "other" }, "plan"},
		{"another topic", true, func(o *state.Options) { o.TopicIDs = map[string][16]byte{"s": {2}} }, "topic"},
		{"no topic known", true, func(o *state.Options) { o.TopicIDs = nil }, ""},
		{"garbage as marker", true, func(o *state.Options) {
			_ = os.WriteFile(filepath.Join(o.Directory, "marker"), []byte("{"), 0o600)
		}, "marker"},
		{"another format", true, func(o *state.Options) {
			_ = os.WriteFile(filepath.Join(o.Directory, "marker"), []byte(`{"version":2,"query":"q","clean":true}`), 0o600)
		}, "format"},
		{"no marker", true, func(o *state.Options) { _ = os.Remove(filepath.Join(o.Directory, "marker")) }, "absent"},
		{"no store that opens", true, func(o *state.Options) {
			o.OpenBackend = func(string) (state.Backend, error) { return nil, errFault }
		}, "failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openCopy(t, copyOptions(t))
			if _, _, ok := s.task.Trusted(); ok {
				t.Fatal("a new directory is trusted")
			}
			s.put(0, "k", 41)
			s.close(c.clean)
			c.change(&s.options)
			s.open()
			positions, ids, ok := s.task.Trusted()
			if ok != (c.want == "") || s.has(0, "k") != ok {
				t.Fatalf("trusted: %v, row: %v, reason: %v", ok, s.has(0, "k"), s.task.Distrust())
			}
			if ok && (positions["s"] != 41 || ids["s"] != [16]byte{1}) {
				t.Fatalf("positions %v, topics %v", positions, ids)
			}
			if reason := fmt.Sprint(s.task.Distrust()); c.want != "" && c.want != "absent" && !strings.Contains(reason, c.want) {
				t.Fatalf("reason %q, want %q", reason, c.want)
			}
			if _, err := os.Stat(s.options.Directory); ok != (err == nil) {
				t.Fatalf("trusted: %v, directory: %v", ok, err)
			}
			if !ok {
				s.options.OpenBackend = nil
				return
			}
			s.close(false)
		})
	}
}

func TestOtherStoresAreNotTrusted(t *testing.T) {
	for _, c := range []struct {
		name     string
		layout   state.Layout
		windowed bool
		stores   []string
	}{
		{"another name", state.Layout{Fixed: 1}, true, []string{"x"}},
		{"another layout", state.Layout{Fixed: 2}, true, []string{"s"}},
		{"no windows", state.Layout{Fixed: 1}, false, []string{"s"}},
		{"one more", state.Layout{Fixed: 1}, true, []string{"s", "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openCopy(t, copyOptions(t))
			s.task.Trusted()
			s.put(0, "k", 1)
			s.close(true)
			task, err := state.Open(s.options)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range c.stores {
				task.AddStore(name, c.layout, c.windowed)
			}
			if _, _, ok := task.Trusted(); ok || task.Distrust() == nil {
				t.Fatalf("trusted: %v, reason: %v", ok, task.Distrust())
			}
			if len(task.Stores()[0].Windows()) > 0 {
				t.Fatal("rows of a copy that is not trusted")
			}
		})
	}
}

// TestPositionIsThatOfTheBegin: a round's position is that of its begin, though
// it ends after later commits.
func TestPositionIsThatOfTheBegin(t *testing.T) {
	o := copyOptions(t)
	o.SliceRows = 1
	clock := time.Unix(0, 0)
	o.Interval, o.Now = time.Minute, func() time.Time { return clock }
	s := openCopy(t, o)
	s.task.Trusted()
	table := s.store.Table(0)
	for i := range 3 {
		table.Touch(oneRow(t, table, fmt.Sprint(i)))
	}
	s.task.Commit()
	s.checkpoint(10)
	s.put(0, "late", 11)
	s.close(false)

	s.options.SliceRows = 0
	s.open()
	if _, _, ok := s.task.Trusted(); ok {
		t.Fatal("trusted in the middle of the first round")
	}
	for i := range 3 {
		s.store.Table(0).Touch(oneRow(t, s.store.Table(0), fmt.Sprint(i)))
	}
	s.task.Commit()
	s.checkpoint(10)
	s.put(0, "late", 11)
	s.close(false)
	s.open()
	if positions, _, ok := s.task.Trusted(); !ok || positions["s"] != 10 {
		t.Fatalf("trusted: %v, positions %v", ok, positions)
	}
	s.close(true)
}

func TestDroppedWindowLeavesTheCopy(t *testing.T) {
	s := openCopy(t, copyOptions(t))
	s.task.Trusted()
	for i := range 5000 {
		table := s.store.Table(1000)
		table.Touch(oneRow(t, table, fmt.Sprint(i)))
	}
	s.put(2000, "k", 5)
	s.close(true)
	s.open()
	s.task.Trusted()
	if !s.has(1000, "4999") || !s.has(2000, "k") {
		t.Fatal("rows are missing")
	}
	s.store.DropWindow(1000)
	s.task.Rollback()
	if !s.has(1000, "4999") {
		t.Fatal("a rollback did not bring the window back")
	}
	s.store.DropWindow(1000)
	s.task.Commit()
	s.checkpoint(6)
	s.close(true)
	s.open()
	positions, _, ok := s.task.Trusted()
	if !ok || positions["s"] != 6 || s.has(1000, "4999") || !s.has(2000, "k") {
		t.Fatalf("positions %v, windows %v", positions, s.store.Windows())
	}
	s.close(true)
}

func TestCheckpointRefusesOpenTransaction(t *testing.T) {
	s := openCopy(t, copyOptions(t))
	s.store.SetMeta("m", []byte("x"))
	if err := s.task.Checkpoint(nil); !errors.Is(err, state.ErrUncommitted) {
		t.Errorf("got %v, want ErrUncommitted", err)
	}
	s.close(true)
}

func TestDiscard(t *testing.T) {
	s := openCopy(t, copyOptions(t))
	s.task.Trusted()
	s.put(0, "k", 1)
	s.close(true)
	s.open()
	if _, _, ok := s.task.Trusted(); !ok {
		t.Fatal(s.task.Distrust())
	}
	if err := s.task.Discard(); err != nil {
		t.Fatal(err)
	}
	if s.has(0, "k") {
		t.Fatal("a row was left")
	}
	s.put(0, "l", 2)
	s.close(true)
	s.open()
	if positions, _, ok := s.task.Trusted(); !ok || positions["s"] != 2 || s.has(0, "k") || !s.has(0, "l") {
		t.Fatalf("trusted: %v, positions %v", ok, positions)
	}
	s.close(true)
}

// TestStateLargerThanMemory keeps a multiple of the budget.
func TestStateLargerThanMemory(t *testing.T) {
	const keys = 30_000
	o := copyOptions(t)
	o.Budget = state.NewBudget(400_000)
	s := openCopy(t, o)
	s.task.Trusted()
	for round := range 3 {
		for from := 0; from < keys; from += 1000 {
			table := s.store.Table(0)
			for i := from; i < from+1000; i++ {
				row := oneRow(t, table, fmt.Sprint(i*7919%keys))
				if got := table.Fixed(row)[0]; int(got) != round {
					t.Fatalf("round %d: key %d is %d", round, i*7919%keys, got)
				}
				table.Touch(row)
				table.Fixed(row)[0]++
			}
			s.task.Commit()
			s.checkpoint(int64(round*keys + from))
			if used := s.task.MemoryBytes(); used > 2*o.Budget.Limit() {
				t.Fatalf("%d bytes in memory, budget %d", used, o.Budget.Limit())
			}
		}
	}
	s.close(true)
	if o.Budget.Used() != 0 {
		t.Fatalf("a closed task takes %d bytes", o.Budget.Used())
	}
	s.open()
	if _, _, ok := s.task.Trusted(); !ok {
		t.Fatal(s.task.Distrust())
	}
	if used := s.task.MemoryBytes(); used > 2*o.Budget.Limit() {
		t.Fatalf("%d bytes loaded, budget %d", used, o.Budget.Limit())
	}
	count := 0
	err := s.store.Range(0, nil, nil, func(table *state.Table, row state.Row) bool {
		if table.Fixed(row)[0] == 3 {
			count++
		}
		return true
	})
	if err != nil || count != keys {
		t.Fatalf("%d keys, error %v", count, err)
	}
	s.close(true)
}
