package op

import (
	"encoding/binary"
	"fmt"

	"millrace/exec/column"
	"millrace/exec/window"
	"millrace/planner/plan"
	"millrace/state"
)

// sessionAggregate groups a stream's rows and keeps one state a group and
// session: a run of rows that follow each other within the gap.
//
// Rows are taken one after the other. A row joins the sessions of its group that
// it reaches, at most two since sessions lie more than a gap apart: they are
// deleted, in the order of their starts, each with its own end as timestamp, and
// a session that holds them and the row is put in their place, with its end as
// timestamp. Only a row that joins nothing but the session of its very point in
// time changes that without deleting it. With HoldBack Flush puts out what the
// changes since the last commit come to. With EMIT FINAL each session is put out
// once, when stream time has passed its end, gap and grace; those that close
// together by start, then key.
//
// Stream time is the greatest timestamp of rows that took part. A session whose
// end, gap and grace it has passed is closed: it takes no more rows, and a row that
// would be alone in a session that is closed is late, counted, and left out.
//
// # Layout of the store
//
// Time is cut into slots of the gap and one ms, so that at most one session of a
// group ends in each, and slots are put together to windows of the store, about
// 500 at a time. A session is a row of the window that its end is in; its key is the
// group's, and behind it, where a window has several slots, the slot's number. The
// fixed part is start and end, 8 bytes each, little endian, and the cells of
// groupState. Where a window has several slots, an index leads from one session
// of a group to the next: see sessionIndex. An open session takes the slot from a
// closed one.
//
// So a row needs a lookup or two, a batch's all at once, however many sessions
// its group has; a row that is out of order one for each window up to stream
// time, until it finds a session. Closed sessions leave the store by whole
// windows, without a look at their rows. A session that grows on into the next
// slot moves: one row more is deleted in the changelog for each gap of its length.
type sessionAggregate struct {
	next  Operator
	env   *Environment
	store *state.Store

	groups       []int // columns of the input
	groupColumns []*column.Vector
	state        *groupState
	final        bool
	holdBack     bool // changes are put out by Flush
	window       window.Session
	slots        window.Slots
	index        sessionIndex

	streamTime int64  // of rows so far, -1 before the first
	taken      uint64 // rows so far; another number in the store tells of a rollback
	known      bool   // taken is of this operator
	timeBytes  []byte

	rows   []sessionRow // of the batch
	at     steps        // the slots of the rows' timestamps
	before steps        // the slots before these
	// created are the slots in which sessions of this batch began to end.
	createdFirst, createdLast int64

	joined  []session
	merged  mergedGroup
	key     []byte
	output  sessionOutput
	timers  sessionTimers // with EMIT FINAL
	closed  []closedSession
	settled map[storeRow]bool // with HoldBack: rows whose session of the last commit stays
}

// sessionRow is a row of the batch that takes part.
type sessionRow struct {
	row        int32 // of the batch
	at, before int32 // numbers of its steps, -1: none
	streamTime int64 // with this row
}

// sessionBounds is how many bytes start and end take in front of a row's cells.
const sessionBounds = 16

// newSessionAggregate makes the operator of an aggregation over sessions.
func newSessionAggregate(node *plan.Aggregate, env *Environment, next Operator) (Operator, error) {
	if node.Input.Schema().Changes {
		return nil, fmt.Errorf("a windowed aggregation of a table has no meaning")
	}
	w := node.Window
	if w.Gap <= 0 || w.Grace < 0 {
		return nil, fmt.Errorf("window of gap %d, grace %d ms", w.Gap, w.Grace)
	}
	a := &sessionAggregate{
		next: next, env: env, groups: node.Groups, final: node.Final, holdBack: env.HoldBack && !node.Final,
		groupColumns: make([]*column.Vector, len(node.Groups)),
		window:       window.Session{Gap: w.Gap, Grace: w.Grace},
		settled:      map[storeRow]bool{},
	}
	a.slots = a.window.Slots()
	var err error
	if a.state, err = newGroupState(node); err != nil {
		return nil, err
	}
	if a.store, err = env.Store(node.Store); err != nil {
		return nil, fmt.Errorf("aggregation: %w", err)
	}
	a.index = newSessionIndex(a.store, a.slots.PerTable)
	a.merged.cells = make([]byte, a.state.size)
	a.output = sessionOutput{output: newOutput(node, env), a: a}
	return a, nil
}

// sessionLayout is the layout of the store of an aggregation over sessions.
func sessionLayout(groups *groupState) state.Layout {
	return state.Layout{Fixed: sessionBounds + groups.size}
}

// Push implements Operator.
func (a *sessionAggregate) Push(_ int, b *column.Batch) error {
	for k, c := range a.groups {
		a.groupColumns[k] = b.Columns[c]
	}
	a.state.bind(b, a.store)
	a.resume()
	a.output.batch.Partition = b.Partition
	before := a.streamTime
	a.collect(b)
	if err := a.locate(b); err != nil {
		return fmt.Errorf("store %s: %w", a.store.Name(), err)
	}
	a.output.expect(3 * len(a.rows))
	for k := range a.rows {
		if err := a.take(b, &a.rows[k]); err != nil {
			return err
		}
	}
	a.saveTime(before)
	return a.output.push()
}

// resume reads the stream time from the store, where a rollback has set it back,
// and forgets what is then no longer true.
func (a *sessionAggregate) resume() {
	a.streamTime = -1
	taken := uint64(0)
	value := a.store.Meta(streamTimeName)
	if time, n := binary.Varint(value); n > 0 {
		a.streamTime = time
		taken, _ = binary.Uvarint(value[n:])
	}
	if !a.known || a.taken != taken {
		a.known, a.taken = true, taken
		clear(a.settled)
		a.timers.reset(a.window.Earliest(a.streamTime))
	}
}

// saveTime keeps the stream time, so that a restart does not change which rows
// are late, and with it the number of rows where it matters.
func (a *sessionAggregate) saveTime(before int64) {
	remembers := a.final || a.holdBack
	if len(a.rows) == 0 || !remembers && a.streamTime == before {
		return
	}
	a.timeBytes = binary.AppendVarint(a.timeBytes[:0], a.streamTime)
	if remembers {
		a.taken += uint64(len(a.rows))
		a.timeBytes = binary.AppendUvarint(a.timeBytes, a.taken)
	}
	a.store.SetMeta(streamTimeName, a.timeBytes)
}

// collect lists the rows that take part, and the slots of their timestamps.
func (a *sessionAggregate) collect(b *column.Batch) {
	a.rows = a.rows[:0]
	a.at.begin()
	for _, i := range b.Selection {
		timestamp := b.Times[i]
		if timestamp < 0 || !a.env.takesPart(a.groupColumns, b, i) {
			continue
		}
		a.streamTime = max(a.streamTime, timestamp)
		r := sessionRow{row: i, at: -1, before: -1, streamTime: a.streamTime}
		if timestamp >= a.window.Earliest(a.streamTime) {
			slot := a.slots.Slot(timestamp)
			r.at = int32(a.at.len())
			a.at.add(a.at.table(a.store, a.slots.Table(slot)), a.slotKey(i, slot), -1, i)
		}
		a.rows = append(a.rows, r)
	}
}

// slotKey encodes the key of a row's group in a slot.
func (a *sessionAggregate) slotKey(i int32, slot int64) int32 {
	keys := &a.at.keys
	if a.index.levels == 0 {
		return a.at.key(a.groupColumns, i)
	}
	a.key = state.AppendKey(a.key[:0], a.groupColumns, int(i))
	a.key = appendSlot(a.key, 0, a.localSlot(slot))
	keys.AppendBytes(a.key)
	return int32(keys.Len() - 1)
}

// localSlot is the number of a slot in its table.
func (a *sessionAggregate) localSlot(slot int64) int64 { return slot % a.slots.PerTable }

// groupKey is the key of a row's group, valid until the next call.
func (a *sessionAggregate) groupKey(r *sessionRow) []byte {
	if r.at >= 0 {
		return a.index.groupKey(a.at.keys.Key(int(a.at.keyOf[r.at])))
	}
	a.key = state.AppendKey(a.key[:0], a.groupColumns, int(r.row))
	return a.key
}

// take puts one row into a session.
func (a *sessionAggregate) take(b *column.Batch, r *sessionRow) error {
	timestamp := b.Times[r.row]
	earliest := a.window.Earliest(r.streamTime)
	if a.final && a.timers.due(earliest) {
		if err := a.putOutClosed(earliest); err != nil {
			return err
		}
	}
	if err := a.join(r, timestamp, earliest); err != nil {
		return fmt.Errorf("store %s: %w", a.store.Name(), err)
	}
	start, end := timestamp, timestamp
	for _, s := range a.joined {
		start, end = min(start, s.start), max(end, s.end)
	}
	if end < earliest {
		a.env.count(Late, b, r.row)
		return nil
	}
	if err := a.merged.make(a.state, a.joined, b, r.row); err != nil {
		return err
	}
	if !a.final && !a.holdBack {
		if err := a.output.replace(b, r.row, a.joined, start, end); err != nil {
			return err
		}
	}
	if err := a.write(r, start, end); err != nil {
		return fmt.Errorf("store %s: %w", a.store.Name(), err)
	}
	return nil
}

// write puts the merged group into the store, as the session [start, end], in
// place of those that were joined. Its row is that of the last one joined, if it
// ends with that, else that of the slot of the row's timestamp.
func (a *sessionAggregate) write(r *sessionRow, start, end int64) error {
	to := session{}
	if n := len(a.joined); n > 0 && a.joined[n-1].end == end {
		to = a.joined[n-1]
	} else {
		to.table, to.row = a.at.tables[a.at.tableOf[r.at]], a.at.rows[r.at]
	}
	key := a.groupKey(r)
	replaced := false
	for _, s := range a.joined {
		if s.table == to.table && s.row == to.row {
			replaced = true
			continue
		}
		s.table.Delete(s.row)
		if err := a.index.remove(s.table, key, a.localSlot(a.slots.Slot(s.end))); err != nil {
			return err
		}
	}
	existed := to.table.Exists(to.row)
	if existed && !replaced && a.holdBack {
		if err := a.settle(to.table, to.row); err != nil {
			return err
		}
	}
	to.table.Touch(to.row)
	to.table.SetTime(to.row, end)
	fixed := to.table.Fixed(to.row)
	putBounds(fixed, start, end)
	copy(fixed[sessionBounds:], a.merged.cells)
	if len(a.state.variable) > 0 {
		to.table.SetVariable(to.row, a.merged.variable)
	}
	if a.final {
		a.timers.add(key, end)
	}
	if existed {
		return nil
	}
	slot := a.slots.Slot(end)
	a.createdFirst, a.createdLast = min(a.createdFirst, slot), max(a.createdLast, slot)
	return a.index.add(to.table, key, a.localSlot(slot))
}

// Flush implements Operator.
func (a *sessionAggregate) Flush() error {
	a.resume()
	if a.holdBack {
		a.output.expect(column.MaxRows)
		if err := a.putOutChanged(); err != nil {
			return err
		}
		clear(a.settled)
	}
	earliest := a.window.Earliest(a.streamTime)
	for _, start := range a.store.Windows() {
		if a.slots.TableEnd(start) >= earliest {
			break
		}
		a.store.DropWindow(start)
	}
	return nil
}
