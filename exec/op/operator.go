// Package op holds the operators: each runs one plan node in one task.
package op

import (
	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/state"
)

// Operator handles the batches of one task. One goroutine calls it, so it
// needs no locks. A batch is valid until Push returns: copy what outlives it.
// An error ends the task's transaction.
type Operator interface {
	// Push takes a batch on an input port (0, or 1 for the right side of a join)
	// and hands what follows from it to the next operator before it returns. The
	// operator may change the batch's Selection; all else belongs to the caller.
	Push(port int, b *column.Batch) error
	// Flush hands on what was held back for the end of a transaction. It is
	// called from the inputs to the sink before each commit and does not call
	// the next operator's Flush.
	Flush() error
}

// Counter names what a task counts per operator.
type Counter int

// What is counted. Rows that an operator leaves out are never silent.
const (
	Late      Counter = iota // rows of closed windows
	NullKey                  // rows without a key where one is needed
	NullValue                // rows without a value where one is needed
)

// Environment is what the operators of one task get from it.
type Environment struct {
	// Store opens the state of a plan's store, which was added to the task's
	// state with the layout that StoreLayout gives.
	Store func(name string) (*state.Store, error)
	// Expressions is handed to compiled expressions.
	Expressions *expr.Environment
	// Count adds rows left out; the batch and rows let it show an example. It may
	// be nil.
	Count func(counter Counter, b *column.Batch, row int32)
	// HoldBack makes aggregates put out a changed group once per commit
	// instead of once per row.
	HoldBack bool
}

func (env *Environment) count(counter Counter, b *column.Batch, row int32) {
	if env.Count != nil {
		env.Count(counter, b, row)
	}
}

// takesPart tells whether a stream's row has all that an aggregation by groups
// needs, and counts it if not.
func (env *Environment) takesPart(groups []*column.Vector, b *column.Batch, i int32) bool {
	if !b.Present.Get(int(i)) {
		env.count(NullValue, b, i)
		return false
	}
	if anyNull(groups, int(i)) {
		env.count(NullKey, b, i)
		return false
	}
	return true
}
