package op

import (
	"encoding/binary"
	"fmt"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/exec/fn"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
	"millrace/state"
)

const lengthBytes = 4

// groupState is the form in which one row of an aggregation's store holds the
// states of all calls. The fixed part is, in the order of the calls, the cells
// of those of fixed width, then for each other call the length of its state
// (4 bytes, little endian); the variable part is those states one after the
// other. All zero is a group without rows.
type groupState struct {
	fixed    []fixedCall
	variable []variableCall
	lengths  int // offset of the lengths in the fixed part
	size     int // of the fixed part
	// arrivals are the numbers of a batch's rows in the order in which they
	// came; nil where no call takes them.
	arrivals *column.Vector

	scratch, next []byte
}

// arrivalName is the store's metadata that holds the arrival number of the next
// row, a uvarint: numbers go on where they were after a restart.
const arrivalName = "arrival"

// callArguments are the argument columns of one call, of the rows that come in
// and of the rows that are taken out. The condition of FILTER is the first one.
type callArguments struct {
	columns       []int
	after, before fn.Arguments
	result        int // number of the call
	name          string
}

type fixedCall struct {
	callArguments
	fn.Fixed
}

type variableCall struct {
	callArguments
	fn.Variable
	extender fn.Extender // nil if it is none
}

func newGroupState(node *plan.Aggregate) (*groupState, error) {
	g := &groupState{}
	for i, call := range node.Calls {
		signature, err := resolveCall(&call, useOf(node))
		if err != nil {
			return nil, fmt.Errorf("aggregate %s: %w", call.Name, err)
		}
		arguments := callArguments{columns: call.Arguments, result: i, name: call.Name}
		if call.Filtered {
			arguments.columns = append([]int{call.Filter}, call.Arguments...)
		}
		arguments.after = make(fn.Arguments, len(arguments.columns))
		arguments.before = make(fn.Arguments, len(arguments.columns))
		if signature.Arrival {
			if g.arrivals == nil {
				g.arrivals = column.New(types.Bigint, 0)
			}
			arguments.after = append(arguments.after, g.arrivals)
		}
		if fixed := signature.Fixed(g.lengths); fixed != nil {
			g.fixed = append(g.fixed, fixedCall{arguments, fixed})
			g.lengths += fixed.Width()
			continue
		}
		call := variableCall{callArguments: arguments, Variable: signature.Variable()}
		call.extender, _ = call.Variable.(fn.Extender)
		g.variable = append(g.variable, call)
	}
	g.size = g.lengths + lengthBytes*len(g.variable)
	return g, nil
}

// useOf is what an aggregation does to the rows of its groups.
func useOf(node *plan.Aggregate) fn.Use {
	if node.Input.Schema().Changes {
		return fn.TableUse
	}
	if node.Window != nil && node.Window.Kind == catalog.Session {
		return fn.SessionUse
	}
	return fn.StreamUse
}

func resolveCall(call *plan.AggregateCall, use fn.Use) (*fn.AggregateSignature, error) {
	constants := make([]any, len(call.Constants))
	for k, c := range call.Constants {
		literal, ok := c.(*expr.Literal)
		if !ok {
			return nil, fmt.Errorf("parameter %s is no literal", c)
		}
		constants[k] = literal.Value
	}
	signature, err := fn.ResolveAggregate(call.Function, call.Inputs, constants, use)
	if err != nil {
		return nil, err
	}
	if call.Distinct {
		signature = signature.Distinct(use)
	}
	if call.Filtered {
		signature = signature.Filtered()
	}
	return signature, nil
}

func (g *groupState) layout() state.Layout { return state.Layout{Fixed: g.size} }

// bind sets the argument columns for a batch, and numbers its rows if a call
// takes their arrival.
func (g *groupState) bind(b *column.Batch, store *state.Store) {
	if g.arrivals != nil {
		next, _ := binary.Uvarint(store.Meta(arrivalName))
		g.arrivals.Reset(b.Len)
		for i := range b.Len {
			g.arrivals.SetInt(i, int64(next)+int64(i))
		}
		store.SetMeta(arrivalName, binary.AppendUvarint(nil, next+uint64(b.Len)))
	}
	for c := range g.fixed {
		g.fixed[c].bind(b)
	}
	for c := range g.variable {
		g.variable[c].bind(b)
	}
}

func (a *callArguments) bind(b *column.Batch) {
	for k, at := range a.columns {
		a.after[k] = b.Columns[at]
		if b.Before != nil {
			a.before[k] = b.Before[at]
		}
	}
}

// part is the state of a variable call in a row.
func (g *groupState) part(cells, variable []byte, call int) []byte {
	start, end := g.bounds(cells, call)
	return variable[start:end]
}

// bounds are where the state of a variable call stands in the variable part.
func (g *groupState) bounds(cells []byte, call int) (start, end int) {
	for c := range call {
		start += g.length(cells, c)
	}
	return start, start + g.length(cells, call)
}

func (g *groupState) length(cells []byte, call int) int {
	return int(binary.LittleEndian.Uint32(cells[g.lengths+lengthBytes*call:]))
}

// changeVariable takes a row out of the variable calls of a group and puts one
// in; -1 stands for no row.
func (g *groupState) changeVariable(t *state.Table, row state.Row, cells []byte, remove, add int32) error {
	for c := range g.variable {
		call := &g.variable[c]
		if remove >= 0 {
			next, changed, err := call.Remove(g.next[:0], g.part(cells, t.Variable(row), c), call.before, int(remove))
			if err != nil {
				return fmt.Errorf("%s: %w", call.name, err)
			}
			g.next = next
			if changed {
				g.setPart(t, row, cells, c, next)
			}
		}
		if add >= 0 {
			if err := g.addVariable(t, row, cells, c, int(add)); err != nil {
				return fmt.Errorf("%s: %w", call.name, err)
			}
		}
	}
	return nil
}

// addVariable puts a row into one variable call. A state is extended in place
// where it can be: a list of n values takes n steps, not n*n.
func (g *groupState) addVariable(t *state.Table, row state.Row, cells []byte, call, add int) error {
	c := &g.variable[call]
	if c.extender != nil {
		return g.extendVariable(t, row, cells, call, add)
	}
	next, changed, err := c.Add(g.next[:0], g.part(cells, t.Variable(row), call), c.after, add)
	if err != nil {
		return err
	}
	g.next = next
	if changed {
		g.setPart(t, row, cells, call, next)
	}
	return nil
}

func (g *groupState) extendVariable(t *state.Table, row state.Row, cells []byte, call, add int) error {
	c := &g.variable[call]
	start, end := g.bounds(cells, call)
	growth, changed, err := c.extender.Growth(t.Variable(row)[start:end], c.after, add)
	if err != nil || !changed {
		return err
	}
	whole := t.ExtendVariable(row, growth)
	if whole == nil {
		return nil // the store reports at the commit that it is full
	}
	copy(whole[end+growth:], whole[end:len(whole)-growth])
	g.setLength(cells, call, end-start+growth)
	return c.extender.Extend(whole[start:end+growth:end+growth], growth, c.after, add)
}

// setPart replaces the state of one variable call in a row.
func (g *groupState) setPart(t *state.Table, row state.Row, cells []byte, call int, part []byte) {
	if len(g.variable) > 1 {
		g.scratch = g.scratch[:0]
		for c := range g.variable {
			if c == call {
				g.scratch = append(g.scratch, part...)
			} else {
				g.scratch = append(g.scratch, g.part(cells, t.Variable(row), c)...)
			}
		}
		t.SetVariable(row, g.scratch)
	} else {
		t.SetVariable(row, part)
	}
	g.setLength(cells, call, len(part))
}

func (g *groupState) setLength(cells []byte, call, length int) {
	binary.LittleEndian.PutUint32(cells[g.lengths+lengthBytes*call:], uint32(length))
}

// report takes the fault of a result that is null for it.
type report func(name string, err error)

// results sets row k of the vectors, one a call, from a group's state. Texts
// are copied to the arena.
func (g *groupState) results(cells, variable []byte, out []*column.Vector, k int, arena *column.Arena, fault report) {
	for c := range g.fixed {
		call := &g.fixed[c]
		if err := call.Result(cells, out[call.result], k); err != nil && fault != nil {
			fault(call.name, err)
		}
	}
	g.variableResults(cells, variable, out, k, arena, fault)
}

func (g *groupState) variableResults(cells, variable []byte, out []*column.Vector, k int, arena *column.Arena, fault report) {
	if len(g.variable) == 0 {
		return
	}
	kept := arena.Alloc(len(variable))
	copy(kept, variable)
	for c := range g.variable {
		call := &g.variable[c]
		if err := call.Result(g.part(cells, kept, c), out[call.result], k); err != nil && fault != nil {
			fault(call.name, err)
		}
	}
}
