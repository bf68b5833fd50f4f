// Package expr holds bound expressions, typed and immutable, and compiles them
// to kernels over column batches.
//
// The constructors New... check operand types, insert implicit conversions and
// return *types.Error without a position. Logic is three-valued as in SQL: a
// comparison with NULL is NULL.
//
// What fails on a row (a cast, a division by zero, a function that refuses its
// arguments) is null there, and is reported; what is around it goes on with
// the null. Only in the body of a lambda, an operator that fails or that has a
// null operand makes the whole call fail that has the lambda, as in ksqlDB.
package expr

import (
	"slices"

	"millrace/sql/types"
)

// Expr is a bound expression. The set of implementations is closed.
type Expr interface {
	// Type is the type of the value. It is types.Null for a bare NULL only.
	Type() *types.Type
	// String is the expression in SQL; names are quoted only where needed.
	String() string

	children() []Expr
	// replace is the node with other children, of the same number and types.
	replace(children []Expr) Expr
	// same compares the nodes without their children.
	same(other Expr) bool
	precedence() int
}

// Walk visits e and what is inside it, parents first. It does not enter an
// expression for which visit returns false.
func Walk(e Expr, visit func(Expr) bool) {
	if !visit(e) {
		return
	}
	for _, child := range e.children() {
		Walk(child, visit)
	}
}

// Rewrite replaces each expression for which f returns true by what f returns,
// parents first; replacements are not entered. A replacement has the type of
// what it replaces.
func Rewrite(e Expr, f func(Expr) (Expr, bool)) Expr {
	if replacement, ok := f(e); ok {
		return replacement
	}
	old := e.children()
	var changed []Expr
	for i, child := range old {
		rewritten := Rewrite(child, f)
		if rewritten == child {
			continue
		}
		if changed == nil {
			changed = slices.Clone(old)
		}
		changed[i] = rewritten
	}
	if changed == nil {
		return e
	}
	return e.replace(changed)
}

// Equal tells whether a and b are the same expression over the same columns.
func Equal(a, b Expr) bool {
	if a == b {
		return true
	}
	if !types.Equal(a.Type(), b.Type()) || !a.same(b) {
		return false
	}
	return slices.EqualFunc(a.children(), b.children(), Equal)
}

// ColumnsOf is the indexes of the columns that e reads, ascending, each once.
func ColumnsOf(e Expr) []int {
	var indexes []int
	Walk(e, func(e Expr) bool {
		if column, ok := e.(*Column); ok {
			indexes = append(indexes, column.Index)
		}
		return true
	})
	slices.Sort(indexes)
	return slices.Compact(indexes)
}

// Constant tells whether e has the same value for every row: no columns, no
// function whose result changes from call to call.
func Constant(e Expr) bool { return constant(e, nil) }

func constant(e Expr, parameters []string) bool {
	switch n := e.(type) {
	case *Parameter:
		return slices.Contains(parameters, n.Name)
	case *Lambda:
		parameters = append(slices.Clone(parameters), n.Parameters...)
	}
	return constantNode(e, func(child Expr) bool { return constant(child, parameters) })
}

// constantNode tells whether a node and all its children are constant.
func constantNode(e Expr, child func(Expr) bool) bool {
	switch n := e.(type) {
	case *Column, *Parameter:
		return false
	case *Call:
		if n.function.Volatile {
			return false
		}
	}
	return !slices.ContainsFunc(e.children(), func(e Expr) bool { return !child(e) })
}

// The binding strengths of SQL's operators, weakest first.
const (
	precedenceOr = iota + 1
	precedenceAnd
	precedenceNot
	precedenceCompare
	precedenceConcat
	precedenceAdd
	precedenceMultiply
	precedenceUnary
	precedencePostfix
	precedencePrimary
)

// operand is the text of e as an operand that must bind at least as strongly
// as the precedence.
func operand(e Expr, precedence int) string {
	if e.precedence() < precedence {
		return "(" + e.String() + ")"
	}
	return e.String()
}

// leaf is embedded by expressions without operands.
type leaf struct{}

func (leaf) children() []Expr { return nil }
func (leaf) precedence() int  { return precedencePrimary }
