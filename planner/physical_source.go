package planner

import (
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// source builds the operator that reads an input; only columns that the query
// uses are decoded, and those of the key.
func (b *builder) source(index int) *plan.Source {
	in := b.s.scope.inputs[index]
	source := in.source
	node := &plan.Source{
		Name: source.Name, Topic: source.Topic, KeyFormat: source.KeyFormat, KeyWindow: source.Window,
		ValueFormat: source.ValueFormat, Pseudo: plan.NoPseudo,
		Output: plan.Schema{Changes: source.Kind == catalog.Table, Window: source.Window, WindowStart: -1, WindowEnd: -1},
	}
	b.place = map[int]int{}
	for i, c := range source.Key {
		id := b.s.scope.add(ref{kind: keyRef, input: index, name: c.Name, t: c.Type})
		node.KeyFields = append(node.KeyFields, plan.Field{Name: c.Name, Type: c.Type, Column: b.addColumn(node, id)})
		node.Output.Key = append(node.Output.Key, i)
	}
	b.addWindowBounds(node, index)
	timestamp := b.timestampRef(index)
	for id, r := range b.s.scope.refs {
		if r.kind <= pseudoRef && r.input == index {
			b.addColumn(node, id)
		}
	}
	b.fillFields(node, index)
	if timestamp >= 0 {
		node.Timestamp = &plan.Timestamp{
			Column: b.place[timestamp], Format: source.Timestamp.Format, FailOnInvalid: b.s.planner.flag(propertyThrowOnTime),
		}
	}
	if node.Output.Changes {
		name := "source"
		if b.s.scope.join() {
			name = []string{"left", "right"}[index]
		}
		node.Store = b.addStore(name, false, 0)
		node.Output.KeepsBefore = true
	}
	b.graph.Inputs = append(b.graph.Inputs, node)
	return node
}

// addColumn gives a ref a column of the source, once.
func (b *builder) addColumn(node *plan.Source, id int) int {
	if at, ok := b.place[id]; ok {
		return at
	}
	at := len(node.Output.Columns)
	node.Output.Columns = append(node.Output.Columns, b.s.scope.planColumn(id))
	b.place[id] = at
	r := b.s.scope.refs[id]
	switch {
	case r.kind == headerRef:
		for _, h := range b.s.scope.inputs[r.input].source.Headers {
			if h.Name == r.name {
				node.Headers = append(node.Headers, plan.HeaderField{Key: h.Key, Column: at})
			}
		}
	case r.kind == pseudoRef:
		*map[string]*int{
			"ROWTIME": &node.Pseudo.RowTime, "ROWPARTITION": &node.Pseudo.RowPartition, "ROWOFFSET": &node.Pseudo.RowOffset,
			"WINDOWSTART": &node.Pseudo.WindowStart, "WINDOWEND": &node.Pseudo.WindowEnd,
		}[r.name] = at
	}
	return at
}

// addWindowBounds makes a windowed source give its window's bounds: its key is
// written with them.
func (b *builder) addWindowBounds(node *plan.Source, index int) {
	if node.KeyWindow == nil {
		return
	}
	bound := func(name string) int {
		return b.addColumn(node, b.s.scope.add(ref{kind: pseudoRef, input: index, name: name, t: types.Bigint}))
	}
	node.Output.WindowStart = bound("WINDOWSTART")
	node.Output.WindowEnd = bound("WINDOWEND")
}

// timestampRef makes the source's TIMESTAMP column a ref; -1 if it has none.
func (b *builder) timestampRef(index int) int {
	timestamp := b.s.scope.inputs[index].source.Timestamp
	if timestamp == nil {
		return -1
	}
	r, _ := b.s.scope.column(index, timestamp.Column)
	return b.s.scope.add(r)
}

func (b *builder) fillFields(node *plan.Source, index int) {
	for _, c := range b.s.scope.inputs[index].source.Value {
		at := -1
		for id, r := range b.s.scope.refs {
			if r.kind == valueRef && r.input == index && r.name == c.Name {
				at = b.place[id]
			}
		}
		node.ValueFields = append(node.ValueFields, plan.Field{Name: c.Name, Type: c.Type, Column: at})
	}
}
