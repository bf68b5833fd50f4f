package fn

import (
	"millrace/exec/column"
	"millrace/sql/types"
)

// Filtered is the signature of a call with FILTER: in front of the arguments
// stands one more, a BOOLEAN, and a row in which that is not true is no row of
// the call, neither when it comes in nor when it is taken out.
func (s *AggregateSignature) Filtered() *AggregateSignature {
	out := *s
	out.Inputs = append([]*types.Type{types.Boolean}, s.Inputs...)
	if s.fixed != nil {
		out.fixed = func(offset int) Fixed { return &filteredFixed{Fixed: s.fixed(offset)} }
	} else {
		out.variable = func() Variable {
			inner := s.variable()
			if extender, ok := inner.(Extender); ok {
				return filteredExtender{filteredVariable{inner}, extender}
			}
			return filteredVariable{inner}
		}
	}
	return &out
}

// passes tells whether the condition is true in row i.
func passes(condition *column.Vector, i int) bool { return !condition.Null(i) && condition.Bools[i] }

type filteredFixed struct {
	Fixed
	// cells and rows are those that pass, and steps says which steps they are.
	cells [][]byte
	rows  []int32
	steps []int
}

func (f *filteredFixed) Add(cells []byte, arguments Arguments, i int) error {
	if !passes(arguments[0], i) {
		return nil
	}
	return f.Fixed.Add(cells, arguments[1:], i)
}

func (f *filteredFixed) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	f.cells, f.rows, f.steps = f.cells[:0], f.rows[:0], f.steps[:0]
	for k, i := range rows {
		if passes(arguments[0], int(i)) {
			f.cells, f.rows, f.steps = append(f.cells, cells[k]), append(f.rows, i), append(f.steps, k)
		}
	}
	k, err := f.Fixed.AddAll(f.cells, arguments[1:], f.rows)
	if err != nil {
		return f.steps[k], err
	}
	return 0, nil
}

func (f *filteredFixed) Remove(cells []byte, arguments Arguments, i int) error {
	if !passes(arguments[0], i) {
		return nil
	}
	return f.Fixed.Remove(cells, arguments[1:], i)
}

type filteredVariable struct{ Variable }

func (f filteredVariable) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if !passes(arguments[0], i) {
		return dst, false, nil
	}
	return f.Variable.Add(dst, state, arguments[1:], i)
}

func (f filteredVariable) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if !passes(arguments[0], i) {
		return dst, false, nil
	}
	return f.Variable.Remove(dst, state, arguments[1:], i)
}

type filteredExtender struct {
	filteredVariable
	extender Extender
}

func (f filteredExtender) Growth(state []byte, arguments Arguments, i int) (int, bool, error) {
	if !passes(arguments[0], i) {
		return 0, false, nil
	}
	return f.extender.Growth(state, arguments[1:], i)
}

func (f filteredExtender) Extend(state []byte, growth int, arguments Arguments, i int) error {
	return f.extender.Extend(state, growth, arguments[1:], i)
}
