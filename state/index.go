package state

// index finds rows by hash: open addressing with linear probing. A slot is the
// upper half of the hash (the tag) above row + 1; 0 is empty. Position and shard
// follow from the tag alone, so growing reads slots only, not keys.
//
// A small table is one shard; a large one has many that grow one at a time,
// since growing all at once would stall the task.
type index struct {
	shards [][]uint64
	counts []int32
	shift  uint8 // of a tag, gives the shard
}

const (
	tagBits     = 32
	shardBits   = 6
	firstSlots  = 32
	singleSlots = 1 << 15 // a single shard beyond this is split
)

func newIndex() index {
	return index{shards: [][]uint64{make([]uint64, firstSlots)}, counts: make([]int32, 1), shift: tagBits}
}

func tagOf(hash uint64) uint64 { return hash >> tagBits }

func slotOf(tag uint64, row Row) uint64 { return tag<<tagBits | uint64(uint32(row)+1) }

func rowOf(slot uint64) Row { return Row(uint32(slot) - 1) }

// insert adds a row whose key is not in the index.
func (x *index) insert(tag uint64, row Row) {
	number := tag >> x.shift
	if shard := x.shards[number]; int(x.counts[number])*4 >= len(shard)*3 {
		x.grow(number)
		number = tag >> x.shift
	}
	x.counts[number]++
	place(x.shards[number], slotOf(tag, row))
}

func place(shard []uint64, slot uint64) {
	mask := uint64(len(shard) - 1)
	at := slot >> tagBits & mask
	for shard[at] != 0 {
		at = (at + 1) & mask
	}
	shard[at] = slot
}

func (x *index) grow(number uint64) {
	old := x.shards[number]
	if len(x.shards) == 1 && len(old) == singleSlots {
		x.split(old)
		return
	}
	grown := make([]uint64, 2*len(old))
	for _, slot := range old {
		if slot != 0 {
			place(grown, slot)
		}
	}
	x.shards[number] = grown
}

func (x *index) split(old []uint64) {
	x.shift = tagBits - shardBits
	x.shards = make([][]uint64, 1<<shardBits)
	x.counts = make([]int32, 1<<shardBits)
	for i := range x.shards {
		x.shards[i] = make([]uint64, len(old)/16)
	}
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		x.insert(slot>>tagBits, rowOf(slot))
	}
}

// remove takes a row out that is in the index, and closes the gap so that
// probing needs no markers for removed rows.
func (x *index) remove(tag uint64, row Row) {
	number := tag >> x.shift
	shard := x.shards[number]
	mask := uint64(len(shard) - 1)
	gap := tag & mask
	for want := slotOf(tag, row); shard[gap] != want; {
		gap = (gap + 1) & mask
	}
	for at := (gap + 1) & mask; shard[at] != 0; at = (at + 1) & mask {
		home := shard[at] >> tagBits & mask
		if (at-home)&mask >= (at-gap)&mask {
			shard[gap] = shard[at]
			gap = at
		}
	}
	shard[gap] = 0
	x.counts[number]--
}

// following is the first slot with the tag behind its first position, 0 if there
// is none.
func (x *index) following(tag uint64) uint64 {
	shard := x.shards[tag>>(x.shift&63)]
	mask := uint64(len(shard) - 1)
	at := (tag + 1) & mask
	for shard[at] != 0 && shard[at]>>tagBits != tag {
		at = (at + 1) & mask
	}
	return shard[at]
}

// bytes is the memory of all slots.
func (x *index) bytes() int64 {
	total := 0
	for _, shard := range x.shards {
		total += len(shard)
	}
	return int64(total) * 8
}
