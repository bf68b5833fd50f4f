package fn

import (
	"encoding/binary"
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

var populationDeviationAggregate = deviationAggregate("STDDEV_POP",
	"The standard deviation of the values that are not null, as of a whole population; 0.0 below two values.",
	func(n, squares float64) float64 { return math.Sqrt(squares / n) })

// varianceAggregate is not what its name says, but what it is in ksqlDB.
var varianceAggregate = deviationAggregate("STDDEV_SAMP",
	"The variance of the values that are not null, as of a sample; 0.0 below two values.",
	func(n, squares float64) float64 { return squares / (n - 1) })

var sampleDeviationAggregate = deviationAggregate("STDDEV_SAMPLE",
	"The standard deviation of the values that are not null, as of a sample; 0.0 below two values.",
	func(n, squares float64) float64 { return math.Sqrt(squares / (n - 1)) })

func deviationAggregate(name, doc string, result func(n, squares float64) float64) Aggregate {
	return Aggregate{
		Name: name, Doc: doc,
		Forms: []string{name + "(INTEGER)", name + "(BIGINT)", name + "(DOUBLE)", name + "(DECIMAL)"},
		resolve: func(c *aggregateCall) (*AggregateSignature, error) {
			t := c.single()
			if t == nil || !t.Numeric() {
				return nil, nil
			}
			return &AggregateSignature{
				Result: types.Double, NestedState: true, fixed: func(offset int) Fixed { return &deviation{offset, result} },
			}, nil
		},
	}
}

// deviation is the STDDEV functions. Its state is a count, an int64, the sum,
// and the sum of the squares of the differences from the mean, float64 each. The
// latter is kept row by row, as ksqlDB does: subtracting two great sums of
// squares would lose its digits.
type deviation struct {
	at     int
	result func(n, squares float64) float64
}

func (d *deviation) Width() int { return 24 }

func (d *deviation) Add(cells []byte, arguments Arguments, i int) error {
	if arguments[0].Null(i) {
		return nil
	}
	x := number(arguments[0], i)
	n, sum, squares := d.load(cells)
	n, sum = n+1, sum+x
	if n > 1 {
		delta := x*n - sum
		squares += delta * delta / (n * (n - 1))
	}
	d.store(cells, n, sum, squares)
	return nil
}

func (d *deviation) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	return addEach(d, cells, arguments, rows)
}

func (d *deviation) Remove(cells []byte, arguments Arguments, i int) error {
	if arguments[0].Null(i) {
		return nil
	}
	x := number(arguments[0], i)
	n, sum, squares := d.load(cells)
	switch {
	case n <= 1: // what rounding has left goes with the last row
		d.store(cells, 0, 0, 0)
	case n == 2:
		d.store(cells, 1, sum-x, 0)
	default:
		delta := x*n - sum
		d.store(cells, n-1, sum-x, max(squares-delta*delta/(n*(n-1)), 0))
	}
	return nil
}

func (d *deviation) Merge(cells, other []byte) error {
	n, sum, squares := d.load(cells)
	m, otherSum, otherSquares := d.load(other)
	switch {
	case m == 0:
	case n == 0:
		d.store(cells, m, otherSum, otherSquares)
	default:
		delta := otherSum/m - sum/n
		d.store(cells, n+m, sum+otherSum, squares+otherSquares+delta*delta*n*m/(n+m))
	}
	return nil
}

func (d *deviation) Result(cells []byte, out *column.Vector, k int) error {
	n, _, squares := d.load(cells)
	if n < 2 {
		out.SetDouble(k, 0)
		return nil
	}
	out.SetDouble(k, d.result(n, squares))
	return nil
}

func (d *deviation) load(cells []byte) (n, sum, squares float64) {
	cells = cells[d.at:]
	return float64(int64(binary.LittleEndian.Uint64(cells))), loadDouble(cells[8:]), loadDouble(cells[16:])
}

func (d *deviation) store(cells []byte, n, sum, squares float64) {
	cells = cells[d.at:]
	binary.LittleEndian.PutUint64(cells, uint64(int64(n)))
	storeDouble(cells[8:], sum)
	storeDouble(cells[16:], squares)
}
