package fn

import (
	"fmt"
	"slices"
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

// Aggregate is one aggregate function: what it is called and what it does to
// which types.
type Aggregate struct {
	Name string // upper case
	Doc  string // one sentence
	// Forms are its signatures as SQL text, for SHOW and DESCRIBE FUNCTION.
	Forms []string
	// Undoable says that a row can be taken out again, as the aggregation of a
	// table needs it.
	Undoable bool
	// resolve finds the signature for argument types, nil if there is none.
	resolve func(inputs []*types.Type) *AggregateSignature
}

// AggregateSignature is an aggregate function for certain argument types.
type AggregateSignature struct {
	Name     string
	Inputs   []*types.Type
	Result   *types.Type
	Undoable bool
	fixed    func(offset int) Fixed
	variable func() Variable
}

// Arguments are the argument columns of one aggregate call, valid for one
// batch: those of the rows that come in or of the rows that are taken out.
type Arguments []*column.Vector

// Fixed is an aggregate whose state has a fixed width: Width bytes at the offset
// it was made for in the cell area of its group. Zero bytes are the state of a
// group without rows.
//
// Add and Remove fail only where the query must end. Result fails where the
// result has no value of its type; out is then null at row k and the query goes
// on.
type Fixed interface {
	Width() int
	// Add puts row i of the arguments into the group whose cells are given.
	Add(cells []byte, arguments Arguments, i int) error
	// AddAll is Add for rows[k] and cells[k] in the order of k. On an error
	// the first k steps have been done, and the failing k is returned.
	AddAll(cells [][]byte, arguments Arguments, rows []int32) (k int, err error)
	// Remove takes out a row that was added before, if the aggregate is undoable.
	Remove(cells []byte, arguments Arguments, i int) error
	// Result sets row k of out, of the signature's result type.
	Result(cells []byte, out *column.Vector, k int) error
}

// Variable is an aggregate whose state is a byte string, empty for a group
// without rows.
type Variable interface {
	// Add appends the state with row i of the arguments in it to dst; changed is
	// false, and dst returned as it was, if the state stays the same.
	Add(dst, state []byte, arguments Arguments, i int) (next []byte, changed bool, err error)
	// Remove is Add for a row taken out, if the aggregate is undoable.
	Remove(dst, state []byte, arguments Arguments, i int) (next []byte, changed bool, err error)
	// Result sets row k of out. Texts are views into state.
	Result(state []byte, out *column.Vector, k int) error
}

// Fixed makes the accumulator whose state stands at offset in the cell areas,
// or returns nil if the state has no fixed width.
func (s *AggregateSignature) Fixed(offset int) Fixed {
	if s.fixed == nil {
		return nil
	}
	return s.fixed(offset)
}

// Variable makes the accumulator of a state without a fixed width.
func (s *AggregateSignature) Variable() Variable { return s.variable() }

// aggregates are all aggregate functions by name.
var aggregates = []Aggregate{averageAggregate, countAggregate, maximumAggregate, minimumAggregate, sumAggregate}

// Aggregates are all aggregate functions, sorted by name.
func Aggregates() []Aggregate { return slices.Clone(aggregates) }

// IsAggregate tells whether name, in any case, is an aggregate function.
func IsAggregate(name string) bool { return findAggregate(name) >= 0 }

func findAggregate(name string) int {
	return slices.IndexFunc(aggregates, func(a Aggregate) bool { return strings.EqualFold(a.Name, name) })
}

// ResolveAggregate finds the form of an aggregate function for the types of its
// arguments, none for COUNT(*), and a number of literal parameters behind them.
// A *types.Error says what does not fit.
func ResolveAggregate(name string, inputs []*types.Type, constants int) (*AggregateSignature, error) {
	at := findAggregate(name)
	if at < 0 {
		return nil, types.Errorf(types.CodeName, "unknown aggregate function %s", name)
	}
	a := &aggregates[at]
	if constants == 0 {
		if s := a.resolve(inputs); s != nil {
			s.Name, s.Inputs, s.Undoable = a.Name, inputs, a.Undoable
			return s, nil
		}
	}
	arguments := make([]string, 0, len(inputs)+constants)
	for _, t := range inputs {
		arguments = append(arguments, t.String())
	}
	for range constants {
		arguments = append(arguments, "literal")
	}
	return nil, types.Errorf(types.CodeType, "%s cannot be applied to (%s)", a.Name, strings.Join(arguments, ", ")).
		WithHint("it takes %s", strings.Join(a.Forms, ", "))
}

// OutOfRangeError says that a result does not fit its type.
type OutOfRangeError struct {
	Function string
	Type     *types.Type
}

func (e *OutOfRangeError) Error() string {
	return fmt.Sprintf("the result of %s is out of range for %s", e.Function, e.Type)
}
