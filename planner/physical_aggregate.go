package planner

import (
	"slices"

	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// aggregate builds GROUP BY with its aggregates and HAVING.
func (b *builder) aggregate() {
	calls := b.groupColumns()
	groups := make([]int, len(b.s.groups))
	for i := range groups {
		groups[i] = i
	}
	// Only HAVING looks at a group's row before a change.
	output := plan.Schema{Changes: true, KeepsBefore: b.s.having != nil, WindowStart: -1, WindowEnd: -1, Key: groups}
	output.Columns = slices.Clone(b.node.Schema().Columns[:len(groups)])
	retention := int64(0)
	if w := b.s.window; w != nil {
		output.Window = &catalog.KeyWindow{Kind: w.Kind, Size: w.Size}
		output.WindowStart, output.WindowEnd = len(groups), len(groups)+1
		output.Columns = append(output.Columns, plan.Column{Name: "WINDOWSTART", Type: types.Bigint}, plan.Column{Name: "WINDOWEND", Type: types.Bigint})
		retention = w.Size + w.Gap + w.Grace
		if w.Kind == catalog.Sliding {
			retention += w.Size // rows up to then are added to what a closed window holds
		}
	}
	first := len(output.Columns)
	for _, c := range calls {
		output.Columns = append(output.Columns, plan.Column{Name: c.Name, Type: c.Type})
	}
	b.node = &plan.Aggregate{
		Input: b.node, Groups: groups, Calls: calls, Window: b.s.window, Final: b.s.final,
		Store: b.addStore("aggregate", b.s.window != nil, retention), Output: output,
	}
	b.placeAggregates(first, output)
	b.filter(conjuncts(b.s.having))
}

// placeAggregates says where groups, bounds and results stand in the output.
func (b *builder) placeAggregates(first int, output plan.Schema) {
	b.place = map[int]int{}
	for id, r := range b.s.scope.refs {
		switch r.kind {
		case groupRef:
			b.place[id] = r.at
		case aggregateRef:
			b.place[id] = first + r.at
		case windowRef:
			b.place[id] = output.WindowStart
			if r.name == "WINDOWEND" {
				b.place[id] = output.WindowEnd
			}
		}
	}
}

// groupColumns projects the group's expressions and the aggregates' arguments,
// and repartitions by the group unless the input is partitioned so.
func (b *builder) groupColumns() []plan.AggregateCall {
	input := b.node.Schema()
	samePartitions := b.groupedByKey(input)
	project := &plan.Project{Input: b.node, Output: plan.Schema{
		Changes: input.Changes, KeepsBefore: input.KeepsBefore, WindowStart: -1, WindowEnd: -1,
	}}
	add := func(e expr.Expr) int {
		over := b.over(e)
		for i, c := range project.Columns {
			if expr.Equal(c.Expr, over) {
				return i
			}
		}
		name := e.String()
		project.Columns = append(project.Columns, plan.NamedExpr{Name: name, Expr: over})
		project.Output.Columns = append(project.Output.Columns, plan.Column{Name: name, Type: e.Type()})
		return len(project.Columns) - 1
	}
	var key []plan.Field
	for i, e := range b.s.groups {
		add(e)
		key = append(key, plan.Field{Name: e.String(), Type: e.Type(), Column: i})
		project.Output.Key = append(project.Output.Key, i)
	}
	var calls []plan.AggregateCall
	for _, c := range b.s.calls {
		call := plan.AggregateCall{
			Function: c.function, Distinct: c.distinct, Constants: c.constants, Type: c.result, Name: c.text,
		}
		if c.filter != nil {
			call.Filtered, call.Filter = true, add(c.filter)
		}
		for _, e := range c.arguments {
			call.Arguments = append(call.Arguments, add(e))
			call.Inputs = append(call.Inputs, e.Type())
		}
		calls = append(calls, call)
	}
	b.node = project
	if samePartitions {
		return calls
	}
	b.repartition("group-by", b.s.internalKeyFormat(key), key, plan.InputTopic(b.graph.Inputs[0]), false)
	return calls
}

// groupedByKey tells whether the groups are the key columns, in order.
func (b *builder) groupedByKey(input plan.Schema) bool {
	if len(b.s.groups) != len(input.Key) {
		return false
	}
	for i, e := range b.s.groups {
		c, ok := e.(*expr.Column)
		if !ok || b.place[c.Index] != input.Key[i] {
			return false
		}
	}
	return true
}

// internalKeyFormat is the key format of a repartition topic: the source's, if
// it can hold the key, else JSON. A key that would need a schema in a registry
// is written in the engine's own form.
func (s *selection) internalKeyFormat(key []plan.Field) catalog.Format {
	format := s.scope.inputs[0].source.KeyFormat
	if format.Name == "NONE" {
		format = catalog.Format{Name: s.planner.defaultKeyFormat()}
	}
	if s.planner.hasSchemas(format.Name) {
		return catalog.Format{Name: "INTERNAL"}
	}
	format.Unwrapped = len(key) == 1
	columns := make([]catalog.Column, len(key))
	for i, f := range key {
		columns[i] = catalog.Column{Name: f.Name, Type: f.Type}
	}
	if s.planner.Formats.Check(format, true, columns) != nil {
		format = catalog.Format{Name: "JSON", Unwrapped: len(key) == 1}
	}
	return format
}
