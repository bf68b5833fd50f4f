package state

// ExtendVariable makes the variable part of a touched row longer by n bytes of
// undefined content at its end. What it returns is the whole part, which may be
// changed in place until the next change of a row; nil where it no longer fits the
// table's memory, which makes the store's Changes fail. A part that grows so gets
// room to grow on, and a byte is copied few times in a transaction however often
// its row is extended.
func (t *Table) ExtendVariable(row Row, n int) []byte {
	h := t.header(row)
	if h.mark == 0 {
		t.keep(row, h)
	}
	total := uint64(h.variableLength) + uint64(n)
	if total > maxVariable {
		t.store.fail(t.full())
		return nil
	}
	length := uint32(total)
	if h.flags&ownVariable == 0 || !t.arena.extend(h.variable, h.variableLength, length) {
		at, ok := t.arena.allocWithRoom(length)
		if !ok {
			t.store.fail(t.full())
			return nil
		}
		copy(t.arena.view(at, length), t.arena.view(h.variable, h.variableLength))
		t.unsetVariable(h)
		h.variable = at
		h.flags |= hasVariable | ownVariable
	}
	h.variableLength = length
	return t.arena.view(h.variable, length)
}

// extend makes a block of n bytes one of m, if it has room for them.
func (a *arena) extend(at ref, n, m uint32) bool {
	if n <= largeBytes {
		return fits(n, m)
	}
	block := a.large[at&^largeRef]
	if int(m) > cap(block) {
		return false
	}
	a.large[at&^largeRef] = block[:m]
	return true
}

// allocWithRoom is alloc of a block that extend can make longer by a quarter; a
// small one as far as its size class goes.
func (a *arena) allocWithRoom(n uint32) (ref, bool) {
	if n <= largeBytes {
		return a.alloc(n)
	}
	at := a.allocLarge(n + n/4)
	a.large[at&^largeRef] = a.large[at&^largeRef][:n]
	return at, true
}
