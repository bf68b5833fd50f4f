package fn

import (
	"encoding/binary"
	"fmt"
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

var sumAggregate = Aggregate{
	Name:  "SUM",
	Doc:   "The sum of the values that are not null, 0 if there are none.",
	Forms: []string{"SUM(INTEGER)", "SUM(BIGINT)", "SUM(DOUBLE)", "SUM(DECIMAL)"},
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		t := c.single()
		if t == nil || !t.Numeric() {
			return nil, nil
		}
		return &AggregateSignature{Result: t, fixed: func(offset int) Fixed { return newSum("SUM", t, offset) }}, nil
	},
}

// newSum sums values of a numeric type.
func newSum(function string, t *types.Type, offset int) Fixed {
	switch t.Kind {
	case types.KindDouble:
		return sumDouble(offset)
	case types.KindDecimal:
		return &sumDecimal{at: offset, function: function, t: t}
	}
	return &sumInteger{at: offset, err: &OutOfRangeError{Function: function, Type: t}, small: t.Kind == types.KindInteger}
}

// sumInteger is SUM of INTEGER and BIGINT. Its state is the exact sum as a
// 128-bit number: while that is out of the result's range the result is null,
// and it is right again when later rows, or rows taken out, bring it back.
type sumInteger struct {
	at    int
	err   *OutOfRangeError
	small bool // INTEGER
}

func (s *sumInteger) Width() int { return 16 }

func (s *sumInteger) Add(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addWide(cells[s.at:], v.Ints[i])
	}
	return nil
}

func (s *sumInteger) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	v, at := arguments[0], s.at
	for k, i := range rows {
		if v.Valid.Get(int(i)) {
			addWide(cells[k][at:], v.Ints[i])
		}
	}
	return 0, nil
}

func (s *sumInteger) Remove(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		subtractWide(cells[s.at:], v.Ints[i])
	}
	return nil
}

func (s *sumInteger) Merge(cells, other []byte) error {
	mergeWide(cells[s.at:], other[s.at:])
	return nil
}

func (s *sumInteger) Result(cells []byte, out *column.Vector, k int) error {
	value, ok := loadWide(cells[s.at:]).Small()
	if !ok || s.small && value != int64(int32(value)) {
		out.SetNull(k)
		return s.err
	}
	out.SetInt(k, value)
	return nil
}

func loadWide(cell []byte) types.Decimal {
	return types.Decimal{
		High: int64(binary.LittleEndian.Uint64(cell[8:])), Low: binary.LittleEndian.Uint64(cell),
	}
}

func storeWide(cell []byte, d types.Decimal) {
	binary.LittleEndian.PutUint64(cell[8:], uint64(d.High))
	binary.LittleEndian.PutUint64(cell, d.Low)
}

func addWide(cell []byte, value int64) {
	storeWide(cell, loadWide(cell).Add(types.DecimalFromInt(value)))
}

func mergeWide(cell, other []byte) { storeWide(cell, loadWide(cell).Add(loadWide(other))) }

func subtractWide(cell []byte, value int64) {
	storeWide(cell, loadWide(cell).Sub(types.DecimalFromInt(value)))
}

// sumDouble is SUM of DOUBLE. Its state is a float64.
type sumDouble int

func (at sumDouble) Width() int { return 8 }

func (at sumDouble) Add(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addDouble(cells[at:], v.Doubles[i])
	}
	return nil
}

func (at sumDouble) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	v := arguments[0]
	for k, i := range rows {
		if v.Valid.Get(int(i)) {
			addDouble(cells[k][at:], v.Doubles[i])
		}
	}
	return 0, nil
}

func (at sumDouble) Remove(cells []byte, arguments Arguments, i int) error {
	if v := arguments[0]; !v.Null(i) {
		addDouble(cells[at:], -v.Doubles[i])
	}
	return nil
}

func (at sumDouble) Merge(cells, other []byte) error {
	addDouble(cells[at:], loadDouble(other[at:]))
	return nil
}

func (at sumDouble) Result(cells []byte, out *column.Vector, k int) error {
	out.SetDouble(k, loadDouble(cells[at:]))
	return nil
}

func loadDouble(cell []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(cell)) }

func storeDouble(cell []byte, value float64) {
	binary.LittleEndian.PutUint64(cell, math.Float64bits(value))
}

func addDouble(cell []byte, value float64) { storeDouble(cell, loadDouble(cell)+value) }

// sumDecimal is SUM of DECIMAL. Its state is the sum as a 128-bit number; a sum
// that does not fit the type ends the query, as in ksqlDB.
type sumDecimal struct {
	at       int
	function string
	t        *types.Type
}

func (s *sumDecimal) Width() int { return 16 }

func (s *sumDecimal) Add(cells []byte, arguments Arguments, i int) error {
	v := arguments[0]
	if v.Null(i) {
		return nil
	}
	return s.put(cells, loadWide(cells[s.at:]).Add(v.Decimals[i]))
}

func (s *sumDecimal) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	return addEach(s, cells, arguments, rows)
}

func (s *sumDecimal) Remove(cells []byte, arguments Arguments, i int) error {
	v := arguments[0]
	if v.Null(i) {
		return nil
	}
	return s.put(cells, loadWide(cells[s.at:]).Sub(v.Decimals[i]))
}

func (s *sumDecimal) Merge(cells, other []byte) error {
	return s.put(cells, loadWide(cells[s.at:]).Add(loadWide(other[s.at:])))
}

func (s *sumDecimal) put(cells []byte, total types.Decimal) error {
	if !total.Fits(s.t.Precision) {
		return fmt.Errorf("%s of %s: %w", s.function, s.t, types.ErrDecimalOverflow)
	}
	storeWide(cells[s.at:], total)
	return nil
}

func (s *sumDecimal) Result(cells []byte, out *column.Vector, k int) error {
	out.SetDecimal(k, loadWide(cells[s.at:]))
	return nil
}

// addEach is AddAll for aggregates that have no faster way.
func addEach(a Fixed, cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	for k, i := range rows {
		if err := a.Add(cells[k], arguments, int(i)); err != nil {
			return k, err
		}
	}
	return 0, nil
}
