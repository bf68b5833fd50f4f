package op

import (
	"fmt"
	"slices"

	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/state"
)

// builder makes operators from the root of a subgraph down to its inputs.
type builder struct {
	env      *Environment
	inputs   []plan.Node
	pipeline Pipeline
}

// build makes the operators of node and all below it. What node puts out goes
// to next. Operators are listed after those they take input from.
func (b *builder) build(node plan.Node, next Operator) error {
	switch n := node.(type) {
	case *plan.Source, *plan.RepartitionSource:
		return b.input(node, next)
	case *plan.Filter:
		return add(b, newFilter, n, n.Input, next)
	case *plan.Project:
		return add(b, newProject, n, n.Input, next)
	case *plan.Unnest:
		return add(b, newUnnest, n, n.Input, next)
	case *plan.Aggregate:
		return add(b, aggregateOperator(n), n, n.Input, next)
	case *plan.StreamTableJoin:
		if err := b.input(n.Right, nil); err != nil {
			return err
		}
		return add(b, newJoinStreamTable, n, n.Left, next)
	}
	return fmt.Errorf("no operator runs %s", node.Describe())
}

// aggregateOperator is what makes the operator of an aggregation: the kind of its
// windows decides.
func aggregateOperator(node *plan.Aggregate) func(*plan.Aggregate, *Environment, Operator) (Operator, error) {
	if node.Window != nil {
		switch node.Window.Kind {
		case catalog.Session:
			return newSessionAggregate
		case catalog.Sliding:
			return newSlidingAggregate
		}
	}
	return func(node *plan.Aggregate, env *Environment, next Operator) (Operator, error) {
		return newAggregate(node, env, next)
	}
}

// add makes the operator of a node with one input.
func add[N plan.Node, O Operator](
	b *builder, make func(N, *Environment, Operator) (O, error), node N, input plan.Node, next Operator,
) error {
	operator, err := make(node, b.env, next)
	if err != nil {
		return err
	}
	if err := b.build(input, operator); err != nil {
		return err
	}
	b.pipeline.operators = append(b.pipeline.operators, operator)
	return nil
}

// input makes the entry of a leaf. next is nil where nothing takes its rows.
func (b *builder) input(node plan.Node, next Operator) error {
	at := slices.Index(b.inputs, node)
	if at < 0 {
		return fmt.Errorf("%s is not among the subgraph's inputs", node.Describe())
	}
	if source, ok := node.(*plan.Source); ok && source.Store != "" {
		operator, err := newMaterialize(source, b.env, next)
		if err != nil {
			return err
		}
		b.pipeline.operators = append(b.pipeline.operators, operator)
		next = operator
	}
	if next == nil {
		return fmt.Errorf("%s is the table of a join and has no store", node.Describe())
	}
	b.pipeline.Entries[at] = Entry{Operator: next}
	return nil
}

// StoreLayout is the layout of a store of the subgraph: what the task's state
// must be told before Environment.Store can open it.
func StoreLayout(subgraph *plan.Subgraph, name string) (state.Layout, error) {
	layout, found, err := storeLayout(subgraph.Root, name)
	if err == nil && !found {
		err = fmt.Errorf("no operator of subgraph %d keeps store %s", subgraph.ID, name)
	}
	return layout, err
}

func storeLayout(node plan.Node, name string) (layout state.Layout, found bool, err error) {
	switch n := node.(type) {
	case *plan.Source:
		if n.Store == name {
			return state.Layout{}, true, nil
		}
	case *plan.Aggregate:
		if n.Store == name {
			groups, err := newGroupState(n)
			if err != nil {
				return state.Layout{}, false, err
			}
			if n.Window != nil && n.Window.Kind == catalog.Session {
				return sessionLayout(groups), true, nil
			}
			if n.Window != nil && n.Window.Kind == catalog.Sliding {
				return slidingLayout, true, nil
			}
			return groups.layout(), true, nil
		}
	}
	for _, input := range node.Inputs() {
		if layout, found, err = storeLayout(input, name); found || err != nil {
			return layout, found, err
		}
	}
	return state.Layout{}, false, nil
}
