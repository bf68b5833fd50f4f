package column

import "math/bits"

// Bitmap is a set of row numbers. A row beyond its words is not in it.
type Bitmap []uint64

// NewBitmap has room for n rows, none of them in it.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// Get tells whether row i is in the set.
func (m Bitmap) Get(i int) bool { return m[i>>6]>>(uint(i)&63)&1 != 0 }

// Set puts row i into the set.
func (m Bitmap) Set(i int) { m[i>>6] |= 1 << (uint(i) & 63) }

// Clear takes row i out of the set.
func (m Bitmap) Clear(i int) { m[i>>6] &^= 1 << (uint(i) & 63) }

// SetTo puts row i in or takes it out.
func (m Bitmap) SetTo(i int, in bool) {
	if in {
		m.Set(i)
	} else {
		m.Clear(i)
	}
}

// Fill puts all of the first n rows into the set or takes all out.
func (m Bitmap) Fill(n int, in bool) {
	word := uint64(0)
	if in {
		word = ^uint64(0)
	}
	for i := range (n + 63) / 64 {
		m[i] = word
	}
}

// Count is the number of rows in the set, of the first n.
func (m Bitmap) Count(n int) int {
	total := 0
	for i := range n / 64 {
		total += bits.OnesCount64(m[i])
	}
	if rest := uint(n) & 63; rest != 0 {
		total += bits.OnesCount64(m[n/64] & (1<<rest - 1))
	}
	return total
}

// Resize returns m with room for n rows. The content is undefined.
func (m Bitmap) Resize(n int) Bitmap {
	words := (n + 63) / 64
	if cap(m) < words {
		return make(Bitmap, words, words+words/2)
	}
	return m[:words]
}
