package op

import (
	"encoding/binary"
	"fmt"
	"math"

	"millrace/exec/column"
	"millrace/exec/window"
	"millrace/planner/plan"
	"millrace/state"
)

// slidingAggregate groups rows of a stream into sliding windows, by the rules of
// Kafka Streams. It keeps windows and no rows: a new window takes over the
// aggregates of the window beside it that holds the same rows.
//
// A row at t, in the order of the windows' starts:
//
//   - goes into every window of its group that holds t and is open;
//   - makes the window [t-Size, t], unless it is there, from the last window
//     that ends before t, if the newest row in that is one of [t-Size, t];
//   - makes the window behind that newest row, unless it is there, if it holds
//     t: with this row alone;
//   - makes the window behind itself, [t+1, t+1+Size], unless it is there, from
//     the last window that begins at or before t, as it was before the row, if
//     the newest row in that is later than t.
//
// So a row that finds no open window, and whose own window is closed, leaves no
// trace, and windows made later do not hold it. If the newest row before t is at
// t-Size-1, the window [t-Size, t] is made for two reasons and put out twice.
// Rows with t < Size share the window [0, Size]. Closed windows are looked at
// until they are forgotten, see window.Sliding; what Kafka Streams' stores lose
// earlier is not lost here. A row is counted as late once, if it is so for the
// first window that would hold it.
//
// Every change of a window is put out. With HoldBack Flush puts out each window
// that is not as it was at the last commit, by their start, then in the order in
// which their pages changed. With EMIT FINAL a window is put out once, when
// stream time has passed its end and grace.
//
// Windows are kept in pages, see slidingPages: a row costs two lookups and a
// copy of one or two pages with the windows of its group that start from 2*Size
// before it, of which it changes about half. The changelog has a record per page
// that changed between two commits. A row of its own for each window would cost
// a lookup, a pre-image and a changelog record for each window that a row is in.
// EMIT FINAL also keeps the open windows in a heap, see slidingClosing.
type slidingAggregate struct {
	next  Operator
	env   *Environment
	store *state.Store

	groups       []int // columns of the input
	groupColumns []*column.Vector
	state        *groupState
	window       window.Sliding
	pages        slidingPages
	final        bool
	output       *slidingOutput
	closing      slidingClosing

	streamTime int64 // of rows so far, -1 before the first; read from the store at each Push
	timeBytes  []byte

	rows   []slidingRow
	steps  steps // of low and high pages
	key    []byte
	change slidingChange
	held   slidingHeld
}

// slidingRow is a row of the batch that is not late.
type slidingRow struct {
	row        int32
	low, high  int32 // steps of its pages; equal where they are the same page
	streamTime int64 // with this row
}

// maxSlidingSize keeps the arithmetic of starts from overflowing.
const maxSlidingSize = math.MaxInt64 / 4

// newSlidingAggregate makes the operator of an aggregation over sliding windows.
func newSlidingAggregate(node *plan.Aggregate, env *Environment, next Operator) (Operator, error) {
	w := window.Sliding{Size: node.Window.Size, Grace: node.Window.Grace}
	if w.Size <= 0 || w.Size > maxSlidingSize || w.Grace < 0 {
		return nil, fmt.Errorf("sliding window of size %d, grace %d ms", w.Size, w.Grace)
	}
	if node.Input.Schema().Changes {
		return nil, fmt.Errorf("a windowed aggregation of a table has no meaning")
	}
	a := &slidingAggregate{
		next: next, env: env, window: w, pages: newSlidingPages(w), final: node.Final,
		groups: node.Groups, groupColumns: make([]*column.Vector, len(node.Groups)),
	}
	var err error
	if a.state, err = newGroupState(node); err != nil {
		return nil, err
	}
	if a.store, err = env.Store(node.Store); err != nil {
		return nil, fmt.Errorf("aggregation: %w", err)
	}
	a.output = newSlidingOutput(newOutput(node, env), a)
	a.closing.streamTime = unknownTime
	return a, nil
}

// Push implements Operator.
func (a *slidingAggregate) Push(_ int, b *column.Batch) error {
	for k, c := range a.groups {
		a.groupColumns[k] = b.Columns[c]
	}
	a.output.drop()
	before := a.loadStreamTime()
	if a.final && a.closing.streamTime != before {
		if err := a.findOpen(); err != nil {
			return err
		}
	}
	a.state.bind(b, a.store)
	a.output.batch.Partition = b.Partition
	a.take(b)
	if err := a.run(b); err != nil {
		return err
	}
	if a.streamTime != before {
		a.timeBytes = binary.AppendVarint(a.timeBytes[:0], a.streamTime)
		a.store.SetMeta(streamTimeName, a.timeBytes)
	}
	if a.final {
		return a.putOutClosed()
	}
	return a.output.push()
}

// loadStreamTime reads the stream time from the store, where a rollback has set
// it back.
func (a *slidingAggregate) loadStreamTime() int64 {
	a.streamTime = -1
	if value, n := binary.Varint(a.store.Meta(streamTimeName)); n > 0 {
		a.streamTime = value
	}
	return a.streamTime
}

// take lists the rows of a batch that are in time, with their pages.
func (a *slidingAggregate) take(b *column.Batch) {
	a.steps.begin()
	a.rows = a.rows[:0]
	for _, i := range b.Selection {
		if !a.env.takesPart(a.groupColumns, b, i) {
			continue
		}
		t := b.Times[i]
		a.streamTime = max(a.streamTime, t)
		// The first window that would hold the row is closed before all others.
		if t < 0 || a.window.Closed(a.window.Left(t), a.streamTime) {
			a.env.count(Late, b, i)
		}
		if t < 0 || a.window.Closed(t, a.streamTime) {
			continue
		}
		a.addRow(i, t)
	}
}

func (a *slidingAggregate) addRow(i int32, t int64) {
	earliest := max(t-2*a.window.Size, 0)
	low, high := a.pages.number(earliest), a.pages.number(behind(t))
	if a.window.Forgotten(a.pages.last(a.pages.table(earliest)), a.streamTime) {
		low = high // its table is gone
	}
	a.key = state.AppendKey(a.key[:0], a.groupColumns, int(i))
	r := slidingRow{row: i, streamTime: a.streamTime, low: a.addPage(low, i)}
	if r.high = r.low; high != low {
		r.high = a.addPage(high, i)
	}
	a.rows = append(a.rows, r)
}

// behind is the start of the window behind a row, or t itself at the end of time.
func behind(t int64) int64 { return max(t, t+1) }

// addPage adds the step that finds the page of the group in a.key.
func (a *slidingAggregate) addPage(number int64, i int32) int32 {
	s := &a.steps
	group := len(a.key)
	a.key = appendPageNumber(a.key, number)
	s.keys.AppendBytes(a.key)
	a.key = a.key[:group]
	s.add(s.table(a.store, a.pages.table(number*a.pages.page)), int32(s.keys.Len()-1), -1, i)
	return int32(s.len() - 1)
}

// run carries out the rows, in order.
func (a *slidingAggregate) run(b *column.Batch) error {
	if len(a.rows) == 0 {
		return nil
	}
	if err := a.steps.locate(); err != nil {
		return fmt.Errorf("store %s: %w", a.store.Name(), err)
	}
	for _, r := range a.rows {
		if err := a.addToWindows(b, r); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements Operator.
func (a *slidingAggregate) Flush() error {
	if a.env.HoldBack && !a.final {
		if err := a.putOutChanged(); err != nil {
			return err
		}
	}
	a.loadStreamTime()
	for _, start := range a.store.Windows() {
		if !a.window.Forgotten(a.pages.last(start), a.streamTime) {
			break
		}
		a.store.DropWindow(start)
	}
	return nil
}
