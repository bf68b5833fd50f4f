package op

import (
	"testing"

	"millrace/state"

	"pgregory.net/rapid"
)

// TestSessionIndexAgainstModel holds the index against sets of slots, in windows
// of one slot up to those that need three levels.
func TestSessionIndexAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task, err := state.Open(state.Options{})
		if err != nil {
			t.Fatal(err)
		}
		store := task.AddStore("AGG", state.Layout{Fixed: sessionBounds}, true)
		slots := rapid.SampledFrom([]int64{1, 2, 64, 65, 4096, 5000}).Draw(t, "slots")
		x := newSessionIndex(store, slots)
		table := store.Table(0)
		present := map[string]map[int64]bool{"a": {}, "ab": {}}
		slot := rapid.OneOf(rapid.Int64Range(0, slots-1), rapid.SampledFrom([]int64{0, slots - 1, slots / 2}))
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			group := rapid.SampledFrom([]string{"a", "ab"}).Draw(t, "group")
			at := slot.Draw(t, "slot")
			if present[group][at] = !present[group][at]; present[group][at] {
				addToIndex(t, &x, table, group, at)
			} else {
				removeFromIndex(t, &x, table, group, at)
			}
			for _, group := range []string{"a", "ab"} {
				from := slot.Draw(t, "from")
				want := int64(-1)
				for s := from; s < slots && want < 0; s++ {
					if present[group][s] {
						want = s
					}
				}
				s, ok, err := x.next(table, []byte(group), from)
				if err != nil || ok != (want >= 0) || ok && s.end != want {
					t.Fatalf("behind slot %d of %s: session of slot %d, found %v, error %v; want slot %d", from, group, s.end, ok, err, want)
				}
			}
		}
	})
}

func addToIndex(t *rapid.T, x *sessionIndex, table *state.Table, group string, slot int64) {
	var keys state.Keys
	var rows [1]state.Row
	keys.AppendBytes(x.slotKey(nil, []byte(group), slot))
	if err := table.FindOrAdd(&keys, nil, rows[:]); err != nil {
		t.Fatal(err)
	}
	table.Touch(rows[0])
	putBounds(table.Fixed(rows[0]), slot, slot)
	if err := x.add(table, []byte(group), slot); err != nil {
		t.Fatal(err)
	}
}

func removeFromIndex(t *rapid.T, x *sessionIndex, table *state.Table, group string, slot int64) {
	s, ok, err := x.session(table, []byte(group), slot)
	if err != nil || !ok {
		t.Fatalf("slot %d of %s: found %v, error %v", slot, group, ok, err)
	}
	table.Delete(s.row)
	if err := x.remove(table, []byte(group), slot); err != nil {
		t.Fatal(err)
	}
}
