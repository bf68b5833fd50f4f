// Package conformance is the suite that every state.Backend passes.
package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/state"
)

// Run checks the stores that open makes. It opens a directory again after its
// store was closed.
func Run(t *testing.T, open func(directory string) (state.Backend, error)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, h *harness)
	}{
		{"get", get},
		{"order of a batch", order},
		{"range", ranges},
		{"long keys and values", long},
		{"errors of callbacks", callbacks},
		{"a reader while a writer writes", concurrent},
		{"random operations", random},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &harness{t: t, open: open, directory: t.TempDir()}
			h.start()
			c.run(t, h)
			h.reopen()
			if err := h.backend.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

type harness struct {
	t         *testing.T
	open      func(directory string) (state.Backend, error)
	directory string
	backend   state.Backend
}

func (h *harness) start() {
	h.t.Helper()
	var err error
	if h.backend, err = h.open(h.directory); err != nil {
		h.t.Fatal(err)
	}
}

func (h *harness) reopen() {
	h.t.Helper()
	if err := h.backend.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.start()
}

// write puts the pairs; a value "-" deletes.
func (h *harness) write(pairs ...string) {
	h.t.Helper()
	var b state.Batch
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "-" {
			b.Delete([]byte(pairs[i]))
		} else {
			b.Put([]byte(pairs[i]), []byte(pairs[i+1]))
		}
	}
	if err := h.backend.Write(&b); err != nil {
		h.t.Fatal(err)
	}
}

func (h *harness) expect(want []string, keys ...string) {
	h.t.Helper()
	list := make([][]byte, len(keys))
	for i, key := range keys {
		list[i] = []byte(key)
	}
	var got []string
	err := h.backend.Get(list, func(n int, value []byte) error {
		got = append(got, keys[n]+"="+string(value))
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		h.t.Fatalf("get %q: got %q and %v, want %q", keys, got, err, want)
	}
}

func (h *harness) scan(from, to []byte) []string {
	h.t.Helper()
	var got []string
	err := h.backend.Range(from, to, func(key, value []byte) (bool, error) {
		got = append(got, string(key)+"="+string(value))
		return true, nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

func get(_ *testing.T, h *harness) {
	h.expect(nil, "a", "b")
	h.write("a", "1", "b", "", "c\x00", "3")
	h.expect([]string{"c\x00=3", "a=1", "b=", "a=1"}, "c\x00", "x", "a", "b", "a", "c")
	h.reopen()
	h.expect([]string{"a=1", "b=", "c\x00=3"}, "a", "b", "c\x00")
	h.write("a", "-", "b", "2", "never there", "-")
	h.expect([]string{"b=2"}, "a", "b")
	h.reopen()
	h.expect([]string{"b=2"}, "a", "b")
}

func order(_ *testing.T, h *harness) {
	h.write("a", "1", "a", "2", "b", "1", "b", "-", "c", "-", "c", "3")
	h.expect([]string{"a=2", "c=3"}, "a", "b", "c")
	h.write()
	h.expect([]string{"a=2", "c=3"}, "a", "b", "c")
}

func ranges(t *testing.T, h *harness) {
	h.write("b", "2", "a\xff", "1", "a", "0", "c", "4", "b\x00", "3", "\x00", "z")
	check := func(got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	check(h.scan(nil, nil), "\x00=z", "a=0", "a\xff=1", "b=2", "b\x00=3", "c=4")
	check(h.scan([]byte("a"), []byte("b")), "a=0", "a\xff=1")
	check(h.scan([]byte("a\x00"), []byte("b\x00")), "a\xff=1", "b=2")
	check(h.scan([]byte("b\x01"), nil), "c=4")
	check(h.scan([]byte("d"), nil))
	h.write("b", "-")
	h.reopen()
	check(h.scan([]byte("a\xff"), []byte("c")), "a\xff=1", "b\x00=3")
}

func long(t *testing.T, h *harness) {
	beginning := string(bytes.Repeat([]byte("k"), 70_000))
	value := string(bytes.Repeat([]byte("v"), 1<<20))
	h.write(beginning+"b", "2", beginning+"a", value, beginning, "0", beginning[:60_000], "short", "k", "first", "l", "last")
	h.reopen()
	h.expect([]string{beginning + "a=" + value, beginning + "=0"}, beginning+"a", beginning, beginning+"c")
	want := []string{beginning[:60_000] + "=short", beginning + "=0", beginning + "a=" + value, beginning + "b=2", "l=last"}
	if got := h.scan([]byte("kk"), nil); !slices.Equal(got, want) {
		t.Fatalf("the order of long keys is wrong: %d keys", len(got))
	}
	if got := h.scan([]byte(beginning+"a"), []byte(beginning+"b")); !slices.Equal(got, want[2:3]) {
		t.Fatalf("a range between long keys has %d keys", len(got))
	}
	h.write(beginning+"a", "-")
	h.expect([]string{beginning + "b=2"}, beginning+"a", beginning+"b")
}

var errStop = errors.New("stop")

func callbacks(t *testing.T, h *harness) {
	h.write("a", "1", "b", "2", "c", "3")
	err := h.backend.Get([][]byte{[]byte("a"), []byte("b")}, func(int, []byte) error { return errStop })
	if !errors.Is(err, errStop) {
		t.Fatalf("get returned %v", err)
	}
	calls := 0
	err = h.backend.Range(nil, nil, func(_, _ []byte) (bool, error) {
		calls++
		return true, errStop
	})
	if !errors.Is(err, errStop) || calls != 1 {
		t.Fatalf("range returned %v after %d calls", err, calls)
	}
	calls = 0
	err = h.backend.Range(nil, nil, func(_, _ []byte) (bool, error) {
		calls++
		return calls < 2, nil
	})
	if err != nil || calls != 2 {
		t.Fatalf("range returned %v after %d calls", err, calls)
	}
}

func concurrent(t *testing.T, h *harness) {
	const rounds = 50
	done := make(chan error)
	go func() {
		for round := range rounds {
			var b state.Batch
			for i := range 20 {
				b.Put(fmt.Appendf(nil, "key %d", i), fmt.Appendf(nil, "%d", round))
			}
			if err := h.backend.Write(&b); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range rounds {
		h.scan(nil, nil)
		if err := h.backend.Get([][]byte{[]byte("key 1")}, func(int, []byte) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	h.expect([]string{fmt.Sprintf("key 7=%d", rounds-1)}, "key 7")
}

func random(t *testing.T, h *harness) {
	r := rand.New(rand.NewPCG(1, 2))
	model := map[string]string{}
	key := func() string { return string([]byte("ab\x00\xff")[r.IntN(4)]) + fmt.Sprint(r.IntN(300)) }
	for range 40 {
		var b state.Batch
		for range r.IntN(200) {
			k := key()
			if r.IntN(3) == 0 {
				delete(model, k)
				b.Delete([]byte(k))
			} else {
				model[k] = fmt.Sprint(r.Uint64())
				b.Put([]byte(k), []byte(model[k]))
			}
		}
		if err := h.backend.Write(&b); err != nil {
			t.Fatal(err)
		}
		if r.IntN(5) == 0 {
			h.reopen()
		}
		from, to := key(), key()
		var want []string
		for _, k := range slices.Sorted(maps.Keys(model)) {
			if k >= from && k < to {
				want = append(want, k+"="+model[k])
			}
		}
		if got := h.scan([]byte(from), []byte(to)); !slices.Equal(got, want) {
			t.Fatalf("range %q to %q: got %q, want %q", from, to, got, want)
		}
	}
}
