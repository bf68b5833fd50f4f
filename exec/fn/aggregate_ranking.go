package fn

import (
	"bytes"
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

// ranking is a state of rows ordered by a value. Its entries are in order; of
// equal values the one that came first stands first. An entry's number says how
// often it is there, its key is the order key, its row the further columns.
type ranking struct {
	compare  func(a, b []byte) int // which value stands first
	distinct bool                  // each row once, with its number
	counted  bool                  // numbers count; else a second equal row changes nothing
	limit    int                   // of entries that are kept
}

// add appends the state with one more row.
func (r *ranking) add(dst, state, key, row []byte, times uint64) (next []byte, changed bool, err error) {
	at, position := len(state), 0
	for e, err := range entriesOf(state) {
		if err != nil {
			return dst, false, err
		}
		order := r.compare(key, e.key)
		if order == 0 && r.distinct && bytes.Equal(row, e.row) {
			if !r.counted {
				return dst, false, nil
			}
			return replaceEntry(dst, state, e.start, e.end, e.number+times, key, row), true, nil
		}
		if order < 0 {
			at = e.start
			break
		}
		if position++; position == r.limit {
			return dst, false, nil
		}
	}
	start := len(dst)
	dst = replaceEntry(dst, state, at, at, times, key, row)
	return r.cut(dst, start), true, nil
}

// cut takes off what is beyond the limit of the state that begins at start.
func (r *ranking) cut(dst []byte, start int) []byte {
	if r.limit == math.MaxInt {
		return dst
	}
	count := 0
	for e := range entriesOf(dst[start:]) {
		if count++; count > r.limit {
			return dst[:start+e.start]
		}
	}
	return dst
}

// remove appends the state with one row less, of equal ones the last. A row
// that is not there changes nothing.
func (r *ranking) remove(dst, state, key, row []byte) (next []byte, changed bool, err error) {
	found := entry{start: -1}
	for e, err := range entriesOf(state) {
		if err != nil {
			return dst, false, err
		}
		order := r.compare(key, e.key)
		if order == 0 && bytes.Equal(row, e.row) {
			found = e
		}
		if order < 0 {
			break
		}
	}
	if found.start < 0 {
		return dst, false, nil
	}
	return countDown(dst, state, found), true, nil
}

// merge appends the state of the rows of both; of equal values those of state
// stand first.
func (r *ranking) merge(dst, state, other []byte) ([]byte, error) {
	if len(state) == 0 {
		return append(dst, other...), nil
	}
	merged := append([]byte(nil), state...)
	for e, err := range entriesOf(other) {
		if err != nil {
			return dst, err
		}
		next, changed, err := r.add(nil, merged, e.key, e.row, e.number)
		if err != nil {
			return dst, err
		}
		if changed {
			merged = next
		}
	}
	return append(dst, merged...), nil
}

// extremeOfTable is MIN or MAX where rows are taken out again: its state is all
// the values with how often they are there, the result's first.
type extremeOfTable struct {
	ranking ranking
	key     []byte
}

func newExtremeOfTable(t *types.Type, sign int) *extremeOfTable {
	compare := orderKeys(t)
	if sign > 0 {
		ascending := compare
		compare = func(a, b []byte) int { return ascending(b, a) }
	}
	return &extremeOfTable{ranking: ranking{compare: compare, distinct: true, counted: true, limit: math.MaxInt}}
}

func (e *extremeOfTable) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if arguments[0].Null(i) {
		return dst, false, nil
	}
	e.key = appendOrderKey(e.key[:0], arguments[0], i)
	return e.ranking.add(dst, state, e.key, nil, 1)
}

func (e *extremeOfTable) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if arguments[0].Null(i) {
		return dst, false, nil
	}
	e.key = appendOrderKey(e.key[:0], arguments[0], i)
	return e.ranking.remove(dst, state, e.key, nil)
}

func (e *extremeOfTable) Merge(dst, state, other []byte) ([]byte, error) {
	return e.ranking.merge(dst, state, other)
}

func (e *extremeOfTable) Result(state []byte, out *column.Vector, k int) error {
	out.SetNull(k)
	if len(state) == 0 {
		return nil
	}
	first, err := readEntry(state, 0)
	if err != nil {
		return err
	}
	return setOrderKey(first.key, out, k)
}
