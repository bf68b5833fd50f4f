package op

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"millrace/state"
)

// sessionTimers are the sessions that close next, with EMIT FINAL. They are made
// of the store, one of its windows at a time: horizon is the end of the last. A
// session that has grown since, or was joined by another, is still among them;
// whether it is there is seen when its time comes.
type sessionTimers struct {
	heap    []sessionTimer // by end
	keys    []byte
	horizon int64 // sessions that end before it are in the heap, or put out
}

// sessionTimer is the end of a session, and its group's key as a part of keys.
type sessionTimer struct {
	end      int64
	from, to int
}

// reset forgets all. Sessions that end before earliest have been put out.
func (t *sessionTimers) reset(earliest int64) {
	t.heap, t.keys, t.horizon = t.heap[:0], t.keys[:0], earliest
}

// due tells whether sessions may close that end before earliest.
func (t *sessionTimers) due(earliest int64) bool {
	return earliest > t.horizon || len(t.heap) > 0 && t.heap[0].end < earliest
}

// add adds a session, unless its window is not in the heap yet.
func (t *sessionTimers) add(group []byte, end int64) {
	if end >= t.horizon {
		return
	}
	timer := sessionTimer{end: end, from: len(t.keys)}
	t.keys = append(t.keys, group...)
	timer.to = len(t.keys)
	t.heap = append(t.heap, timer)
	for i := len(t.heap) - 1; i > 0 && t.heap[(i-1)/2].end > end; i = (i - 1) / 2 {
		t.heap[i], t.heap[(i-1)/2] = t.heap[(i-1)/2], t.heap[i]
	}
}

// pop takes the session with the least end; the key is valid until reset.
func (t *sessionTimers) pop() (group []byte, end int64) {
	first, last := t.heap[0], len(t.heap)-1
	t.heap[0] = t.heap[last]
	t.heap = t.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if t.heap[child].end < t.heap[least].end {
				least = child
			}
		}
		if least == i {
			return t.keys[first.from:first.to:first.to], first.end
		}
		t.heap[i], t.heap[least] = t.heap[least], t.heap[i]
		i = least
	}
}

// closedSession is a session that is put out, with its group's key.
type closedSession struct {
	session
	group []byte
}

// putOutClosed puts out the sessions that end before earliest, by start, then
// key.
func (a *sessionAggregate) putOutClosed(earliest int64) error {
	t := &a.timers
	if len(t.heap) == 0 {
		t.keys = t.keys[:0]
	}
	a.closed = a.closed[:0]
	for {
		for len(t.heap) > 0 && t.heap[0].end < earliest {
			group, end := t.pop()
			if err := a.closeSession(group, end); err != nil {
				return fmt.Errorf("store %s: %w", a.store.Name(), err)
			}
		}
		if len(t.heap) > 0 || t.horizon >= earliest {
			break
		}
		if err := a.loadTimers(earliest); err != nil {
			return fmt.Errorf("store %s: %w", a.store.Name(), err)
		}
	}
	slices.SortFunc(a.closed, func(x, y closedSession) int {
		return cmp.Or(cmp.Compare(x.start, y.start), bytes.Compare(x.group, y.group))
	})
	for k, s := range a.closed {
		if k > 0 && a.closed[k-1].session == s.session {
			continue // it was put in the heap twice
		}
		if _, err := a.output.put(s.session); err != nil {
			return err
		}
	}
	return nil
}

// closeSession lists the session of a timer, if it is still there.
func (a *sessionAggregate) closeSession(group []byte, end int64) error {
	slot := a.slots.Slot(end)
	table := a.store.Lookup(a.slots.Table(slot))
	if table == nil {
		return nil
	}
	s, ok, err := a.index.session(table, group, a.localSlot(slot))
	if ok && s.end == end {
		a.closed = append(a.closed, closedSession{s, group})
	}
	return err
}

// loadTimers puts the sessions of the next window of the store into the heap, if
// it begins before earliest.
func (a *sessionAggregate) loadTimers(earliest int64) error {
	t := &a.timers
	starts := a.store.Windows()
	next, _ := slices.BinarySearch(starts, a.slots.Table(a.slots.Slot(max(t.horizon, 0))))
	if next == len(starts) || starts[next] >= earliest {
		t.horizon = earliest
		return nil
	}
	from := t.horizon
	t.horizon = a.slots.TableEnd(starts[next])
	if t.horizon < math.MaxInt64 {
		t.horizon++
	}
	return a.store.Range(starts[next], nil, nil, func(table *state.Table, row state.Row) bool {
		key := table.Key(row)
		if _, end := bounds(table.Fixed(row)); a.index.holdsSession(key) && end >= from {
			t.add(a.index.groupKey(key), end)
		}
		return true
	})
}
