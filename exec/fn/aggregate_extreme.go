package fn

import (
	"encoding/binary"
	"math"
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

var maximumAggregate = extremeAggregate("MAX", "greatest", 1)

var minimumAggregate = extremeAggregate("MIN", "least", -1)

// extremeAggregate is the entry of MIN (sign -1) or MAX (sign 1).
func extremeAggregate(name, word string, sign int) Aggregate {
	a := Aggregate{
		Name: name,
		Doc:  "The " + word + " of the values that are not null, null if there are none.", distinct: distinctRule{function: name},
		resolve: func(c *aggregateCall) (*AggregateSignature, error) {
			t := c.single()
			if t == nil || !ordered(t) {
				return nil, nil
			}
			s := &AggregateSignature{Result: t}
			if c.use == TableUse {
				s.variable = func() Variable { return newExtremeOfTable(t, sign) }
				return s, nil
			}
			switch t.Kind {
			case types.KindDouble:
				s.fixed = func(offset int) Fixed { return &extremeDouble{offset, sign > 0} }
			case types.KindDecimal:
				s.fixed = func(offset int) Fixed { return &extremeDecimal{offset, sign} }
			case types.KindString:
				s.variable = func() Variable { return &extremeText{sign, types.CompareText} }
			case types.KindBytes:
				s.variable = func() Variable { return &extremeText{sign, strings.Compare} }
			default:
				s.fixed = func(offset int) Fixed { return &extremeInteger{offset, sign > 0} }
			}
			return s, nil
		},
	}
	for _, t := range []string{"INTEGER", "BIGINT", "DOUBLE", "DECIMAL", "STRING", "BYTES", "DATE", "TIME", "TIMESTAMP"} {
		a.Forms = append(a.Forms, name+"("+t+")")
	}
	return a
}

// extremeInteger is MIN or MAX of the types that vectors hold in Ints. Its state
// is a byte that is 1 if there is a value, and the value.
type extremeInteger struct {
	at      int
	maximum bool
}

func (e *extremeInteger) Width() int { return 9 }

func (e *extremeInteger) Add(cells []byte, arguments Arguments, i int) error {
	v := arguments[0]
	if v.Null(i) {
		return nil
	}
	cell, value := cells[e.at:e.at+9], v.Ints[i]
	e.put(cell, value)
	return nil
}

func (e *extremeInteger) put(cell []byte, value int64) {
	old := int64(binary.LittleEndian.Uint64(cell[1:]))
	if cell[0] == 0 || (value > old) == e.maximum && value != old {
		cell[0] = 1
		binary.LittleEndian.PutUint64(cell[1:], uint64(value))
	}
}

func (e *extremeInteger) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	for k, i := range rows {
		_ = e.Add(cells[k], arguments, int(i))
	}
	return 0, nil
}

func (e *extremeInteger) Remove([]byte, Arguments, int) error { return errNotTakenOut }

func (e *extremeInteger) Merge(cells, other []byte) error {
	if other[e.at] != 0 {
		e.put(cells[e.at:e.at+9], int64(binary.LittleEndian.Uint64(other[e.at+1:])))
	}
	return nil
}

func (e *extremeInteger) Result(cells []byte, out *column.Vector, k int) error {
	if cells[e.at] == 0 {
		out.SetNull(k)
		return nil
	}
	out.SetInt(k, int64(binary.LittleEndian.Uint64(cells[e.at+1:])))
	return nil
}

// extremeDouble is MIN or MAX of DOUBLE in Java's total order: NaN is the
// greatest value and -0.0 is less than 0.0. Its state is a byte that is 1 if
// there is a value, and the value.
type extremeDouble struct {
	at      int
	maximum bool
}

func (e *extremeDouble) Width() int { return 9 }

func (e *extremeDouble) Add(cells []byte, arguments Arguments, i int) error {
	v := arguments[0]
	if v.Null(i) {
		return nil
	}
	cell, value := cells[e.at:e.at+9], v.Doubles[i]
	e.put(cell, value)
	return nil
}

func (e *extremeDouble) put(cell []byte, value float64) {
	old := loadDouble(cell[1:])
	if cell[0] == 0 || e.maximum && lessDouble(old, value) || !e.maximum && lessDouble(value, old) {
		cell[0] = 1
		storeDouble(cell[1:], value)
	}
}

func lessDouble(a, b float64) bool {
	if a < b {
		return true
	}
	if a > b {
		return false
	}
	if a != a || b != b {
		return a == a
	}
	return math.Signbit(a) && !math.Signbit(b)
}

func (e *extremeDouble) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	for k, i := range rows {
		_ = e.Add(cells[k], arguments, int(i))
	}
	return 0, nil
}

func (e *extremeDouble) Remove([]byte, Arguments, int) error { return errNotTakenOut }

func (e *extremeDouble) Merge(cells, other []byte) error {
	if other[e.at] != 0 {
		e.put(cells[e.at:e.at+9], loadDouble(other[e.at+1:]))
	}
	return nil
}

func (e *extremeDouble) Result(cells []byte, out *column.Vector, k int) error {
	if cells[e.at] == 0 {
		out.SetNull(k)
		return nil
	}
	out.SetDouble(k, loadDouble(cells[e.at+1:]))
	return nil
}

// extremeDecimal is MIN or MAX of DECIMAL. Its state is a byte that is 1 if
// there is a value, and the value.
type extremeDecimal struct{ at, sign int }

func (e *extremeDecimal) Width() int { return 17 }

func (e *extremeDecimal) Add(cells []byte, arguments Arguments, i int) error {
	v := arguments[0]
	if v.Null(i) {
		return nil
	}
	cell, value := cells[e.at:e.at+17], v.Decimals[i]
	e.put(cell, value)
	return nil
}

func (e *extremeDecimal) put(cell []byte, value types.Decimal) {
	if cell[0] == 0 || value.Compare(loadWide(cell[1:])) == e.sign {
		cell[0] = 1
		storeWide(cell[1:], value)
	}
}

func (e *extremeDecimal) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	return addEach(e, cells, arguments, rows)
}

func (e *extremeDecimal) Remove([]byte, Arguments, int) error { return errNotTakenOut }

func (e *extremeDecimal) Merge(cells, other []byte) error {
	if other[e.at] != 0 {
		e.put(cells[e.at:e.at+17], loadWide(other[e.at+1:]))
	}
	return nil
}

func (e *extremeDecimal) Result(cells []byte, out *column.Vector, k int) error {
	if cells[e.at] == 0 {
		out.SetNull(k)
		return nil
	}
	out.SetDecimal(k, loadWide(cells[e.at+1:]))
	return nil
}

// extremeText is MIN or MAX of STRING or BYTES. Its state is empty, or a byte 1
// and the value.
type extremeText struct {
	sign    int
	compare func(a, b string) int
}

func (e *extremeText) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	v := arguments[0]
	if v.Null(i) {
		return dst, false, nil
	}
	value := v.Texts[i]
	if len(state) > 0 && e.compare(value, column.View(state[1:])) != e.sign {
		return dst, false, nil
	}
	return append(append(dst, 1), value...), true, nil
}

func (e *extremeText) Remove(dst, _ []byte, _ Arguments, _ int) ([]byte, bool, error) {
	return dst, false, errNotTakenOut
}

func (e *extremeText) Merge(dst, state, other []byte) ([]byte, error) {
	if len(state) == 0 || len(other) > 0 && e.compare(column.View(other[1:]), column.View(state[1:])) == e.sign {
		return append(dst, other...), nil
	}
	return append(dst, state...), nil
}

func (e *extremeText) Result(state []byte, out *column.Vector, k int) error {
	if len(state) == 0 {
		out.SetNull(k)
		return nil
	}
	out.SetText(k, column.View(state[1:]))
	return nil
}
