package state

import "sync/atomic"

// Budget is the memory that the tables of all tasks of a process may take. Over
// it, tasks with a directory move clean rows to their backend. It is safe for
// concurrent use; a nil budget has no limit.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget makes a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Used is what all tasks took at their last commits, in bytes.
func (b *Budget) Used() int64 { return b.used.Load() }

// Limit is the budget in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// report tells the budget how much the task takes.
func (t *Task) report() {
	if t.options.Budget == nil {
		return
	}
	size := t.MemoryBytes()
	t.options.Budget.used.Add(size - t.reported)
	t.reported = size
}

// excess is how many bytes the task should free: its share of what all are over
// the budget, and a little more so that not every commit has to free some.
func (t *Task) excess() int64 {
	b := t.options.Budget
	if b == nil {
		return 0
	}
	used := b.used.Load()
	if used <= b.limit || t.reported == 0 {
		return 0
	}
	share := float64(used-b.limit) * float64(t.reported) / float64(used)
	return int64(share) + t.reported/32 + 1
}

// evict frees rows that the backend has as they are, those first that were not
// looked up since the last time, until need bytes are free or nothing is left.
// It returns the bytes freed.
func (t *Task) evict(need int64) int64 {
	freed := int64(0)
	for range 2 {
		for _, s := range t.stores {
			for _, start := range s.starts {
				if freed >= need {
					return freed
				}
				freed += s.tables[start].sweep(need - freed)
			}
		}
	}
	return freed
}

// sweep goes once around the table from where it last stopped.
func (t *Table) sweep(need int64) int64 {
	freed := int64(0)
	for range t.next {
		if freed >= need {
			break
		}
		if t.hand >= t.next {
			t.hand = 0
		}
		row := t.hand
		t.hand++
		h := t.header(row)
		if h.flags&(inUse|exists|dirty|writing|stored) != inUse|exists|stored {
			continue
		}
		if h.flags&used != 0 {
			h.flags &^= used
			continue
		}
		live := t.arena.live
		t.remove(row)
		t.spilled = true
		freed += live - t.arena.live + t.rowBytes()
	}
	t.compact()
	return freed
}

// reader is the memory for reading rows back.
type reader struct {
	content []byte
	ends    []int
	numbers []int32
	keys    [][]byte
}

// readBack loads the rows of those keys that have none in memory, and sets rows
// for what the backend has.
func (t *Table) readBack(keys *Keys, numbers []int32, rows []Row) error {
	r := &t.store.task.reader
	r.content, r.ends, r.numbers, r.keys = r.content[:0], r.ends[:0], r.numbers[:0], r.keys[:0]
	for _, n := range numbers {
		if rows[n] < 0 {
			r.content = append(t.appendBackendPrefix(r.content), keys.Key(int(n))...)
			r.ends = append(r.ends, len(r.content))
			r.numbers = append(r.numbers, n)
		}
	}
	start := 0
	for _, end := range r.ends {
		r.keys = append(r.keys, r.content[start:end])
		start = end
	}
	return t.store.task.backend.Get(r.keys, func(i int, value []byte) error {
		n := r.numbers[i]
		key, tag := keys.Key(int(n)), tagOf(keys.hashes[n])
		row := t.locate(key, tag)
		if row < 0 {
			var err error
			if row, err = t.load(key, tag, value); err != nil {
				return err
			}
		}
		rows[n] = row
		return nil
	})
}

// load adds a row as the backend has it.
func (t *Table) load(key []byte, tag uint64, value []byte) (Row, error) {
	parts, err := t.store.decodeRow(value)
	if err != nil {
		return NoRow, err
	}
	row, err := t.add(key, tag)
	if err != nil {
		return NoRow, err
	}
	t.header(row).flags |= stored
	return row, t.fill(row, parts)
}
