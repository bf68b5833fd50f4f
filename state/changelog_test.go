package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"millrace/state"
)

func openMemory(t testing.TB) (*state.Task, *state.Store, *state.Store) {
	t.Helper()
	task, err := state.Open(state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return task, task.AddStore("plain", state.Layout{Fixed: 2}, false), task.AddStore("windowed", state.Layout{}, true)
}

func oneRow(t testing.TB, table *state.Table, key string) state.Row {
	t.Helper()
	var keys state.Keys
	keys.AppendBytes([]byte(key))
	rows := []state.Row{0}
	if err := table.FindOrAdd(&keys, nil, rows); err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

func changes(t testing.TB, s *state.Store) []string {
	t.Helper()
	var list []string
	err := s.Changes(func(key, value []byte, timestamp int64) error {
		text := fmt.Sprintf("%x -> %x", key, value)
		if value == nil {
			text = fmt.Sprintf("%x deleted", key)
		}
		list = append(list, fmt.Sprint(text, " @", timestamp))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func expectChanges(t *testing.T, s *state.Store, want ...string) {
	t.Helper()
	if got := changes(t, s); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// TestChangelogForm fixes the bytes of records: other versions of the program
// read them.
func TestChangelogForm(t *testing.T) {
	task, plain, windowed := openMemory(t)
	table := plain.Table(0)
	row := oneRow(t, table, "k")
	table.Touch(row)
	copy(table.Fixed(row), "ab")
	table.SetTime(row, 5)
	other := oneRow(t, table, "l")
	table.Touch(other)
	table.SetVariable(other, []byte("v"))
	never := oneRow(t, table, "m")
	table.Touch(never)
	table.Delete(never)
	plain.SetMeta("time", []byte{7})
	expectChanges(t, plain, "016b -> 01000a6162 @5", "016c -> 010100000076 @0", "0374696d65 -> 0107 @5")
	task.Commit()
	expectChanges(t, plain)

	table.Delete(row)
	table.SetTime(row, 9)
	plain.SetMeta("time", nil)
	expectChanges(t, plain, "016b deleted @9", "0374696d65 deleted @9")
	task.Rollback()
	expectChanges(t, plain)

	row = oneRow(t, windowed.Table(-1), "w")
	windowed.Table(-1).Touch(row)
	windowed.Table(-1).SetTime(row, -3)
	windowed.Table(3).Touch(oneRow(t, windowed.Table(3), ""))
	expectChanges(t, windowed, "027fffffffffffffff77 -> 010005 @-3", "028000000000000003 -> 010000 @0")
	task.Commit()
	windowed.DropWindow(3)
	windowed.DropWindow(4)
	expectChanges(t, windowed, "048000000000000003 -> 01 @0")
}

func TestChangesStopsAtError(t *testing.T) {
	_, plain, _ := openMemory(t)
	table := plain.Table(0)
	for _, key := range []string{"a", "b"} {
		table.Touch(oneRow(t, table, key))
	}
	stop, calls := errors.New("stop"), 0
	err := plain.Changes(func(_, _ []byte, _ int64) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

func TestRestoreRefusesOtherRecords(t *testing.T) {
	for _, c := range []struct {
		name       string
		windowed   bool
		key, value []byte
	}{
		{"no key", false, nil, []byte{1}},
		{"unknown kind", false, []byte{9, 'k'}, []byte{1, 0, 0, 'a', 'b'}},
		{"a window's row", false, []byte("\x02\x80\x00\x00\x00\x00\x00\x00\x00k"), []byte{1, 0, 0, 'a', 'b'}},
		{"a row without window", true, []byte("\x01k"), []byte{1, 0, 0}},
		{"half a window", true, []byte("\x02\x80\x00"), []byte{1, 0, 0}},
		{"a dropped window with a key", true, []byte("\x04\x80\x00\x00\x00\x00\x00\x00\x00k"), []byte{1}},
		{"a dropped window of another version", true, []byte("\x04\x80\x00\x00\x00\x00\x00\x00\x00"), []byte{2}},
		{"empty value", false, []byte("\x01k"), []byte{}},
		{"another version", false, []byte("\x01k"), []byte{2, 0, 0, 'a', 'b'}},
		{"unknown flags", false, []byte("\x01k"), []byte{1, 2, 0, 'a', 'b'}},
		{"no time", false, []byte("\x01k"), []byte{1, 0}},
		{"endless time", false, []byte("\x01k"), bytes.Repeat([]byte{1, 0, 255}, 20)},
		{"short fixed part", false, []byte("\x01k"), []byte{1, 0, 0, 'a'}},
		{"bytes behind", false, []byte("\x01k"), []byte{1, 0, 0, 'a', 'b', 'c'}},
		{"metadata without version", false, []byte("\x03m"), []byte{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, plain, windowed := openMemory(t)
			s := plain
			if c.windowed {
				s = windowed
			}
			if err := s.Restore(c.key, c.value); !errors.Is(err, state.ErrCorrupt) {
				t.Errorf("got %v, want ErrCorrupt", err)
			}
		})
	}
}

func TestRestoreTombstones(t *testing.T) {
	_, plain, windowed := openMemory(t)
	for _, r := range []record{
		{[]byte("\x01k"), []byte{1, 1, 2, 'a', 'b', 'v'}},
		{[]byte("\x01absent"), nil},
		{[]byte("\x03m"), []byte{1, 'x'}},
		{[]byte("\x03m"), nil},
		{[]byte("\x01k"), nil},
	} {
		if err := plain.Restore(r.key, r.value); err != nil {
			t.Fatal(err)
		}
	}
	err := plain.Range(0, nil, nil, func(table *state.Table, row state.Row) bool {
		t.Errorf("key %q is left", table.Key(row))
		return true
	})
	if err != nil || plain.Meta("m") != nil {
		t.Errorf("metadata %q, error %v", plain.Meta("m"), err)
	}
	for _, value := range [][]byte{nil, {1}} {
		if err := windowed.Restore([]byte("\x04\x80\x00\x00\x00\x00\x00\x00\x09"), value); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzRestore: no record panics; a store that took records gives them back.
func FuzzRestore(f *testing.F) {
	f.Add(false, []byte("\x01k"), []byte{1, 1, 2, 'a', 'b', 'v'})
	f.Add(true, []byte("\x02\x80\x00\x00\x00\x00\x00\x00\x00k"), []byte{1, 0, 0})
	f.Add(true, []byte("\x04\x80\x00\x00\x00\x00\x00\x00\x00"), []byte{1})
	f.Add(false, []byte("\x03m"), []byte{1, 'x'})
	f.Fuzz(func(t *testing.T, windows bool, key, value []byte) {
		_, plain, windowed := openMemory(t)
		s := plain
		if windows {
			s = windowed
		}
		for range 2 {
			if err := s.Restore(key, value); err != nil && !errors.Is(err, state.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
		}
		if err := s.Restore(key, nil); err != nil && !errors.Is(err, state.ErrCorrupt) {
			t.Fatalf("error %v", err)
		}
	})
}
