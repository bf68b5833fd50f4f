package state

import "math/bits"

// ref is the place of a block in an arena: the number of an 8-byte unit, or
// with largeRef the number of a large block.
type ref uint32

const (
	unitBytes  = 8
	chunkUnits = 1 << 15
	chunkBytes = chunkUnits * unitBytes
	firstChunk = 1 << 10
	maxChunks  = 1 << 31 / chunkUnits
	// A longer block has memory of its own, so that at most a sixteenth of a
	// chunk stays unused at its end.
	largeBytes = chunkBytes / 16

	largeRef    ref = 1 << 31
	sizeClasses     = 16 + 4*7 // 8, 16 .. 128 bytes, then four a doubling up to largeBytes
)

// arena holds the keys and variable parts of a table without pointers that the
// garbage collector would follow. Freed blocks are reused for blocks of their
// size class.
type arena struct {
	chunks    [][]byte
	used      int // bytes taken of the last chunk
	free      *[sizeClasses][]ref
	large     [][]byte
	freeLarge []ref
	live      int64 // bytes in blocks in use
	dead      int64 // bytes in free blocks
}

// sizeClass is the class of a block of n bytes, 0 < n <= largeBytes, and the
// bytes that blocks of the class have.
func sizeClass(n uint32) (class int, size uint32) {
	if n <= 128 {
		class = int(n+7)/8 - 1
		return class, uint32(class+1) * 8
	}
	doubling := bits.Len32(n-1) - 1 // 2^doubling < n <= 2^(doubling+1)
	quarter := uint32(1) << (doubling - 2)
	steps := (n - 1<<doubling + quarter - 1) / quarter
	return 16 + (doubling-7)*4 + int(steps) - 1, 1<<doubling + steps*quarter
}

// alloc returns a block of n bytes of undefined content; ok is false when the
// arena is full.
func (a *arena) alloc(n uint32) (at ref, ok bool) {
	if n == 0 {
		return 0, true
	}
	if n > largeBytes {
		return a.allocLarge(n), true
	}
	class, size := sizeClass(n)
	if a.free != nil {
		if list := a.free[class]; len(list) > 0 {
			a.free[class] = list[:len(list)-1]
			a.live += int64(size)
			a.dead -= int64(size)
			return list[len(list)-1], true
		}
	}
	if len(a.chunks) == 0 || a.used+int(size) > len(a.chunks[len(a.chunks)-1]) {
		if !a.grow(int(size)) {
			return 0, false
		}
	}
	at = ref((len(a.chunks)-1)*chunkUnits + a.used/unitBytes)
	a.used += int(size)
	a.live += int64(size)
	return at, true
}

// grow makes room for size bytes: the first chunk doubles up to the size of all
// others, since most windows are small.
func (a *arena) grow(size int) bool {
	if len(a.chunks) == 1 && len(a.chunks[0]) < chunkBytes {
		length := len(a.chunks[0])
		for length < a.used+size {
			length *= 2
		}
		if length <= chunkBytes {
			grown := make([]byte, length)
			copy(grown, a.chunks[0][:a.used])
			a.chunks[0] = grown
			return true
		}
	}
	if len(a.chunks) == maxChunks {
		return false
	}
	length := chunkBytes
	if len(a.chunks) == 0 {
		length = firstChunk
		for length < size {
			length *= 2
		}
	}
	a.chunks = append(a.chunks, make([]byte, length))
	a.used = 0
	return true
}

func (a *arena) allocLarge(n uint32) ref {
	a.live += int64(n)
	block := make([]byte, n)
	if last := len(a.freeLarge) - 1; last >= 0 {
		at := a.freeLarge[last]
		a.freeLarge = a.freeLarge[:last]
		a.large[at] = block
		return at | largeRef
	}
	a.large = append(a.large, block)
	return ref(len(a.large)-1) | largeRef
}

// release frees the block of n bytes at a place.
func (a *arena) release(at ref, n uint32) {
	if n == 0 {
		return
	}
	if at&largeRef != 0 {
		at &^= largeRef
		a.live -= int64(cap(a.large[at]))
		a.large[at] = nil
		a.freeLarge = append(a.freeLarge, at)
		return
	}
	if a.free == nil {
		a.free = new([sizeClasses][]ref)
	}
	class, size := sizeClass(n)
	a.free[class] = append(a.free[class], at)
	a.live -= int64(size)
	a.dead += int64(size)
}

// fits tells whether a block made for n bytes can hold m bytes and stay the
// block that release finds by its length.
func fits(n, m uint32) bool {
	if n == 0 || m == 0 || n > largeBytes || m > largeBytes {
		return false
	}
	have, _ := sizeClass(n)
	want, _ := sizeClass(m)
	return have == want
}

// view is the block of n bytes at a place.
func (a *arena) view(at ref, n uint32) []byte {
	if n == 0 {
		return []byte{}
	}
	if at&largeRef != 0 {
		return a.large[at&^largeRef][:n:n]
	}
	start := int(at%chunkUnits) * unitBytes
	end := start + int(n)
	return a.chunks[at/chunkUnits][start:end:end]
}

// put copies content into a new block.
func (a *arena) put(content []byte) (ref, bool) {
	at, ok := a.alloc(uint32(len(content)))
	if ok {
		copy(a.view(at, uint32(len(content))), content)
	}
	return at, ok
}

// wasteful tells that more is free than in use, and enough to be worth a copy.
func (a *arena) wasteful() bool { return a.dead > a.live && a.dead > 4*chunkBytes }
