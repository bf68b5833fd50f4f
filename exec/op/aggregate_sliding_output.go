package op

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"millrace/exec/column"
	"millrace/state"
)

// slidingOutputBytes is how many bytes of results a batch may hold before it is
// handed on.
const slidingOutputBytes = 8 << 20

// slidingOutput collects windows into batches.
type slidingOutput struct {
	*output
	a *slidingAggregate
	n int // rows so far

	// The record that a fault of a result is reported at: a row of the input, or
	// of the output itself.
	cause    *column.Batch
	causeRow int32
	// reportFault is report of this row, made once.
	reportFault report
}

func newSlidingOutput(o *output, a *slidingAggregate) *slidingOutput {
	s := &slidingOutput{output: o, a: a}
	s.reportFault = func(name string, err error) { s.fault(s.cause, s.causeRow, name, err) }
	return s
}

// next makes room for a row and returns its number.
func (o *slidingOutput) next() (int, error) {
	if o.n == column.MaxRows || o.arena.Taken() > slidingOutputBytes {
		if err := o.push(); err != nil {
			return 0, err
		}
	}
	if o.n == 0 {
		o.arena.Reset()
		o.begin(column.MaxRows)
		o.batch.Arena = &o.arena
	}
	o.n++
	return o.n - 1, nil
}

// push hands on what was collected.
func (o *slidingOutput) push() error {
	if o.n == 0 {
		return nil
	}
	b := &o.batch
	b.Len, b.Selection = o.n, b.Selection[:o.n]
	o.n = 0
	return o.a.next.Push(0, b)
}

// drop forgets what a call that failed has collected.
func (o *slidingOutput) drop() { o.n = 0 }

// set fills row k from a window, and from how it was before, nil if it was not.
func (o *slidingOutput) set(k int, w, before slidingWindow) {
	g := o.a.state
	o.bounds[0].SetInt(k, w.start())
	o.bounds[1].SetInt(k, o.a.window.End(w.start()))
	o.batch.Times[k] = w.time()
	g.results(g.slidingCells(w), g.slidingVariable(w), o.results, k, &o.arena, o.reportFault)
	if o.before == nil || before == nil {
		return
	}
	o.batch.PresentBefore.Set(k)
	g.results(g.slidingCells(before), g.slidingVariable(before), o.former, k, &o.arena, nil)
}

// putOutChanges puts out the windows that a row of a batch has changed.
func (a *slidingAggregate) putOutChanges(b *column.Batch, i int32) error {
	for n := range a.change.windows {
		change := &a.change.windows[n]
		w := a.state.slidingAt(a.change.pages[change.page].next, change.at)
		if err := a.output.addChange(b, i, w, change.before); err != nil {
			return err
		}
		if change.twice {
			if err := a.output.addChange(b, i, w, w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *slidingOutput) addChange(b *column.Batch, i int32, w, before slidingWindow) error {
	k, err := o.next()
	if err != nil {
		return err
	}
	for g, v := range o.groups {
		v.CopyRow(k, o.a.groupColumns[g], int(i))
		// As the store's key, the key put out does not tell -0.0 from 0.0.
		if k < len(v.Doubles) && v.Doubles[k] == 0 {
			v.Doubles[k] = 0
		}
	}
	if b.Offsets != nil {
		o.offsets = sized(o.offsets, column.MaxRows)
		o.offsets[k] = b.Offsets[i]
		o.batch.Offsets = o.offsets
	}
	if b.Headers != nil {
		o.headers = sized(o.headers, column.MaxRows)
		o.headers[k] = b.Headers[i]
		o.batch.Headers = o.headers
	}
	o.cause, o.causeRow = b, i
	o.set(k, w, before)
	return nil
}

// addKept adds a window of a page in the store, by the key of its group.
func (o *slidingOutput) addKept(group []byte, w, before slidingWindow) error {
	k, err := o.next()
	if err != nil {
		return err
	}
	key := o.arena.Alloc(len(group))
	copy(key, group)
	if err := state.DecodeKey(key, o.groups, o.groupTypes, k); err != nil {
		return fmt.Errorf("store %s: key %x: %w", o.a.store.Name(), key, err)
	}
	o.cause, o.causeRow = &o.batch, int32(k)
	o.set(k, w, before)
	return nil
}

// heldBack is a window that a commit puts out.
type heldBack struct {
	table      *state.Table
	row        state.Row
	at, before int32 // offsets in the page as it is and as it was; -1: it was not
}

// slidingHeld are the windows that a commit puts out, in memory that is reused.
type slidingHeld struct {
	windows []heldBack
	order   []heldBackOrder
}

// heldBackOrder is the place of a window in the order in which it is put out.
type heldBackOrder struct {
	start  int64
	number int // in windows
}

// putOutChanged puts out each window that is not as it was at the last commit.
func (a *slidingAggregate) putOutChanged() error {
	a.output.drop()
	held := &a.held
	held.reset()
	var err error
	a.store.Touched(func(t *state.Table, row state.Row) {
		if err == nil {
			err = a.hold(t, row)
		}
	})
	if err != nil {
		return fmt.Errorf("store %s: %w", a.store.Name(), err)
	}
	slices.SortFunc(held.order, func(a, b heldBackOrder) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.number, b.number))
	})
	for _, o := range held.order {
		h := &held.windows[o.number]
		key := h.table.Key(h.row)
		w, before := a.state.slidingAt(h.table.Variable(h.row), int(h.at)), slidingWindow(nil)
		if h.before >= 0 {
			_, content, _, _ := h.table.PreImage(h.row)
			before = a.state.slidingAt(content, int(h.before))
		}
		if err := a.output.addKept(key[:len(key)-pageNumberBytes], w, before); err != nil {
			return err
		}
	}
	err = a.output.push()
	held.reset()
	return err
}

func (h *slidingHeld) reset() {
	clear(h.windows) // of tables, which may be dropped
	h.windows, h.order = h.windows[:0], h.order[:0]
}

// hold lists the changed windows of a page.
func (a *slidingAggregate) hold(t *state.Table, row state.Row) error {
	content := t.Variable(row)
	_, former, _, _ := t.PreImage(row)
	for _, page := range [][]byte{content, former} {
		if err := a.state.checkSliding(page); err != nil {
			return err
		}
	}
	next := 0 // window of the former page
	for at := 0; at < len(content); {
		w := a.state.slidingAt(content, at)
		h := heldBack{table: t, row: row, at: int32(at), before: -1}
		at += len(w)
		if next < len(former) {
			if old := a.state.slidingAt(former, next); old.start() == w.start() {
				h.before = int32(next)
				next += len(old)
				if bytes.Equal(old, w) {
					continue
				}
			}
		}
		a.held.order = append(a.held.order, heldBackOrder{w.start(), len(a.held.windows)})
		a.held.windows = append(a.held.windows, h)
	}
	return nil
}
