package state

// lane is how many keys are looked up together, so that the cache misses of
// different keys overlap.
const lane = 128

// Find sets rows[n] to the row of key n for each n of selection (all keys when
// it is nil), NoRow where none exists. Rows that were spilled are read back.
func (t *Table) Find(keys *Keys, selection []int32, rows []Row) error {
	numbers := keys.numbers(selection)
	missing := t.probe(keys, numbers, rows)
	if missing > 0 && t.spilled {
		if err := t.readBack(keys, numbers, rows); err != nil {
			return err
		}
	}
	for _, n := range numbers {
		if row := rows[n]; row >= 0 && t.header(row).flags&exists == 0 {
			rows[n] = NoRow
		}
	}
	return nil
}

// FindOrAdd is like Find but gives every key a row: what did not exist is added
// with zeroed cells, and Exists tells false until Touch.
func (t *Table) FindOrAdd(keys *Keys, selection []int32, rows []Row) error {
	numbers := keys.numbers(selection)
	missing := t.probe(keys, numbers, rows)
	if missing == 0 {
		return nil
	}
	if t.spilled {
		if err := t.readBack(keys, numbers, rows); err != nil {
			return err
		}
	}
	for _, n := range numbers {
		if rows[n] >= 0 {
			continue
		}
		key, tag := keys.Key(int(n)), tagOf(keys.hashes[n])
		row := t.locate(key, tag) // an earlier key of this batch may be the same
		if row < 0 {
			var err error
			if row, err = t.add(key, tag); err != nil {
				return err
			}
			if !t.noted {
				t.store.note(t)
			}
			t.added = append(t.added, row)
		}
		rows[n] = row
	}
	return nil
}

// probe looks all keys up in memory and returns how many have no row there.
func (t *Table) probe(keys *Keys, numbers []int32, rows []Row) (missing int) {
	keys.hash()
	if len(numbers) <= fewKeys {
		return t.probeFew(keys, numbers, rows)
	}
	for len(numbers) > lane {
		missing += t.probeLane(keys, numbers[:lane], rows)
		numbers = numbers[lane:]
	}
	return missing + t.probeLane(keys, numbers, rows)
}

// fewKeys is up to how many keys are not worth the scratch space of a lane.
const fewKeys = 8

func (t *Table) probeFew(keys *Keys, numbers []int32, rows []Row) (missing int) {
	for _, n := range numbers {
		rows[n] = t.locate(keys.Key(int(n)), tagOf(keys.hashes[n]))
		if rows[n] < 0 {
			missing++
		}
	}
	return missing
}

// probeLane runs in passes over slots, headers and keys: the loads of a pass do
// not depend on each other.
func (t *Table) probeLane(keys *Keys, numbers []int32, rows []Row) (missing int) {
	var slots [lane]uint64
	var headers [lane]*header
	var stored [lane][]byte
	shards, shift, hashes := t.index.shards, t.index.shift&63, keys.hashes
	for j, n := range numbers {
		tag := tagOf(hashes[n])
		shard := shards[tag>>shift]
		slots[j&(lane-1)] = shard[tag&uint64(len(shard)-1)]
	}
	for j, n := range numbers {
		slot, tag := slots[j&(lane-1)], tagOf(hashes[n])
		if slot != 0 && slot>>tagBits != tag {
			slot = t.index.following(tag)
			slots[j&(lane-1)] = slot
		}
		if slot != 0 {
			h := t.header(rowOf(slot))
			headers[j&(lane-1)] = h
			stored[j&(lane-1)] = t.arena.view(h.key, h.keyLength)
		}
	}
	first := byte(0)
	for j := range numbers {
		if key := stored[j&(lane-1)]; len(key) > 0 {
			first |= key[0]
		}
	}
	t.first = first
	for j, n := range numbers {
		key, h := keys.Key(int(n)), headers[j&(lane-1)]
		switch {
		case h == nil:
			rows[n] = NoRow
			missing++
			continue
		case string(stored[j&(lane-1)]) == string(key):
			rows[n] = rowOf(slots[j&(lane-1)])
			if h.flags&used == 0 {
				h.flags |= used
			}
			continue
		}
		// Another key has the same tag.
		if rows[n] = t.locate(key, tagOf(hashes[n])); rows[n] < 0 {
			missing++
		}
	}
	return missing
}

// Warm reads a little of each row, so that the cache misses of different rows
// overlap, as those of work on one row after the other do not. It is meant for
// some hundred rows just before they are needed, and changes nothing.
func (t *Table) Warm(rows []Row) {
	for len(rows) > lane {
		t.warmLane(rows[:lane])
		rows = rows[lane:]
	}
	t.warmLane(rows)
}

func (t *Table) warmLane(rows []Row) {
	var headers [lane]*header
	read := byte(0)
	for j, row := range rows {
		headers[j&(lane-1)] = t.header(row)
		if cells := t.Fixed(row); len(cells) > 0 {
			read |= cells[0] | cells[len(cells)-1]
		}
	}
	for j := range rows {
		h := headers[j&(lane-1)]
		if key := t.arena.view(h.key, h.keyLength); len(key) > 0 {
			read |= key[0]
		}
	}
	t.first = read
}

// locate is the row of a key in memory, existing or not, or NoRow.
func (t *Table) locate(key []byte, tag uint64) Row {
	shard := t.index.shards[tag>>(t.index.shift&63)]
	mask := uint64(len(shard) - 1)
	for at := tag & mask; shard[at] != 0; at = (at + 1) & mask {
		slot := shard[at]
		if slot>>tagBits != tag {
			continue
		}
		h := t.header(rowOf(slot))
		if int(h.keyLength) == len(key) && string(t.arena.view(h.key, h.keyLength)) == string(key) {
			h.flags |= used
			return rowOf(slot)
		}
	}
	return NoRow
}
