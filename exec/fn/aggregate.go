package fn

import (
	"errors"
	"fmt"
	"math"
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
	// LimitProperty is the property that limits the number of elements of the
	// result; its value is the call's only constant. Empty: it has no limit.
	LimitProperty string
	// literals is how many of n written arguments, the last ones, must be
	// literals; nil: none.
	literals func(n int) int
	// distinct says what its call with DISTINCT is.
	distinct distinctRule
	// resolve finds the signature; without an error it is nil if there is none
	// for these types.
	resolve func(c *aggregateCall) (*AggregateSignature, error)
}

// Use is what an aggregation does to the rows of a group. It decides what the
// states must remember.
type Use uint8

const (
	// StreamUse: rows come in, and stay.
	StreamUse Use = iota
	// TableUse: rows come in and are taken out again, when their table changes.
	TableUse
	// SessionUse: rows come in, and groups are merged. As in ksqlDB each row
	// makes a new group, which first takes in those that the row joins, by the
	// start of their sessions, and then the row.
	SessionUse
)

// aggregateCall is what a signature is found for.
type aggregateCall struct {
	inputs    []*types.Type
	constants []any
	use       Use
}

// AggregateSignature is an aggregate function for certain argument types,
// literal parameters and one use.
type AggregateSignature struct {
	Name   string
	Inputs []*types.Type
	Result *types.Type
	// Arrival says that behind the arguments the accumulator takes one more
	// column, a BIGINT that is not null: the number of the row in the order in
	// which the operator took the rows of all groups, also across restarts.
	Arrival bool
	// NestedState says that ksqlDB keeps this state in a nested type, which it
	// writes in the value format of the source and so refuses where that
	// format cannot hold one.
	NestedState bool

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
	// Remove takes out a row that was added before, in TableUse.
	Remove(cells []byte, arguments Arguments, i int) error
	// Merge puts the rows of another group, whose cells are other, into this one.
	Merge(cells, other []byte) error
	// Result sets row k of out, of the signature's result type.
	Result(cells []byte, out *column.Vector, k int) error
}

// Variable is an aggregate whose state is a byte string, empty for a group
// without rows. A state that is no state of the aggregate gives an error that
// wraps ErrState.
type Variable interface {
	// Add appends the state with row i of the arguments in it to dst; changed is
	// false, and dst returned as it was, if the state stays the same.
	Add(dst, state []byte, arguments Arguments, i int) (next []byte, changed bool, err error)
	// Remove is Add for a row taken out, in TableUse.
	Remove(dst, state []byte, arguments Arguments, i int) (next []byte, changed bool, err error)
	// Merge appends to dst the state of the rows of two groups. In SessionUse
	// rows are told apart by their arrival, not by which group comes first.
	Merge(dst, state, other []byte) ([]byte, error)
	// Result sets row k of out. Texts are views into state, which ends no earlier
	// than the batch does.
	Result(state []byte, out *column.Vector, k int) error
}

// Extender is a Variable that can put rows into a state where it stands, without
// a copy of it.
type Extender interface {
	Variable
	// Growth is by how many bytes row i makes the state longer; changed is false if
	// the state stays the same.
	Growth(state []byte, arguments Arguments, i int) (bytes int, changed bool, err error)
	// Extend puts the row that Growth was asked about last into that state, which
	// now has as many more bytes, of any content, as Growth said. After an error the
	// state is undefined, and the query must end.
	Extend(state []byte, growth int, arguments Arguments, i int) error
}

// extended is Add of an Extender.
func extended(e Extender, dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	growth, changed, err := e.Growth(state, arguments, i)
	if err != nil || !changed {
		return dst, false, err
	}
	start := len(dst)
	dst = append(dst, state...)
	dst = append(dst, make([]byte, growth)...)
	if err := e.Extend(dst[start:], growth, arguments, i); err != nil {
		return dst[:start], false, err
	}
	return dst, true, nil
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

// ErrState says that bytes are no state of an aggregate.
var ErrState = errors.New("corrupt aggregate state")

var errNotTakenOut = errors.New("a row cannot be taken out of the group of a stream")

// aggregates are all aggregate functions by name.
var aggregates = []Aggregate{
	attributeAggregate, averageAggregate, collectListAggregate, collectSetAggregate, correlationAggregate, countAggregate,
	countDistinctAggregate, earliestAggregate, histogramAggregate, latestAggregate, maximumAggregate, minimumAggregate,
	populationDeviationAggregate, varianceAggregate, sampleDeviationAggregate, sumAggregate, sumListAggregate,
	topAggregate, topDistinctAggregate,
}

// Aggregates are all aggregate functions, sorted by name.
func Aggregates() []Aggregate { return slices.Clone(aggregates) }

// IsAggregate tells whether name, in any case, is an aggregate function.
func IsAggregate(name string) bool { return findAggregate(name) >= 0 }

// FindAggregate finds an aggregate function by its name in any case.
func FindAggregate(name string) (Aggregate, bool) {
	at := findAggregate(name)
	if at < 0 {
		return Aggregate{}, false
	}
	return aggregates[at], true
}

func findAggregate(name string) int {
	return slices.IndexFunc(aggregates, func(a Aggregate) bool { return strings.EqualFold(a.Name, name) })
}

// Literals is how many of n written arguments, the last ones, must be literals.
func (a *Aggregate) Literals(n int) int {
	if a.literals == nil {
		return 0
	}
	return a.literals(n)
}

// ResolveAggregate finds the form of an aggregate function for the types of its
// arguments, none for COUNT(*), and the literal parameters behind them: bool,
// int64, float64, string, types.Decimal, or nil for NULL. A *types.Error says
// what does not fit.
func ResolveAggregate(name string, inputs []*types.Type, constants []any, use Use) (*AggregateSignature, error) {
	a, found := FindAggregate(name)
	if !found {
		return nil, types.Errorf(types.CodeName, "unknown aggregate function %s", name)
	}
	s, err := a.resolve(&aggregateCall{inputs, constants, use})
	if err != nil {
		return nil, err
	}
	if s != nil {
		s.Name, s.Inputs = a.Name, inputs
		return s, nil
	}
	arguments := make([]string, 0, len(inputs)+len(constants))
	for _, t := range inputs {
		arguments = append(arguments, t.String())
	}
	for _, c := range constants {
		arguments = append(arguments, fmt.Sprint(c))
	}
	return nil, types.Errorf(types.CodeType, "%s cannot be applied to (%s)", a.Name, strings.Join(arguments, ", ")).
		WithHint("it takes %s", strings.Join(a.Forms, ", "))
}

// single is the type of the only argument of a call without constants, nil of
// any other call.
func (c *aggregateCall) single() *types.Type {
	if len(c.inputs) != 1 || len(c.constants) != 0 || c.inputs[0].Kind == types.KindNull {
		return nil
	}
	return c.inputs[0]
}

// positive reads a literal that counts something.
func positive(function, what string, value any) (int, error) {
	n, ok := value.(int64)
	if !ok || n < 1 || n > math.MaxInt32 {
		return 0, types.Errorf(types.CodeValue, "%s of %s must be a whole number from 1 to %d, not %v", what, function, math.MaxInt32, describeLiteral(value))
	}
	return int(n), nil
}

func describeLiteral(value any) string {
	switch value := value.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + value + "'"
	case types.Decimal:
		return "a DECIMAL"
	}
	return fmt.Sprint(value)
}

// OutOfRangeError says that a result does not fit its type.
type OutOfRangeError struct {
	Function string
	Type     *types.Type
}

func (e *OutOfRangeError) Error() string {
	return fmt.Sprintf("the result of %s is out of range for %s", e.Function, e.Type)
}
