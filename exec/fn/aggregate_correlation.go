package fn

import (
	"encoding/binary"
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

var correlationAggregate = Aggregate{
	Name:  "CORRELATION",
	Doc:   "Pearson's correlation of the pairs without null, NaN where it is not defined.",
	Forms: []string{"CORRELATION(INTEGER, INTEGER)", "CORRELATION(BIGINT, BIGINT)", "CORRELATION(DOUBLE, DOUBLE)", "CORRELATION(DECIMAL, DECIMAL)"},
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		if len(c.inputs) != 2 || len(c.constants) != 0 || !c.inputs[0].Numeric() || !c.inputs[1].Numeric() {
			return nil, nil
		}
		return &AggregateSignature{
			Result: types.Double, NestedState: true, fixed: func(offset int) Fixed { return correlation(offset) },
		}, nil
	},
}

// number is row i of a numeric vector as DOUBLE.
func number(v *column.Vector, i int) float64 {
	switch v.Type.Kind {
	case types.KindDouble:
		return v.Doubles[i]
	case types.KindDecimal:
		return v.Decimals[i].Double(v.Type.Scale)
	}
	return float64(v.Ints[i])
}

// correlation is CORRELATION. Its state is a count, an int64, and the sums of
// x, y, x*x, y*y and x*y, float64 each.
type correlation int

const correlationSums = 5

func (at correlation) Width() int { return 8 + 8*correlationSums }

func (at correlation) Add(cells []byte, arguments Arguments, i int) error {
	at.step(cells, arguments, i, 1)
	return nil
}

func (at correlation) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	return addEach(at, cells, arguments, rows)
}

func (at correlation) Remove(cells []byte, arguments Arguments, i int) error {
	at.step(cells, arguments, i, -1)
	return nil
}

func (at correlation) step(cells []byte, arguments Arguments, i int, sign int64) {
	if arguments[0].Null(i) || arguments[1].Null(i) {
		return
	}
	x, y := number(arguments[0], i), number(arguments[1], i)
	addInt(cells[at:], sign)
	if binary.LittleEndian.Uint64(cells[at:]) == 0 {
		clear(cells[at : int(at)+at.Width()]) // what rounding has left goes with the last row
		return
	}
	for k, value := range [correlationSums]float64{x, y, x * x, y * y, x * y} {
		addDouble(cells[int(at)+8+8*k:], float64(sign)*value)
	}
}

func (at correlation) Merge(cells, other []byte) error {
	mergeInt(cells[at:], other[at:])
	for k := range correlationSums {
		addDouble(cells[int(at)+8+8*k:], loadDouble(other[int(at)+8+8*k:]))
	}
	return nil
}

func (at correlation) Result(cells []byte, out *column.Vector, k int) error {
	n := float64(int64(binary.LittleEndian.Uint64(cells[at:])))
	var sums [correlationSums]float64
	for k := range sums {
		sums[k] = loadDouble(cells[int(at)+8+8*k:])
	}
	x, y, xx, yy, xy := sums[0], sums[1], sums[2], sums[3], sums[4]
	out.SetDouble(k, (n*xy-x*y)/(math.Sqrt(n*xx-x*x)*math.Sqrt(n*yy-y*y)))
	return nil
}
