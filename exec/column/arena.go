package column

import (
	"errors"
	"unsafe"
)

// A text of more than largeText bytes gets memory of its own that goes with
// it, so that at most a quarter of a chunk stays unused.
const (
	arenaChunk = 64 << 10
	largeText  = arenaChunk / 4
)

// Arena holds the bytes of a batch's new texts. What it hands out is valid
// until Reset. One goroutine uses it.
type Arena struct {
	// Limit is how many bytes may be taken between two calls of Reset; 0: any
	// number. Beyond it, taking more panics with ErrBatchTooLarge.
	Limit  int
	taken  int
	chunks [][]byte
	next   int // chunks[:next] are full or in use
	open   []byte
}

// ErrBatchTooLarge is the panic of an Arena beyond its limit, and of a vector
// with too many elements. Who runs the batch takes it back and tries with fewer
// rows.
var ErrBatchTooLarge = errors.New("the values that are computed for a batch need too much memory")

// Reset makes all memory free for the next batch.
func (a *Arena) Reset() {
	a.next, a.open, a.taken = 0, nil, 0
}

// Taken is about how many bytes were taken since Reset.
func (a *Arena) Taken() int { return a.taken }

func (a *Arena) take(n int) {
	if a.taken += n; a.Limit > 0 && a.taken > a.Limit {
		panic(ErrBatchTooLarge)
	}
}

// Alloc returns n bytes of undefined content.
func (a *Arena) Alloc(n int) []byte {
	if n > a.rest() {
		if n > largeText {
			a.take(n)
			return make([]byte, n)
		}
		a.grow()
	}
	start := len(a.open)
	a.open = a.open[:start+n]
	return a.open[start : start+n : start+n]
}

// rest is how many bytes the open chunk has left.
func (a *Arena) rest() int { return cap(a.open) - len(a.open) }

func (a *Arena) grow() {
	a.take(arenaChunk)
	if a.next == len(a.chunks) {
		a.chunks = append(a.chunks, make([]byte, 0, arenaChunk))
	}
	a.open = a.chunks[a.next][:0]
	a.next++
}

// Copy keeps a copy of text.
func (a *Arena) Copy(text string) string {
	if text == "" {
		return ""
	}
	b := a.Alloc(len(text))
	copy(b, text)
	return View(b)
}

// Tail is an empty slice with room for at least n bytes to append to; Keep
// makes what was appended permanent. Nothing else may be taken from the arena
// in between.
func (a *Arena) Tail(n int) []byte {
	if n > a.rest() {
		if n > largeText {
			a.take(n)
			return make([]byte, 0, n)
		}
		a.grow()
	}
	return a.open[len(a.open):]
}

// Keep makes text, which was appended to the slice of Tail, a text of the
// arena. It may have outgrown the arena; then it is kept as it is, and an open
// chunk with so little room that the next texts could outgrow it too is full.
func (a *Arena) Keep(text []byte) string {
	if len(text) > largeText {
		a.take(len(text))
	}
	if n := len(text); n > 0 && n <= a.rest() {
		room := a.open[len(a.open) : len(a.open)+n]
		if &room[0] == &text[0] {
			a.open = a.open[:len(a.open)+n]
		}
	} else if n > 0 && a.rest() <= largeText {
		a.open = nil
	}
	return View(text)
}

// View is b as a string without a copy; b must not change while it is used.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes is text as a slice without a copy; it must not be written to.
func Bytes(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
