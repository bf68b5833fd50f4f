package state

import (
	"hash/maphash"
	"unsafe"
)

// Layout is the shape of a store's rows.
type Layout struct {
	Fixed int // bytes of the fixed part of each row, may be 0
}

// Row numbers a row of one table. It is valid until the transaction ends.
type Row int32

// NoRow is the answer of Find for a key without a row.
const NoRow Row = -1

// header is what a table knows of a row besides its cells. Half a cache line,
// without pointers.
type header struct {
	time           int64
	key            ref
	keyLength      uint32
	variable       ref
	variableLength uint32
	mark           uint32 // 1 + the position in touched; 0: not changed in this transaction
	flags          uint32
}

const (
	inUse       uint32 = 1 << iota // not a free row
	exists                         // false: added and never touched, or deleted
	hasVariable                    // the variable part may be empty, yet there
	ownVariable                    // its block was made in this transaction
	dirty                          // newer than the backend, listed in Table.dirty
	writing                        // in the batch that is being written
	stored                         // the backend may have the key
	used                           // looked up since the last sweep of the spill
)

const (
	headerBytes = int64(unsafe.Sizeof(header{}))
	chunkBits   = 12
	chunkRows   = 1 << chunkBits
	rowMask     = chunkRows - 1
	firstRows   = 16
)

// Table is the rows of one store, or of one window of it, by key. It is not safe
// for concurrent use.
//
// Views (Fixed, Variable, Key) are valid until the next lookup in the table,
// which may add rows, or the end of the transaction; the view of a variable part
// also ends when a variable part is set.
type Table struct {
	store  *Store
	window int64
	index  index
	arena  arena

	headers [][]header // chunks of chunkRows; a lone first chunk may be shorter
	cells   [][]byte
	next    Row // rows below were handed out
	free    []Row

	undo
	first byte // keeps the loads of a lookup's last but one pass alive
	noted bool // in the store's list of tables of this transaction

	backing
}

func newTable(s *Store, window int64) *Table {
	return &Table{store: s, window: window, index: newIndex()}
}

// Window is the start of the table's window, 0 in a store without windows.
func (t *Table) Window() int64 { return t.window }

func (t *Table) header(row Row) *header { return &t.headers[row>>chunkBits][row&rowMask] }

// Fixed is a view of the row's fixed part. It may be changed after Touch.
func (t *Table) Fixed(row Row) []byte {
	size := t.store.layout.Fixed
	start := int(row&rowMask) * size
	return t.cells[row>>chunkBits][start : start+size : start+size]
}

// Variable is a view of the row's variable part, nil when it has none. It must
// not be changed.
func (t *Table) Variable(row Row) []byte {
	h := t.header(row)
	if h.flags&hasVariable == 0 {
		return nil
	}
	return t.arena.view(h.variable, h.variableLength)
}

// Time is the row's timestamp, ms.
func (t *Table) Time(row Row) int64 { return t.header(row).time }

// Exists tells whether the row is there: false for a row that was added and
// not touched yet, and for a deleted one.
func (t *Table) Exists(row Row) bool { return t.header(row).flags&exists != 0 }

// Key is a view of the row's key.
func (t *Table) Key(row Row) []byte {
	h := t.header(row)
	return t.arena.view(h.key, h.keyLength)
}

// add makes a row, not existing and with zeroed cells, for a key that has none.
func (t *Table) add(key []byte, tag uint64) (Row, error) {
	at, ok := t.arena.put(key)
	if !ok {
		return NoRow, t.full()
	}
	row := t.next
	if last := len(t.free) - 1; last >= 0 {
		row = t.free[last]
		t.free = t.free[:last]
	} else {
		if row < 0 || int(row>>chunkBits) == len(t.headers) || int(row&rowMask) == len(t.headers[row>>chunkBits]) {
			if row < 0 {
				return NoRow, t.full()
			}
			t.growRows(int(row >> chunkBits))
		}
		t.next++
	}
	h := t.header(row)
	*h = header{key: at, keyLength: uint32(len(key)), flags: inUse | used}
	t.index.insert(tag, row)
	return row, nil
}

// growRows adds a chunk of rows, or doubles the first.
func (t *Table) growRows(chunk int) {
	size := t.store.layout.Fixed
	if chunk == len(t.headers) {
		rows := chunkRows
		if chunk == 0 {
			rows = firstRows
		}
		t.headers = append(t.headers, make([]header, rows))
		t.cells = append(t.cells, make([]byte, rows*size))
		return
	}
	rows := 2 * len(t.headers[chunk])
	headers, cells := make([]header, rows), make([]byte, rows*size)
	copy(headers, t.headers[chunk])
	copy(cells, t.cells[chunk])
	t.headers[chunk], t.cells[chunk] = headers, cells
}

// remove frees a row. Nothing may refer to it any more.
func (t *Table) remove(row Row) {
	h := t.header(row)
	key := t.arena.view(h.key, h.keyLength)
	t.index.remove(tagOf(maphash.Bytes(seed, key)), row)
	t.arena.release(h.key, h.keyLength)
	t.dropVariable(h)
	*h = header{}
	clear(t.Fixed(row))
	t.free = append(t.free, row)
}

func (t *Table) dropVariable(h *header) {
	t.arena.release(h.variable, h.variableLength)
	h.variable, h.variableLength = 0, 0
	h.flags &^= hasVariable | ownVariable
}

// rows is the number of rows in memory, with those that do not exist.
func (t *Table) rows() int { return int(t.next) - len(t.free) }

func (t *Table) rowBytes() int64 { return headerBytes + int64(t.store.layout.Fixed) }

// memory is the bytes in use, without what is kept for reuse.
func (t *Table) memory() int64 {
	undo := int64(cap(t.fixed)) + int64(cap(t.before))*int64(unsafe.Sizeof(preImage{}))
	return int64(t.rows())*t.rowBytes() + t.arena.live + t.index.bytes() + undo
}

// compact rewrites the arena when most of it is free. Only between
// transactions: pre-images refer to blocks.
func (t *Table) compact() {
	if !t.arena.wasteful() {
		return
	}
	old := t.arena
	t.arena = arena{}
	for row := range t.next {
		h := t.header(row)
		if h.flags&inUse == 0 {
			continue
		}
		// What fitted the old arena with its gaps fits the new one.
		h.key, _ = t.arena.put(old.view(h.key, h.keyLength))
		if h.variableLength > 0 {
			h.variable, _ = t.arena.put(old.view(h.variable, h.variableLength))
		}
	}
}
