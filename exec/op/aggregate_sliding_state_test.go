package op

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/state"
	"millrace/state/memory"

	"pgregory.net/rapid"
)

// keptChanges are the changelog records of committed transactions.
type keptChanges struct{ keys, values [][]byte }

// commitKept commits, keeps the changelog records, and writes a checkpoint if
// the state has a directory.
func (h *harness) commitKept(t reporter, kept *keptChanges) {
	t.Helper()
	if err := h.flush(); err != nil {
		t.Fatal(err)
	}
	positions := map[string]int64{}
	for _, s := range h.task.Stores() {
		err := s.Changes(func(key, value []byte, _ int64) error {
			kept.keys = append(kept.keys, slices.Clone(key))
			if value != nil {
				value = append([]byte{}, value...)
			}
			kept.values = append(kept.values, value)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Commit()
		positions[s.Name()] = int64(len(kept.keys))
	}
	h.sink.committed = len(h.sink.lines)
	if err := h.task.Checkpoint(positions); err != nil {
		t.Fatal(err)
	}
}

// open gives the harness an empty state with the options.
func (h *harness) open(t reporter, options state.Options) {
	t.Helper()
	task, err := state.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range h.subgraph.Stores {
		layout, err := StoreLayout(h.subgraph, s.Name)
		if err != nil {
			t.Fatal(err)
		}
		task.AddStore(s.Name, layout, s.Windowed)
	}
	if _, _, ok := task.Trusted(); ok {
		t.Fatal("a new state is trusted")
	}
	h.task = task
	h.env.Store = func(name string) (*state.Store, error) { return task.Store(name), nil }
	h.restart(t)
}

// TestSlidingMovesAndSpills takes rows with a memory budget of nothing, so that
// every commit leaves the pages in the local copy alone, and with moves, which
// build the state from the changelog.
func TestSlidingMovesAndSpills(t *testing.T) {
	for _, emitFinal := range []bool{false, true} {
		t.Run(fmt.Sprintf("final=%v", emitFinal), func(t *testing.T) {
			directory, opened := t.TempDir(), 0
			options := func() state.Options {
				opened++
				disk := memory.NewDisk()
				return state.Options{
					Directory:   filepath.Join(directory, fmt.Sprint(opened)),
					OpenBackend: disk.Open, Budget: state.NewBudget(1), QueryHash: "q", BootID: "b",
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.Int64Range(1, 12).Draw(t, "size")
				grace := rapid.SampledFrom([]int64{0, 3, 10, 100}).Draw(t, "grace")
				records := drawSlidingRows(t, size, grace)
				model := newSlidingModel(size, grace, emitFinal)
				h := newHarness(t, slidingRows(size, grace, emitFinal), false)
				h.open(t, options())
				kept := &keptChanges{}
				for _, r := range records {
					model.row(r.values[0].(int64), r.time, r.values[1].(int64))
					if err := h.push(0, []record{r}); err != nil {
						t.Fatal(err)
					}
					switch rapid.IntRange(0, 4).Draw(t, "then") {
					case 0:
						h.commitKept(t, kept)
					case 1:
						h.commitKept(t, kept)
						if err := h.task.Close(false); err != nil {
							t.Fatal(err)
						}
						h.open(t, options())
						for n, key := range kept.keys {
							if err := h.task.Stores()[0].Restore(key, kept.values[n]); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				h.commitKept(t, kept)
				if err := h.task.Close(false); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(lineTexts(h.sink.lines), lineTexts(model.lines)) {
					t.Fatalf("size %d, grace %d: got\n%s\nwant\n%s", size, grace,
						strings.Join(h.sink.lines, "\n"), strings.Join(model.lines, "\n"))
				}
			})
		})
	}
}

// failingSink fails once, at a batch, as a sink does whose transaction is lost.
type failingSink struct {
	*textSink
	at int
}

var errLost = errors.New("lost")

func (s *failingSink) Push(port int, b *column.Batch) error {
	if s.at--; s.at == 0 {
		return errLost
	}
	return s.textSink.Push(port, b)
}

// TestSlidingGoesOnAfterFailure fails in the middle of a batch's output, rolls back
// and takes the rows again with the same operators.
func TestSlidingGoesOnAfterFailure(t *testing.T) {
	var records []record
	for n := range int64(100) {
		records = append(records, record{time: 100 + n, present: true, values: []any{int64(1), n}})
	}
	for _, mode := range []string{"record", "commit", "final"} {
		t.Run(mode, func(t *testing.T) {
			subgraph := slidingRows(40, 5, mode == "final")
			want := newHarness(t, subgraph, mode == "commit")
			take := func(h *harness, records []record) error {
				if err := h.push(0, records); err != nil {
					return err
				}
				return h.commit()
			}
			if err := errors.Join(take(want, records[:1]), take(want, records[1:])); err != nil {
				t.Fatal(err)
			}
			h := newHarness(t, subgraph, mode == "commit")
			at := map[string]int{"record": 3, "commit": 2, "final": 1}[mode]
			var err error
			if h.pipeline, err = Build(subgraph, h.env, &failingSink{h.sink, at}); err != nil {
				t.Fatal(err)
			}
			if err := take(h, records[:1]); err != nil {
				t.Fatal(err)
			}
			if err := take(h, records[1:]); !errors.Is(err, errLost) {
				t.Fatalf("error %v", err)
			}
			h.rollback()
			if err := take(h, records[1:]); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(h.sink.lines, want.sink.lines) {
				t.Fatalf("got\n%s\nwant\n%s", strings.Join(h.sink.lines, "\n"), strings.Join(want.sink.lines, "\n"))
			}
		})
	}
}

// TestSlidingForgetsOutputOfFailure fails between two rows of a batch: what the
// first put out must not come after the rollback.
func TestSlidingForgetsOutputOfFailure(t *testing.T) {
	h := newHarness(t, slidingRows(10, 5, false), false)
	first := record{time: 50, present: true, values: []any{int64(1), int64(1)}}
	second := record{time: 50, present: true, values: []any{int64(2), int64(2)}}
	if err := h.push(0, []record{second}); err != nil {
		t.Fatal(err)
	}
	h.task.Stores()[0].Touched(func(table *state.Table, row state.Row) {
		table.SetVariable(row, slices.Clone(table.Variable(row)[:20]))
	})
	if err := h.push(0, []record{first, second}); !errors.Is(err, state.ErrCorrupt) {
		t.Fatalf("error %v, want ErrCorrupt", err)
	}
	h.rollback()
	if err := h.push(0, []record{second}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"@50 2, 40, 50, 1, [2]"}; !slices.Equal(lineTexts(h.sink.lines), want) {
		t.Fatalf("got %v, want %v", h.sink.lines, want)
	}
}
