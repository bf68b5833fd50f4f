package op

import (
	"bytes"
	"fmt"
	"math"

	"millrace/exec/column"
	"millrace/state"
)

// unknownTime is no stream time: what is known does not belong to one.
const unknownTime = math.MinInt64

// slidingClosing are the windows that are not put out yet, of an aggregation
// with EMIT FINAL: a heap by start, then group. It is in memory only, about 20
// bytes a window and its key, and made anew from the store where that is not at
// the time that it stands at: after a start or a rollback. It may hold a window
// twice, and windows that a rollback took away.
type slidingClosing struct {
	streamTime int64 // windows that this closes are not in the heap
	heap       []openWindow
	keys       []byte
	live       int // bytes of keys of windows in the heap

	due []openWindow
}

// openWindow is a window of the group whose key stands in keys.
type openWindow struct {
	start    int64
	key, end int
}

func (c *slidingClosing) reset() { c.heap, c.keys, c.live = c.heap[:0], c.keys[:0], 0 }

func (c *slidingClosing) compare(a, b openWindow) int {
	switch {
	case a.start < b.start:
		return -1
	case a.start > b.start:
		return 1
	}
	return bytes.Compare(c.keys[a.key:a.end], c.keys[b.key:b.end])
}

// add adds a window of a group, whose key is copied.
func (c *slidingClosing) add(start int64, key []byte) {
	at := len(c.keys)
	c.keys = append(c.keys, key...)
	c.live += len(key)
	c.heap = append(c.heap, openWindow{start, at, len(c.keys)})
	child := len(c.heap) - 1
	for child > 0 {
		parent := (child - 1) / 2
		if c.compare(c.heap[parent], c.heap[child]) <= 0 {
			return
		}
		c.heap[parent], c.heap[child] = c.heap[child], c.heap[parent]
		child = parent
	}
}

// take removes the first window. Its key stays until compact.
func (c *slidingClosing) take() openWindow {
	first, last := c.heap[0], len(c.heap)-1
	c.live -= first.end - first.key
	c.heap[0] = c.heap[last]
	c.heap = c.heap[:last]
	parent := 0
	for {
		least := parent
		for child := 2*parent + 1; child <= 2*parent+2 && child < last; child++ {
			if c.compare(c.heap[child], c.heap[least]) < 0 {
				least = child
			}
		}
		if least == parent {
			return first
		}
		c.heap[parent], c.heap[least] = c.heap[least], c.heap[parent]
		parent = least
	}
}

// compact drops the keys of windows that are gone when they are most.
func (c *slidingClosing) compact() {
	if len(c.keys) < 2*c.live+4096 {
		return
	}
	keys := make([]byte, 0, c.live)
	for n, w := range c.heap {
		start := len(keys)
		keys = append(keys, c.keys[w.key:w.end]...)
		c.heap[n].key, c.heap[n].end = start, len(keys)
	}
	c.keys = keys
}

// findOpen fills the heap from the store.
func (a *slidingAggregate) findOpen() error {
	a.closing.reset()
	a.closing.streamTime = unknownTime
	for _, start := range a.store.Windows() {
		if a.window.Closed(a.pages.last(start), a.streamTime) {
			continue
		}
		var failed error
		err := a.store.Range(start, nil, nil, func(t *state.Table, row state.Row) bool {
			failed = a.addOpen(t.Key(row), t.Variable(row))
			return failed == nil
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			return fmt.Errorf("store %s: %w", a.store.Name(), err)
		}
	}
	a.closing.streamTime = a.streamTime
	return nil
}

func (a *slidingAggregate) addOpen(key, content []byte) error {
	if err := a.state.checkSliding(content); err != nil {
		return err
	}
	for at := 0; at < len(content); {
		w := a.state.slidingAt(content, at)
		if !a.window.Closed(w.start(), a.streamTime) {
			a.closing.add(w.start(), key[:len(key)-pageNumberBytes])
		}
		at += len(w)
	}
	return nil
}

// putOutClosed puts out the windows that stream time has closed, by their start,
// then by the keys of their groups: a window that is closed changes no more, so
// the order is that of putting them out row by row.
func (a *slidingAggregate) putOutClosed() error {
	c := &a.closing
	c.streamTime = unknownTime
	last := openWindow{start: -1}
	for len(c.heap) > 0 && a.window.Closed(c.heap[0].start, a.streamTime) {
		c.due = c.due[:0]
		for len(c.heap) > 0 && len(c.due) < column.MaxRows && a.window.Closed(c.heap[0].start, a.streamTime) {
			if w := c.take(); c.compare(w, last) != 0 {
				c.due = append(c.due, w)
				last = w
			}
		}
		if err := a.putOutDue(); err != nil {
			return err
		}
	}
	c.streamTime = a.streamTime
	c.compact()
	return a.output.push()
}

// putOutDue puts out the windows in due.
func (a *slidingAggregate) putOutDue() error {
	c, s := &a.closing, &a.steps
	s.begin()
	for _, w := range c.due {
		a.key = append(a.key[:0], c.keys[w.key:w.end]...)
		a.addPage(a.pages.number(w.start), 0)
	}
	if err := s.find(); err != nil {
		return fmt.Errorf("store %s: %w", a.store.Name(), err)
	}
	for k, w := range c.due {
		if s.rows[k] == state.NoRow {
			continue
		}
		content := s.tables[s.tableOf[k]].Variable(s.rows[k])
		if err := a.state.checkSliding(content); err != nil {
			return fmt.Errorf("store %s: %w", a.store.Name(), err)
		}
		at, _ := a.state.seekSliding(content, w.start)
		if at == len(content) {
			continue
		}
		if found := a.state.slidingAt(content, at); found.start() == w.start {
			if err := a.output.addKept(c.keys[w.key:w.end], found, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
