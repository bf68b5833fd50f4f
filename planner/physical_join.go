package planner

import (
	"slices"

	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// joinStreamTable builds a join of a stream with a table. Conditions of WHERE
// that read the stream alone are applied before it, and to what is
// repartitioned; the others are returned.
func (b *builder) joinStreamTable(where []expr.Expr) ([]expr.Expr, error) {
	var early, late []expr.Expr
	for _, condition := range where {
		if b.s.onlyInput(condition) == 0 {
			early = append(early, condition)
		} else {
			late = append(late, condition)
		}
	}
	stream, table := b.s.scope.inputs[0].source, b.s.scope.inputs[1].source
	b.node = b.source(0)
	b.filter(early)
	leftKey, err := b.joinKey(stream, table, late)
	if err != nil {
		return nil, err
	}
	left, leftPlace := b.node, b.place
	right := b.source(1)
	width := len(left.Schema().Columns)
	columns := append(slices.Clone(left.Schema().Columns), right.Output.Columns...)
	place := leftPlace
	for id, at := range b.place {
		place[id] = width + at
	}
	b.node = &plan.StreamTableJoin{
		Kind: b.s.join.kind, Left: left, Right: right, LeftKey: []int{leftKey},
		Output: plan.Schema{Columns: columns, Key: []int{leftKey}, WindowStart: -1, WindowEnd: -1},
	}
	b.place = place
	if source, direct := b.graph.Inputs[0].(*plan.Source); direct {
		b.query.CoPartitioned = append(b.query.CoPartitioned, []string{source.Topic, table.Topic})
	}
	return late, nil
}

// joinKey is the column of the left side that equals the table's key. Unless
// the stream is keyed by it, in the table's format, the stream is repartitioned
// with the columns that are read after the join.
func (b *builder) joinKey(stream, table *catalog.Source, late []expr.Expr) (int, error) {
	left := b.s.join.left
	if r, plain := b.s.plainColumn(left); plain && r.kind == keyRef && len(stream.Key) == 1 && sameEncoding(stream.KeyFormat, table.KeyFormat) {
		return b.place[left.(*expr.Column).Index], b.s.coPartitioned(stream, table)
	}
	at := b.narrow(left, b.s.readBy(late))
	key := []plan.Field{{Name: table.Key[0].Name, Type: left.Type(), Column: at}}
	b.repartition("join-left", table.KeyFormat, key, table.Topic, b.s.join.kind == plan.LeftJoin)
	return at, nil
}

// coPartitioned refuses to join topics whose equal keys stand in partitions of
// different numbers, where the numbers are known.
func (s *selection) coPartitioned(a, b *catalog.Source) error {
	if a.Partitions == 0 || b.Partitions == 0 || a.Partitions == b.Partitions {
		return nil
	}
	return types.Errorf(types.CodeStatement, "%s and %s cannot be joined: topic %s has %s, topic %s has %d",
		a.Name, b.Name, a.Topic, Counted(a.Partitions, "partition"), b.Topic, b.Partitions).At(s.join.position).
		WithHint("copy one with CREATE %s .. WITH (PARTITIONS=%d) AS SELECT and join the copy", a.Kind, b.Partitions)
}

func sameEncoding(a, b catalog.Format) bool {
	return a.Name == b.Name && a.Delimiter == b.Delimiter && a.SchemaID == b.SchemaID
}

// readBy are the refs that the conditions and everything behind WHERE read.
func (s *selection) readBy(conditions []expr.Expr) map[int]bool {
	expressions := slices.Concat(conditions, s.groups, s.partition, s.tables)
	for _, it := range s.items {
		expressions = append(expressions, it.expr)
	}
	for _, c := range s.calls {
		expressions = append(expressions, c.arguments...)
	}
	read := map[int]bool{}
	for _, e := range expressions {
		for _, id := range expr.ColumnsOf(e) {
			read[id] = true
		}
	}
	return read
}

// narrow projects the refs that are read, and the value of key, whose column
// it gives.
func (b *builder) narrow(key expr.Expr, read map[int]bool) int {
	input := b.node.Schema()
	node := &plan.Project{Input: b.node, Output: plan.Schema{WindowStart: -1, WindowEnd: -1}}
	add := func(name string, e expr.Expr) int {
		node.Columns = append(node.Columns, plan.NamedExpr{Name: name, Expr: e})
		node.Output.Columns = append(node.Output.Columns, plan.Column{Name: name, Type: e.Type()})
		return len(node.Columns) - 1
	}
	place := map[int]int{}
	for id := range b.s.scope.refs {
		if at, ok := b.place[id]; ok && read[id] {
			c := input.Columns[at]
			place[id] = add(c.Name, expr.NewColumn(at, c.Name, c.Type))
		}
	}
	column := -1
	if c, plain := key.(*expr.Column); plain {
		if at, ok := place[c.Index]; ok {
			column = at
		}
	}
	if column < 0 {
		column = add(key.String(), b.over(key))
	}
	b.node, b.place = node, place
	return column
}
