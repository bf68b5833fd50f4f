package fn

import (
	"encoding/binary"

	"millrace/exec/column"
	"millrace/sql/types"
)

var averageAggregate = Aggregate{
	Name:  "AVG",
	Doc:   "The average of the values that are not null, 0.0 if there are none.",
	Forms: []string{"AVG(INTEGER)", "AVG(BIGINT)", "AVG(DOUBLE)", "AVG(DECIMAL)"},
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		t := c.single()
		if t == nil || !t.Numeric() {
			return nil, nil
		}
		s := &AggregateSignature{Result: types.Double, NestedState: true}
		switch t.Kind {
		case types.KindDouble:
			s.fixed = func(offset int) Fixed { return averageDouble(offset) }
		case types.KindDecimal:
			s.fixed = func(offset int) Fixed { return averageDecimal{offset, t.Scale} }
		default:
			s.fixed = func(offset int) Fixed { return averageInteger(offset) }
		}
		return s, nil
	},
}

// averageInteger is AVG of INTEGER and BIGINT. Its state is a count and the
// exact sum as a 128-bit number.
type averageInteger int

func (at averageInteger) Width() int { return 24 }

func (at averageInteger) Add(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addInt(cells[at:], 1)
		addWide(cells[at+8:], v.Ints[i])
	}
	return nil
}

func (at averageInteger) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	return addEach(at, cells, arguments, rows)
}

func (at averageInteger) Remove(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addInt(cells[at:], -1)
		subtractWide(cells[at+8:], v.Ints[i])
	}
	return nil
}

func (at averageInteger) Merge(cells, other []byte) error {
	mergeInt(cells[at:], other[at:])
	mergeWide(cells[at+8:], other[at+8:])
	return nil
}

func (at averageInteger) Result(cells []byte, out *column.Vector, k int) error {
	setAverage(cells[at:], loadWide(cells[at+8:]).Double(0), out, k)
	return nil
}

func setAverage(countCell []byte, total float64, out *column.Vector, k int) {
	n := int64(binary.LittleEndian.Uint64(countCell))
	if n == 0 {
		out.SetDouble(k, 0)
		return
	}
	out.SetDouble(k, total/float64(n))
}

// averageDouble is AVG of DOUBLE. Its state is a count and a float64 sum.
type averageDouble int

func (at averageDouble) Width() int { return 16 }

func (at averageDouble) Add(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addInt(cells[at:], 1)
		addDouble(cells[at+8:], v.Doubles[i])
	}
	return nil
}

func (at averageDouble) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	return addEach(at, cells, arguments, rows)
}

func (at averageDouble) Remove(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addInt(cells[at:], -1)
		addDouble(cells[at+8:], -v.Doubles[i])
	}
	return nil
}

func (at averageDouble) Merge(cells, other []byte) error {
	mergeInt(cells[at:], other[at:])
	addDouble(cells[at+8:], loadDouble(other[at+8:]))
	return nil
}

func (at averageDouble) Result(cells []byte, out *column.Vector, k int) error {
	setAverage(cells[at:], loadDouble(cells[at+8:]), out, k)
	return nil
}

// averageDecimal is AVG of DECIMAL, whose values are taken as DOUBLE first, so
// its sum cannot overflow. Its state is that of averageDouble.
type averageDecimal struct{ at, scale int }

func (a averageDecimal) Width() int { return 16 }

func (a averageDecimal) Add(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addInt(cells[a.at:], 1)
		addDouble(cells[a.at+8:], v.Decimals[i].Double(a.scale))
	}
	return nil
}

func (a averageDecimal) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	return addEach(a, cells, arguments, rows)
}

func (a averageDecimal) Remove(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addInt(cells[a.at:], -1)
		addDouble(cells[a.at+8:], -v.Decimals[i].Double(a.scale))
	}
	return nil
}

func (a averageDecimal) Merge(cells, other []byte) error {
	return averageDouble(a.at).Merge(cells, other)
}

func (a averageDecimal) Result(cells []byte, out *column.Vector, k int) error {
	setAverage(cells[a.at:], loadDouble(cells[a.at+8:]), out, k)
	return nil
}
