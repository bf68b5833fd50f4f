package state

// preImage is a row as it was before its first change of the transaction.
type preImage struct {
	time           int64
	variable       ref
	variableLength uint32
	flags          uint32
}

// undo is what a table needs to take a transaction back.
type undo struct {
	touched []Row
	before  []preImage
	fixed   []byte // fixed parts of before, one after the other
	added   []Row  // rows that FindOrAdd made
}

func (u *undo) reset() {
	u.touched, u.before, u.fixed, u.added = u.touched[:0], u.before[:0], u.fixed[:0], u.added[:0]
}

// Touch must come before a change of the row's cells. It keeps the row as it
// was for Rollback and PreImage, marks it changed, and makes it exist.
func (t *Table) Touch(row Row) {
	h := t.header(row)
	if h.mark == 0 {
		t.keep(row, h)
	}
	h.flags |= exists
}

func (t *Table) keep(row Row, h *header) {
	if !t.noted {
		t.store.note(t)
	}
	t.touched = append(t.touched, row)
	t.before = append(t.before, preImage{
		time: h.time, variable: h.variable, variableLength: h.variableLength, flags: h.flags & (exists | hasVariable),
	})
	t.fixed = append(t.fixed, t.Fixed(row)...)
	h.mark = uint32(len(t.touched))
}

// Delete makes the row not exist, with the bookkeeping of Touch. Its cells
// become zero; its timestamp stays and can still be set.
func (t *Table) Delete(row Row) {
	h := t.header(row)
	if h.mark == 0 {
		t.keep(row, h)
	}
	t.unsetVariable(h)
	clear(t.Fixed(row))
	h.flags &^= exists
}

// unsetVariable takes the variable part away; the block of the pre-image stays.
func (t *Table) unsetVariable(h *header) {
	if h.flags&ownVariable != 0 {
		t.arena.release(h.variable, h.variableLength)
	}
	h.variable, h.variableLength = 0, 0
	h.flags &^= hasVariable | ownVariable
}

// SetTime sets the timestamp of a touched or deleted row, ms.
func (t *Table) SetTime(row Row, ms int64) {
	h := t.header(row)
	if h.mark == 0 {
		t.keep(row, h)
	}
	h.time = ms
}

// SetVariable sets the variable part of a touched row to a copy of value; nil
// takes it away. A value that no longer fits the table's memory makes the
// store's Changes fail.
func (t *Table) SetVariable(row Row, value []byte) {
	h := t.header(row)
	if h.mark == 0 {
		t.keep(row, h)
	}
	length := uint32(len(value))
	if h.flags&ownVariable != 0 && fits(h.variableLength, length) {
		copy(t.arena.view(h.variable, length), value)
		h.variableLength = length
		return
	}
	if uint64(len(value)) > maxVariable {
		t.store.fail(t.full())
		return
	}
	at, ok := t.arena.put(value)
	if !ok {
		t.store.fail(t.full())
		return
	}
	t.unsetVariable(h)
	if value != nil {
		h.variable, h.variableLength = at, length
		h.flags |= hasVariable | ownVariable
	}
}

// Touched are the rows changed since the last commit, in the order of their
// first change; valid until the transaction ends.
func (t *Table) Touched() []Row { return t.touched }

// PreImage is the row as it was at the last commit. The views are valid until
// the next change of a row.
func (t *Table) PreImage(row Row) (fixed, variable []byte, existed bool, ms int64) {
	h := t.header(row)
	if h.mark == 0 {
		return t.Fixed(row), t.Variable(row), h.flags&exists != 0, h.time
	}
	at := int(h.mark) - 1
	before, size := &t.before[at], t.store.layout.Fixed
	fixed = t.fixed[at*size : (at+1)*size : (at+1)*size]
	if before.flags&hasVariable != 0 {
		variable = t.arena.view(before.variable, before.variableLength)
	}
	return fixed, variable, before.flags&exists != 0, before.time
}

// commit makes the table's changes permanent.
func (t *Table) commit() {
	latest := t.store.latest
	for i, row := range t.touched {
		h, before := t.header(row), &t.before[i]
		if h.flags&ownVariable != 0 || h.flags&hasVariable == 0 {
			t.arena.release(before.variable, before.variableLength)
		}
		h.mark = 0
		h.flags &^= ownVariable
		latest = max(latest, h.time)
		t.settle(row, h)
	}
	t.store.latest = latest
	t.endTransaction()
}

// rollback makes all rows what they were at the last commit.
func (t *Table) rollback() {
	size := t.store.layout.Fixed
	for i, row := range t.touched {
		h, before := t.header(row), &t.before[i]
		t.unsetVariable(h)
		h.time, h.variable, h.variableLength, h.mark = before.time, before.variable, before.variableLength, 0
		h.flags = h.flags&^(exists|hasVariable) | before.flags
		copy(t.Fixed(row), t.fixed[i*size:])
	}
	t.endTransaction()
}

// endTransaction frees the rows that were looked up and never came to exist.
func (t *Table) endTransaction() {
	for _, row := range t.added {
		h := t.header(row)
		if h.flags&inUse != 0 && h.flags&(exists|dirty|writing|stored) == 0 {
			t.remove(row)
		}
	}
	t.undo.reset()
	t.compact()
}
