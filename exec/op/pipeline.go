package op

import (
	"fmt"

	"millrace/exec/column"
	"millrace/planner/plan"
)

// Entry is where the batches of one input are pushed.
type Entry struct {
	Operator Operator
	Port     int
}

// Pipeline is the operators of one subgraph in one task.
type Pipeline struct {
	// Entries has one entry per input of the subgraph, in its order.
	Entries []Entry
	// operators stand from the inputs to the sink; the last one is the sink.
	operators []Operator
}

// Build makes the operators of a subgraph. Batches of input i, decoded as its
// node's Output says, go to Push(i, ..); the subgraph's root is not built but
// stands for sink, which gets what its Input puts out, on port 0. sink is nil
// where the root only keeps what its input stores.
func Build(subgraph *plan.Subgraph, env *Environment, sink Operator) (*Pipeline, error) {
	b := builder{env: env, inputs: subgraph.Inputs}
	b.pipeline.Entries = make([]Entry, len(subgraph.Inputs))
	inputs := subgraph.Root.Inputs()
	if len(inputs) != 1 {
		return nil, fmt.Errorf("subgraph %d: the root %s has %d inputs, want 1", subgraph.ID, subgraph.Root.Describe(), len(inputs))
	}
	if err := b.build(inputs[0], sink); err != nil {
		return nil, fmt.Errorf("subgraph %d: %w", subgraph.ID, err)
	}
	for i, entry := range b.pipeline.Entries {
		if entry.Operator == nil {
			return nil, fmt.Errorf("subgraph %d: input %d is not part of the tree", subgraph.ID, i)
		}
	}
	if sink != nil {
		b.pipeline.operators = append(b.pipeline.operators, sink)
	}
	return &b.pipeline, nil
}

// Push hands a batch of an input to its operator. The batch holds at most
// column.MaxRows rows.
func (p *Pipeline) Push(input int, batch *column.Batch) error {
	entry := p.Entries[input]
	return entry.Operator.Push(entry.Port, batch)
}

// Flush flushes every operator once, from the inputs to the sink, which is
// flushed too.
func (p *Pipeline) Flush() error {
	for _, operator := range p.operators {
		if err := operator.Flush(); err != nil {
			return err
		}
	}
	return nil
}
