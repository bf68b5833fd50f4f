package fn

import (
	"encoding/binary"

	"millrace/exec/column"
	"millrace/sql/types"
)

var countAggregate = Aggregate{
	Name:  "COUNT",
	Doc:   "The number of rows, or of those in which the argument is not null.",
	Forms: []string{"COUNT(*)", "COUNT(T)"}, distinct: distinctRule{function: "COUNT_DISTINCT"},
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		switch {
		case len(c.constants) > 0 || len(c.inputs) > 1:
			return nil, nil
		case len(c.inputs) == 0:
			return &AggregateSignature{Result: types.Bigint, fixed: func(offset int) Fixed { return countRows(offset) }}, nil
		}
		return &AggregateSignature{Result: types.Bigint, fixed: func(offset int) Fixed { return countValues(offset) }}, nil
	},
}

// countRows is COUNT(*). Its state is an int64.
type countRows int

func (at countRows) Width() int { return 8 }

func (at countRows) Add(cells []byte, _ Arguments, _ int) error {
	addInt(cells[at:], 1)
	return nil
}

func (at countRows) AddAll(cells [][]byte, _ Arguments, _ []int32) (int, error) {
	for _, cell := range cells {
		addInt(cell[at:], 1)
	}
	return 0, nil
}

func (at countRows) Remove(cells []byte, _ Arguments, _ int) error {
	addInt(cells[at:], -1)
	return nil
}

func (at countRows) Merge(cells, other []byte) error {
	mergeInt(cells[at:], other[at:])
	return nil
}

func (at countRows) Result(cells []byte, out *column.Vector, k int) error {
	out.SetInt(k, int64(binary.LittleEndian.Uint64(cells[at:])))
	return nil
}

// countValues is COUNT(x). Its state is an int64.
type countValues int

func (at countValues) Width() int { return 8 }

func (at countValues) Add(cells []byte, arguments Arguments, i int) error {
	if !arguments[0].Null(i) {
		addInt(cells[at:], 1)
	}
	return nil
}

func (at countValues) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	valid := arguments[0].Valid
	for k, i := range rows {
		if valid.Get(int(i)) {
			addInt(cells[k][at:], 1)
		}
	}
	return 0, nil
}

func (at countValues) Remove(cells []byte, arguments Arguments, i int) error {
	if !arguments[0].Null(i) {
		addInt(cells[at:], -1)
	}
	return nil
}

func (at countValues) Merge(cells, other []byte) error {
	mergeInt(cells[at:], other[at:])
	return nil
}

func (at countValues) Result(cells []byte, out *column.Vector, k int) error {
	out.SetInt(k, int64(binary.LittleEndian.Uint64(cells[at:])))
	return nil
}

func mergeInt(cell, other []byte) { addInt(cell, int64(binary.LittleEndian.Uint64(other))) }

func addInt(cell []byte, n int64) {
	binary.LittleEndian.PutUint64(cell, binary.LittleEndian.Uint64(cell)+uint64(n))
}
