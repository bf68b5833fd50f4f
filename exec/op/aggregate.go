package op

import (
	"encoding/binary"
	"fmt"

	"millrace/exec/column"
	"millrace/exec/window"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/state"
)

// streamTimeName is the store's metadata that holds the stream time, a varint of
// ms: a restart must not change which rows are late.
const streamTimeName = "stream-time"

// aggregate groups rows and keeps one state a group, and window, in a store: by
// the encoded group columns, in the form of groupState.
//
// A batch becomes steps in the order of its rows, for one row in the order of
// its windows: each step takes a row out of a group, puts one in, or both. One
// step puts out one change, stamped with the greater of the row's and the
// group's time. With HoldBack steps put out nothing; Flush puts out the change
// of each group since the last commit, windows by their start, groups in the
// order of their first change. With EMIT FINAL a window's groups are put out
// once, when stream time closes it, by the order of their keys.
//
// Stream time is the greatest timestamp of rows that took part. Rows of closed
// windows are late: they are counted and left out. A closed window leaves the
// store at the next Flush.
type aggregate struct {
	next  Operator
	env   *Environment
	store *state.Store

	groups  []int // columns of the input
	state   *groupState
	changes bool // the input is a table
	final   bool
	output  *output

	windowed   bool
	window     window.Time
	streamTime int64 // of rows so far, -1 before the first; read from the store at each Push
	nextClose  int64 // no stream time before it closes a window that has rows

	steps        steps
	groupColumns []*column.Vector
	groupBefore  []*column.Vector
	timeBytes    []byte
}

func newAggregate(node *plan.Aggregate, env *Environment, next Operator) (*aggregate, error) {
	input := node.Input.Schema()
	a := &aggregate{
		next: next, env: env, groups: node.Groups, changes: input.Changes, final: node.Final,
		groupColumns: make([]*column.Vector, len(node.Groups)),
		groupBefore:  make([]*column.Vector, len(node.Groups)),
	}
	var err error
	if a.state, err = newGroupState(node); err != nil {
		return nil, err
	}
	if err = a.setWindow(node.Window); err != nil {
		return nil, err
	}
	if a.changes {
		if !input.KeepsBefore {
			return nil, fmt.Errorf("aggregation: its input is a table that does not hand on the row before a change")
		}
	}
	if a.store, err = env.Store(node.Store); err != nil {
		return nil, fmt.Errorf("aggregation: %w", err)
	}
	a.output = newOutput(node, env)
	return a, nil
}

func (a *aggregate) setWindow(w *plan.Window) error {
	if w == nil {
		if a.final {
			return fmt.Errorf("EMIT FINAL needs a window")
		}
		return nil
	}
	if a.changes {
		return fmt.Errorf("a windowed aggregation of a table has no meaning")
	}
	if w.Kind != catalog.Tumbling && w.Kind != catalog.Hopping {
		return fmt.Errorf("no operator runs %s windows", w.Kind)
	}
	a.windowed, a.window = true, window.Time{Size: w.Size, Advance: w.Advance, Grace: w.Grace}
	if w.Size <= 0 || w.Advance <= 0 || w.Grace < 0 {
		return fmt.Errorf("window of size %d, advance %d, grace %d ms", w.Size, w.Advance, w.Grace)
	}
	return nil
}

// Push implements Operator.
func (a *aggregate) Push(_ int, b *column.Batch) error {
	for k, c := range a.groups {
		a.groupColumns[k] = b.Columns[c]
		if a.changes {
			a.groupBefore[k] = b.Before[c]
		}
	}
	a.state.bind(b, a.store)
	a.steps.begin()
	a.output.batch.Partition = b.Partition
	switch {
	case a.changes:
		return a.pushChanges(b)
	case a.windowed:
		return a.pushWindowed(b)
	}
	return a.pushRows(b)
}

// pushRows takes a stream's rows into groups without windows.
func (a *aggregate) pushRows(b *column.Batch) error {
	s := &a.steps
	table := s.table(a.store, 0)
	for _, i := range b.Selection {
		if a.env.takesPart(a.groupColumns, b, i) {
			s.add(table, s.key(a.groupColumns, i), -1, i)
		}
	}
	return a.run(b)
}

// pushChanges takes the changes of a table: the row before out of its group, the
// row after into its own; one step if that is the same group.
func (a *aggregate) pushChanges(b *column.Batch) error {
	s := &a.steps
	table := s.table(a.store, 0)
	for _, i := range b.Selection {
		in := b.Present.Get(int(i))
		if in && anyNull(a.groupColumns, int(i)) {
			a.env.count(NullKey, b, i)
			in = false
		}
		out := b.PresentBefore.Get(int(i)) && !anyNull(a.groupBefore, int(i))
		if s.len()+2 > column.MaxRows {
			if err := a.run(b); err != nil {
				return err
			}
			table = s.table(a.store, 0)
		}
		switch {
		case in && out:
			former, current := s.key(a.groupBefore, i), s.key(a.groupColumns, i)
			if string(s.keys.Key(int(former))) == string(s.keys.Key(int(current))) {
				s.add(table, current, i, i)
				continue
			}
			s.add(table, former, i, -1)
			s.add(table, current, -1, i)
		case out:
			s.add(table, s.key(a.groupBefore, i), i, -1)
		case in:
			s.add(table, s.key(a.groupColumns, i), -1, i)
		}
	}
	return a.run(b)
}

// pushWindowed takes a stream's rows into the groups of their windows.
func (a *aggregate) pushWindowed(b *column.Batch) error {
	before := a.loadStreamTime()
	for _, i := range b.Selection {
		if !a.env.takesPart(a.groupColumns, b, i) {
			continue
		}
		if err := a.advance(b, b.Times[i]); err != nil {
			return err
		}
		if err := a.addWindows(b, i); err != nil {
			return err
		}
	}
	if err := a.run(b); err != nil {
		return err
	}
	if a.streamTime != before {
		a.timeBytes = binary.AppendVarint(a.timeBytes[:0], a.streamTime)
		a.store.SetMeta(streamTimeName, a.timeBytes)
	}
	return nil
}

// loadStreamTime reads the stream time from the store, where a rollback has set
// it back.
func (a *aggregate) loadStreamTime() int64 {
	a.streamTime, a.nextClose = -1, 0
	if value, n := binary.Varint(a.store.Meta(streamTimeName)); n > 0 {
		a.streamTime = value
	}
	return a.streamTime
}

// addWindows adds a step for each window that the row belongs to.
func (a *aggregate) addWindows(b *column.Batch, i int32) error {
	s := &a.steps
	key := int32(-1)
	timestamp := b.Times[i]
	for start, ok := a.window.First(timestamp); ok; start, ok = a.window.Next(start, timestamp) {
		if a.window.Closed(start, a.streamTime) {
			a.env.count(Late, b, i)
			continue
		}
		if s.len() == column.MaxRows {
			if err := a.run(b); err != nil {
				return err
			}
			key = -1
		}
		if key < 0 {
			key = s.key(a.groupColumns, i)
		}
		s.add(s.table(a.store, start), key, -1, i)
		a.nextClose = min(a.nextClose, a.window.CloseTime(start))
	}
	return nil
}

// advance moves stream time to a row's timestamp. With EMIT FINAL it first puts
// out the windows which that closes.
func (a *aggregate) advance(b *column.Batch, timestamp int64) error {
	if timestamp <= a.streamTime {
		return nil
	}
	if a.final && timestamp >= a.nextClose {
		if err := a.run(b); err != nil {
			return err
		}
		if err := a.putOutClosed(timestamp); err != nil {
			return err
		}
	}
	a.streamTime = timestamp
	return nil
}

// run carries out the steps so far, in order, and hands on what they put out.
func (a *aggregate) run(b *column.Batch) error {
	s := &a.steps
	if s.len() == 0 {
		s.begin()
		return nil
	}
	if err := s.locate(); err != nil {
		return fmt.Errorf("store %s: %w", a.store.Name(), err)
	}
	s.touch(b)
	var err error
	if a.final || a.env.HoldBack {
		err = a.apply(b)
	} else {
		err = a.output.run(a, b)
	}
	s.begin()
	return err
}

// apply carries out the steps without results, one call after the other: calls
// do not depend on each other.
func (a *aggregate) apply(b *column.Batch) error {
	s := &a.steps
	for c := range a.state.fixed {
		call := &a.state.fixed[c]
		if !a.changes {
			if k, err := call.AddAll(s.cells, call.after, s.in); err != nil {
				return stepError(b, s.in[k], call.name, err)
			}
			continue
		}
		for k := range s.in {
			if err := call.step(s.cells[k], s.out[k], s.in[k]); err != nil {
				return stepError(b, max(s.out[k], s.in[k]), call.name, err)
			}
		}
	}
	if len(a.state.variable) == 0 {
		return nil
	}
	for k := range s.in {
		err := a.state.changeVariable(s.tables[s.tableOf[k]], s.rows[k], s.cells[k], s.out[k], s.in[k])
		if err != nil {
			return stepError(b, max(s.out[k], s.in[k]), "", err)
		}
	}
	return nil
}

// step takes a row out of a group's cells and puts one in; -1 stands for no row.
func (c *fixedCall) step(cells []byte, remove, add int32) error {
	if remove >= 0 {
		if err := c.Remove(cells, c.before, int(remove)); err != nil {
			return err
		}
	}
	if add >= 0 {
		return c.Add(cells, c.after, int(add))
	}
	return nil
}

// RecordError is an error that ends a query, with the record that it happened at.
type RecordError struct {
	Partition int32
	Offset    int64
	Err       error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("partition %d, offset %d: %v", e.Partition, e.Offset, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

// stepError adds the place of the record that a query ends at.
func stepError(b *column.Batch, i int32, name string, err error) error {
	if name != "" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if b.Offsets != nil {
		return &RecordError{Partition: b.Partition, Offset: b.Offsets[i], Err: err}
	}
	return err
}

// Flush implements Operator.
func (a *aggregate) Flush() error {
	if a.env.HoldBack && !a.final {
		if err := a.output.changed(a); err != nil {
			return err
		}
	}
	if !a.windowed {
		return nil
	}
	a.loadStreamTime()
	for _, start := range a.store.Windows() {
		if !a.window.Closed(start, a.streamTime) {
			break
		}
		a.store.DropWindow(start)
	}
	return nil
}
