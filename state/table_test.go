package state_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"millrace/state"
)

// TestManyKeys goes through the growth of index and rows, the removal of most
// rows with compaction, and the reuse of what they left.
func TestManyKeys(t *testing.T) {
	const distinct = 120_000
	task, err := state.Open(state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := task.AddStore("s", state.Layout{Fixed: 8}, false).Table(0)
	rows := make([]state.Row, 1000)
	model := make([]uint64, distinct) // 0: absent
	each := func(round uint64, change func(k int, row state.Row)) {
		var keys state.Keys
		for from := 0; from < distinct; from += len(rows) {
			keys.Reset()
			for k := from; k < from+len(rows); k++ {
				keys.AppendBytes(fmt.Append(nil, "key ", k))
			}
			if err := table.FindOrAdd(&keys, nil, rows); err != nil {
				t.Fatal(err)
			}
			for n, row := range rows {
				want := model[from+n]
				value := binary.LittleEndian.Uint64(table.Fixed(row))
				if table.Exists(row) != (want > 0) || value != want || string(table.Key(row)) != string(keys.Key(n)) {
					t.Fatalf("round %d, key %q is %q with %d, want %d", round, keys.Key(n), table.Key(row), value, want)
				}
				if variable := table.Variable(row); want > 0 && !bytes.Equal(variable, bytes.Repeat([]byte{byte(want)}, 40)) {
					t.Fatalf("round %d, key %q has variable part %x", round, keys.Key(n), variable)
				}
				change(from+n, row)
			}
		}
		task.Commit()
	}
	for round := uint64(1); round < 5; round++ {
		each(round, func(k int, row state.Row) {
			table.Touch(row)
			model[k] = round<<32 | uint64(k)<<8 | round
			binary.LittleEndian.PutUint64(table.Fixed(row), model[k])
			table.SetVariable(row, bytes.Repeat([]byte{byte(round)}, 40))
		})
		full := task.MemoryBytes()
		each(round, func(k int, row state.Row) {
			if k%10 != int(round) {
				table.Delete(row)
				model[k] = 0
			}
		})
		if rest := task.MemoryBytes(); rest > full*2/3 {
			t.Fatalf("round %d: %d of %d bytes are left", round, rest, full)
		}
	}
}

func TestViewsOfRow(t *testing.T) {
	task, plain, _ := openMemory(t)
	table := plain.Table(0)
	row := oneRow(t, table, "k")
	if table.Exists(row) || table.Variable(row) != nil {
		t.Fatal("a row that was never touched exists")
	}
	table.Touch(row)
	table.SetVariable(row, []byte{})
	if variable := table.Variable(row); variable == nil || len(variable) > 0 {
		t.Fatalf("an empty variable part is %v", variable)
	}
	large := bytes.Repeat([]byte("x"), 1<<20)
	table.SetVariable(row, large)
	task.Commit()
	table.Touch(row)
	table.SetVariable(row, table.Variable(row)[:100_000])
	_, before, existed, _ := table.PreImage(row)
	if !existed || !bytes.Equal(before, large) || len(table.Variable(row)) != 100_000 {
		t.Fatalf("existed: %v, %d bytes before, %d now", existed, len(before), len(table.Variable(row)))
	}
	task.Rollback()
	if !bytes.Equal(table.Variable(row), large) {
		t.Fatal("the rollback lost the variable part")
	}
	table.Delete(row)
	table.Touch(row)
	if table.Variable(row) != nil || table.Fixed(row)[0] != 0 || !table.Exists(row) {
		t.Fatal("a deleted row that came back has its old cells")
	}
}

func TestTouchedOrder(t *testing.T) {
	task, _, windowed := openMemory(t)
	for i, key := range []string{"c", "a", "b", "a"} {
		table := windowed.Table(int64(i % 2))
		table.Touch(oneRow(t, table, key))
	}
	var got []string
	windowed.Touched(func(table *state.Table, row state.Row) {
		got = append(got, fmt.Sprint(table.Window(), string(table.Key(row))))
	})
	if fmt.Sprint(got) != "[0c 0b 1a]" {
		t.Errorf("got %v", got)
	}
	task.Commit()
	windowed.Touched(func(*state.Table, state.Row) { t.Error("a row is touched after the commit") })
}

func TestWindows(t *testing.T) {
	task, plain, windowed := openMemory(t)
	for _, start := range []int64{5, -5, 0} {
		windowed.Table(start)
	}
	starts := windowed.Windows()
	for _, start := range starts {
		windowed.DropWindow(start)
	}
	if fmt.Sprint(starts) != "[-5 0 5]" || len(windowed.Windows()) > 0 || windowed.Lookup(5) != nil {
		t.Errorf("windows %v, after the drop %v", starts, windowed.Windows())
	}
	task.Rollback()
	if fmt.Sprint(windowed.Windows()) != "[-5 0 5]" {
		t.Errorf("windows %v after the rollback", windowed.Windows())
	}
	plain.Table(0).Touch(oneRow(t, plain.Table(0), "k"))
	plain.DropWindow(0)
	if plain.Table(7) != plain.Table(0) || len(plain.Table(0).Touched()) != 1 {
		t.Error("a store without windows has more than one table, or dropped it")
	}
}
