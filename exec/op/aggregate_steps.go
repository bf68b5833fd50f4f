package op

import (
	"millrace/exec/column"
	"millrace/state"
)

// steps are the changes of groups that the rows of a batch cause, at most
// column.MaxRows at a time, as columns.
type steps struct {
	out     []int32 // the batch's row that is taken out, as it was before its change; -1: none
	in      []int32 // the batch's row that is put in; -1: none
	keyOf   []int32 // number of the group's key in keys
	tableOf []int32 // number of the window's table in tables
	rows    []state.Row
	cells   [][]byte
	times   []int64 // of the group after the step
	existed column.Bitmap

	keys    state.Keys
	tables  []*state.Table
	numbers map[int64]int32 // of tables by window
	keyRows []state.Row
	order   []int32 // steps by table
	ends    []int32 // of each table in order
	wanted  []int32
	warmed  byte // keeps warm's loads from being optimised away
}

func (s *steps) begin() {
	s.out, s.in, s.keyOf, s.tableOf = s.out[:0], s.in[:0], s.keyOf[:0], s.tableOf[:0]
	s.keys.Reset()
	s.tables = s.tables[:0]
	clear(s.numbers)
}

func (s *steps) len() int { return len(s.in) }

// key encodes the group of row i.
func (s *steps) key(groups []*column.Vector, i int32) int32 {
	s.keys.Append(groups, int(i))
	return int32(s.keys.Len() - 1)
}

// table is the number of a window's table. Rows of one window tend to follow
// each other, and so do the windows of one row.
func (s *steps) table(store *state.Store, start int64) int32 {
	if n := len(s.tables); n > 0 {
		if last := s.tableOf; len(last) > 0 {
			recent := last[len(last)-1]
			if s.tables[recent].Window() == start {
				return recent
			}
			if int(recent)+1 < n && s.tables[recent+1].Window() == start {
				return recent + 1
			}
		}
		if number, ok := s.numbers[start]; ok {
			return number
		}
	}
	if s.numbers == nil {
		s.numbers = make(map[int64]int32)
	}
	number := int32(len(s.tables))
	s.numbers[start] = number
	s.tables = append(s.tables, store.Table(start))
	return number
}

func (s *steps) add(table, key, out, in int32) {
	s.out = append(s.out, out)
	s.in = append(s.in, in)
	s.keyOf = append(s.keyOf, key)
	s.tableOf = append(s.tableOf, table)
}

// locate finds the rows of all steps, with one lookup a table, and adds those that
// do not exist.
func (s *steps) locate() error { return s.lookUp((*state.Table).FindOrAdd) }

// find is like locate, but adds no rows.
func (s *steps) find() error { return s.lookUp((*state.Table).Find) }

func (s *steps) lookUp(find func(*state.Table, *state.Keys, []int32, []state.Row) error) error {
	s.rows = sized(s.rows, s.len())
	s.keyRows = sized(s.keyRows, s.keys.Len())
	if len(s.tables) == 1 {
		if err := find(s.tables[0], &s.keys, nil, s.keyRows); err != nil {
			return err
		}
		for k, key := range s.keyOf {
			s.rows[k] = s.keyRows[key]
		}
		return nil
	}
	s.sort()
	start := int32(0)
	for n, table := range s.tables {
		of := s.order[start:s.ends[n]]
		start = s.ends[n]
		s.wanted = s.wanted[:0]
		for _, k := range of {
			s.wanted = append(s.wanted, s.keyOf[k])
		}
		if err := find(table, &s.keys, s.wanted, s.keyRows); err != nil {
			return err
		}
		for _, k := range of {
			s.rows[k] = s.keyRows[s.keyOf[k]]
		}
	}
	return nil
}

// sort orders the numbers of the steps by table, within a table as they are.
func (s *steps) sort() {
	s.ends = sized(s.ends, len(s.tables))
	clear(s.ends)
	for _, table := range s.tableOf {
		s.ends[table]++
	}
	total := int32(0)
	for n, count := range s.ends {
		s.ends[n] = total
		total += count
	}
	s.order = sized(s.order, s.len())
	for k, table := range s.tableOf {
		s.order[s.ends[table]] = int32(k)
		s.ends[table]++
	}
}

// touch marks the rows changed, moves their times, and gets their cells.
func (s *steps) touch(b *column.Batch) {
	s.cells, s.times = sized(s.cells, s.len()), sized(s.times, s.len())
	s.existed = s.existed.Resize(s.len())
	clear(s.existed)
	s.warm()
	for k, row := range s.rows {
		table := s.tables[s.tableOf[k]]
		time := b.Times[max(s.in[k], s.out[k])]
		if table.Exists(row) {
			s.existed.Set(k)
			time = max(time, table.Time(row))
		}
		table.Touch(row)
		table.SetTime(row, time)
		s.times[k] = time
	}
}

// warm gets the cells of all steps and reads a byte of each: these loads do not
// depend on each other, so their cache misses overlap, which those of the work
// that follows do not.
func (s *steps) warm() {
	read := byte(0)
	for k, row := range s.rows {
		cells := s.tables[s.tableOf[k]].Fixed(row)
		s.cells[k] = cells
		if len(cells) > 0 {
			read |= cells[0]
		}
	}
	s.warmed = read
}
