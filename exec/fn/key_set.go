package fn

import (
	"hash/maphash"

	"millrace/exec/column"
)

// hashedKeys is the number of keys from which on a hash table finds them.
const hashedKeys = 9

var keySeed = maphash.MakeSeed()

// keySet numbers different keys from 0 in the order in which they come. Keys
// are the same if their encodings are: 0.0 and -0.0 differ, NaN equals NaN.
type keySet struct {
	bytes []byte  // the encodings, one behind another
	ends  []int   // of each key in bytes
	slots []int32 // hash table of numbers plus one; in use from hashedKeys on
}

func (s *keySet) reset() {
	s.bytes, s.ends, s.slots = s.bytes[:0], s.ends[:0], s.slots[:0]
}

func (s *keySet) count() int { return len(s.ends) }

// add returns the number of the key in row i of v, and whether it is new.
func (s *keySet) add(v *column.Vector, i int) (number int, added bool) {
	start := len(s.bytes)
	s.bytes = column.AppendRow(s.bytes, []*column.Vector{v}, i)
	return s.settle(start)
}

// addText is add for a text; a set has either texts or rows.
func (s *keySet) addText(text string) (number int, added bool) {
	start := len(s.bytes)
	s.bytes = append(s.bytes, text...)
	return s.settle(start)
}

// has tells whether the key in row i of v is in the set.
func (s *keySet) has(v *column.Vector, i int) bool {
	start := len(s.bytes)
	s.bytes = column.AppendRow(s.bytes, []*column.Vector{v}, i)
	_, found := s.find(s.bytes[start:])
	s.bytes = s.bytes[:start]
	return found
}

// settle finds the key that was appended to bytes, or makes it a new one.
func (s *keySet) settle(start int) (number int, added bool) {
	if number, found := s.find(s.bytes[start:]); found {
		s.bytes = s.bytes[:start]
		return number, false
	}
	s.ends = append(s.ends, len(s.bytes))
	if n := len(s.ends); n >= hashedKeys {
		if 2*n > len(s.slots) {
			s.rehash(4 * n)
		} else {
			s.slots[s.slot(s.bytes[start:])] = int32(n)
		}
	}
	return len(s.ends) - 1, true
}

func (s *keySet) find(key []byte) (number int, found bool) {
	if len(s.ends) >= hashedKeys {
		number = int(s.slots[s.slot(key)]) - 1
		return number, number >= 0
	}
	for n := range s.ends {
		if string(s.key(n)) == string(key) {
			return n, true
		}
	}
	return 0, false
}

func (s *keySet) key(n int) []byte {
	start := 0
	if n > 0 {
		start = s.ends[n-1]
	}
	return s.bytes[start:s.ends[n]]
}

// slot is the table's place of a key, or the free one where it belongs.
func (s *keySet) slot(key []byte) int {
	at := int(maphash.Bytes(keySeed, key) % uint64(len(s.slots)))
	for s.slots[at] != 0 && string(s.key(int(s.slots[at])-1)) != string(key) {
		if at++; at == len(s.slots) {
			at = 0
		}
	}
	return at
}

func (s *keySet) rehash(size int) {
	if cap(s.slots) < size {
		s.slots = make([]int32, size)
	}
	s.slots = s.slots[:size]
	clear(s.slots)
	for n := range s.ends {
		s.slots[s.slot(s.key(n))] = int32(n + 1)
	}
}
