package state

import (
	"hash/maphash"

	"millrace/exec/column"
)

// seed is one for the process, so that a key is hashed once for all tables that
// it is looked up in. No result depends on it.
var seed = maphash.MakeSeed()

// Keys are the encoded keys of a run of rows, numbered from 0 in the order they
// were appended. The zero value is empty; memory is reused after Reset.
type Keys struct {
	content []byte
	ends    []uint32
	hashes  []uint64
	all     []int32
}

// Reset drops all keys.
func (k *Keys) Reset() {
	k.content, k.ends, k.hashes = k.content[:0], k.ends[:0], k.hashes[:0]
}

// Append adds the key of row i of the columns.
func (k *Keys) Append(columns []*column.Vector, i int) {
	k.content = AppendKey(k.content, columns, i)
	k.ends = append(k.ends, uint32(len(k.content)))
}

// AppendBytes adds a key that is already encoded; it is copied.
func (k *Keys) AppendBytes(key []byte) {
	k.content = append(k.content, key...)
	k.ends = append(k.ends, uint32(len(k.content)))
}

// Len is the number of keys.
func (k *Keys) Len() int { return len(k.ends) }

// Key is a view of key n, valid until the next append or Reset.
func (k *Keys) Key(n int) []byte {
	start := uint32(0)
	if n > 0 {
		start = k.ends[n-1]
	}
	end := k.ends[n]
	return k.content[start:end:end]
}

// hash completes the hashes of all keys.
func (k *Keys) hash() {
	for n := len(k.hashes); n < len(k.ends); n++ {
		k.hashes = append(k.hashes, maphash.Bytes(seed, k.Key(n)))
	}
}

// numbers is selection, or all key numbers if it is nil.
func (k *Keys) numbers(selection []int32) []int32 {
	if selection != nil {
		return selection
	}
	for n := len(k.all); n < len(k.ends); n++ {
		k.all = append(k.all, int32(n))
	}
	return k.all[:len(k.ends)]
}
