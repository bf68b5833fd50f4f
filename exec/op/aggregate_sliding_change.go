package op

import (
	"fmt"

	"millrace/exec/column"
)

// slidingChange is what one row does to the pages of its group. Views are into
// the pages as they were before the row.
type slidingChange struct {
	pages [2]slidingPage // ascending
	count int            // of pages

	left      slidingWindow // the last window that ends before the row
	own       slidingWindow // the window that ends with the row; of an early row [0, Size]
	right     slidingWindow // the last window that holds the row and goes on behind it
	hasBehind bool          // there is a window that begins just behind the row

	made     [3]madeWindow // ascending
	madeLeft []madeWindow  // those of made that are not in a page yet

	windows []changedWindow // ascending
	cells   [][]byte
	rows    []int32
}

// slidingPage is a page that a row looks at.
type slidingPage struct {
	step     int32
	number   int64
	content  []byte
	from, to int // offsets of the windows that hold the row
	next     []byte
	changed  bool
}

// madeWindow is a window that a row makes.
type madeWindow struct {
	start, time int64
	base        slidingWindow // whose aggregates it takes over; nil: none
	add         bool          // the row is in it
	twice       bool          // it is put out twice
}

// changedWindow is a window that a row has changed or made.
type changedWindow struct {
	page   int // number in pages
	at     int // offset in the page's next
	before slidingWindow
	add    bool
	twice  bool
}

// addToWindows changes the windows of a row's group.
func (a *slidingAggregate) addToWindows(b *column.Batch, r slidingRow) error {
	c, t := &a.change, b.Times[r.row]
	c.count = 1
	if r.low != r.high {
		c.count = 2
	}
	for n, step := range [2]int32{r.low, r.high} {
		if err := a.openPage(&c.pages[n], step); err != nil {
			return fmt.Errorf("store %s: %w", a.store.Name(), err)
		}
	}
	a.scan(t, r.streamTime)
	a.decide(t, r.streamTime)
	return a.rewrite(b, r, t)
}

func (a *slidingAggregate) openPage(page *slidingPage, step int32) error {
	s := &a.steps
	page.step, page.changed = step, false
	page.number = pageNumber(s.keys.Key(int(s.keyOf[step])))
	page.content = s.tables[s.tableOf[step]].Variable(s.rows[step])
	return a.state.checkSliding(page.content)
}

// scan finds the windows around a row.
func (a *slidingAggregate) scan(t, streamTime int64) {
	c := &a.change
	c.left, c.own, c.right, c.hasBehind = nil, nil, nil, false
	first := a.window.Left(t)
	for n := range c.count {
		page := &c.pages[n]
		at, before := a.state.seekSliding(page.content, first)
		// What a commit may have dropped does not count, whether it has or not.
		if before != nil && before.start() >= t-2*a.window.Size && !a.window.Forgotten(before.start(), streamTime) {
			c.left = before
		}
		page.from = at
		for at < len(page.content) {
			w := a.state.slidingAt(page.content, at)
			start := w.start()
			if start > t {
				c.hasBehind = c.hasBehind || start-1 == t
				break
			}
			if start == first {
				c.own = w
			} else {
				c.right = w
			}
			at += len(w)
		}
		page.to = at
	}
}

// decide lists the windows that a row makes.
func (a *slidingAggregate) decide(t, streamTime int64) {
	c := &a.change
	c.madeLeft = c.made[:0]
	early := a.window.Early(t)
	newest := int64(-1) // time of the newest row before this one, where it matters
	right := c.right
	switch {
	case early && c.own != nil:
		if newest = c.own.time(); newest >= t {
			newest = -1
		}
		if right == nil {
			right = c.own
		}
	case c.own != nil && c.own.time() >= t:
		return // an equal row has made all windows
	case c.left != nil:
		newest = c.left.time()
	case c.own != nil:
		newest = c.own.time()
	}
	a.makeOwn(t, newest, streamTime)
	if right != nil && right.time() > t && !c.hasBehind && behind(t) > t {
		c.madeLeft = append(c.madeLeft, madeWindow{start: t + 1, time: right.time(), base: right})
	}
}

// makeOwn lists the window that ends with a row, and that behind the newest row
// before it, as far as they are to be made.
func (a *slidingAggregate) makeOwn(t, newest, streamTime int64) {
	c := &a.change
	first := a.window.Left(t)
	second := newest + 1
	makesFirst := c.own == nil && !a.window.Closed(first, streamTime)
	makesSecond := newest >= 0 && second >= first && !a.window.Closed(second, streamTime) && !a.hasWindow(second)
	if makesFirst {
		own := madeWindow{start: first, time: t, add: true, twice: makesSecond && second == first}
		if newest >= first {
			own.base = c.left
		}
		c.madeLeft = append(c.madeLeft, own)
	}
	if makesSecond && second > first {
		c.madeLeft = append(c.madeLeft, madeWindow{start: second, time: t, add: true})
	}
}

// hasWindow tells whether the pages have the window at start.
func (a *slidingAggregate) hasWindow(start int64) bool {
	for n := range a.change.count {
		content := a.change.pages[n].content
		at, _ := a.state.seekSliding(content, start)
		if at < len(content) && a.state.slidingAt(content, at).start() == start {
			return true
		}
	}
	return false
}

// rewrite makes the pages anew, hands the changes on, and stores the pages.
func (a *slidingAggregate) rewrite(b *column.Batch, r slidingRow, t int64) error {
	c, s := &a.change, &a.steps
	c.windows = c.windows[:0]
	for n := range c.count {
		if err := a.rewritePage(n, r, t); err != nil {
			return stepError(b, r.row, "", err)
		}
	}
	if len(c.windows) == 0 {
		return nil
	}
	if err := a.addFixed(b, r.row); err != nil {
		return err
	}
	if !a.final && !a.env.HoldBack {
		if err := a.putOutChanges(b, r.row); err != nil {
			return err
		}
	}
	for n := range c.count {
		page := &c.pages[n]
		if !page.changed {
			continue
		}
		table, row := s.tables[s.tableOf[page.step]], s.rows[page.step]
		if table.Exists(row) {
			t = max(t, table.Time(row))
		}
		table.Touch(row)
		table.SetTime(row, t)
		table.SetVariable(row, page.next)
	}
	return nil
}

// rewritePage makes a page's next content, without the row in the fixed calls of
// the changed windows.
func (a *slidingAggregate) rewritePage(n int, r slidingRow, t int64) error {
	c := &a.change
	page := &c.pages[n]
	if page.from == page.to && (len(c.madeLeft) == 0 || a.pages.number(c.madeLeft[0].start) != page.number) {
		return nil
	}
	page.next = append(page.next[:0], page.content[:page.from]...)
	for at := page.from; at < page.to; {
		w := a.state.slidingAt(page.content, at)
		at += len(w)
		if err := a.insert(n, w.start()-1, r); err != nil {
			return err
		}
		if a.window.Closed(w.start(), r.streamTime) {
			page.next = append(page.next, w...)
			continue
		}
		c.windows = append(c.windows, changedWindow{page: n, at: len(page.next), before: w, add: true})
		page.changed = true
		var err error
		if page.next, err = a.state.appendSlidingRow(page.next, w.start(), max(w.time(), t), w, r.row); err != nil {
			return err
		}
	}
	if err := a.insert(n, behind(t), r); err != nil {
		return err
	}
	page.next = append(page.next, page.content[page.to:]...)
	return nil
}

// insert appends the made windows of a page that start at last or before.
func (a *slidingAggregate) insert(n int, last int64, r slidingRow) error {
	c := &a.change
	page := &c.pages[n]
	for len(c.madeLeft) > 0 {
		m := c.madeLeft[0]
		if m.start > last || a.pages.number(m.start) != page.number {
			return nil
		}
		c.madeLeft = c.madeLeft[1:]
		c.windows = append(c.windows, changedWindow{page: n, at: len(page.next), add: m.add, twice: m.twice})
		page.changed = true
		if a.final {
			a.closing.add(m.start, a.groupKey(page.step))
		}
		if !m.add {
			page.next = a.state.appendSliding(page.next, m.start, m.time, m.base)
			continue
		}
		var err error
		if page.next, err = a.state.appendSlidingRow(page.next, m.start, m.time, m.base, r.row); err != nil {
			return err
		}
	}
	return nil
}

// addFixed adds a row to the fixed calls of the changed windows.
func (a *slidingAggregate) addFixed(b *column.Batch, i int32) error {
	c := &a.change
	c.cells, c.rows = c.cells[:0], c.rows[:0]
	for _, w := range c.windows {
		if w.add {
			cells := a.state.slidingCells(slidingWindow(c.pages[w.page].next[w.at:]))
			c.cells, c.rows = append(c.cells, cells), append(c.rows, i)
		}
	}
	for n := range a.state.fixed {
		call := &a.state.fixed[n]
		if _, err := call.AddAll(c.cells, call.after, c.rows); err != nil {
			return stepError(b, i, call.name, err)
		}
	}
	return nil
}

// groupKey is a view of the key of the group whose page a step finds.
func (a *slidingAggregate) groupKey(step int32) []byte {
	key := a.steps.keys.Key(int(a.steps.keyOf[step]))
	return key[:len(key)-pageNumberBytes]
}
