package planner

import (
	"fmt"
	"slices"

	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// builder turns a selection into a physical plan. node is the operator built
// last and place says in which of its columns each ref stands.
type builder struct {
	s     *selection
	query *plan.Query
	graph *plan.Subgraph
	node  plan.Node
	place map[int]int
}

func (s *selection) newBuilder(id string) *builder {
	service := s.planner.Service
	q := &plan.Query{
		ID: id, Statement: s.query.Text,
		Group: fmt.Sprintf("_millrace_%s_query_%s", service, id),
	}
	for _, in := range s.scope.inputs {
		q.Sources = append(q.Sources, in.source.Name)
	}
	b := &builder{s: s, query: q, place: map[int]int{}}
	b.beginSubgraph()
	return b
}

func (b *builder) beginSubgraph() {
	b.graph = &plan.Subgraph{ID: len(b.query.Subgraphs)}
	b.query.Subgraphs = append(b.query.Subgraphs, b.graph)
}

// internal is the name of an internal topic of an operator.
func (b *builder) internal(operator, kind string) string {
	return b.query.Group + "-" + operator + "-" + kind
}

func (b *builder) addStore(name string, windowed bool, retention int64) string {
	b.graph.Stores = append(b.graph.Stores, plan.Store{
		Name: name, Windowed: windowed, Changelog: b.internal(name, "changelog"), Retention: retention,
	})
	return name
}

// over rewrites an expression over refs into one over the columns of node.
func (b *builder) over(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) (expr.Expr, bool) {
		c, ok := e.(*expr.Column)
		if !ok {
			return nil, false
		}
		return expr.NewColumn(b.place[c.Index], c.Name, c.T), true
	})
}

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

// input builds what SELECT reads: a source or a join, filtered by WHERE.
func (b *builder) input() error {
	where := conjuncts(b.s.where)
	if b.s.join == nil {
		b.node = b.source(0)
	} else {
		var err error
		if where, err = b.joinStreamTable(where); err != nil {
			return err
		}
	}
	b.filter(where)
	return nil
}

func (b *builder) filter(conditions []expr.Expr) {
	if len(conditions) == 0 {
		return
	}
	condition := conditions[0]
	for _, next := range conditions[1:] {
		condition, _ = expr.NewAnd(condition, next)
	}
	b.node = &plan.Filter{Input: b.node, Condition: b.over(condition)}
}

// conjuncts are the conditions that AND joins.
func conjuncts(e expr.Expr) []expr.Expr {
	if e == nil {
		return nil
	}
	if logic, ok := e.(*expr.Logic); ok && !logic.Or {
		return append(conjuncts(logic.Left), conjuncts(logic.Right)...)
	}
	return []expr.Expr{e}
}

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
	leftKey, err := b.joinKey(stream, table)
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
// the stream is keyed by it, in the table's format, the stream is repartitioned.
func (b *builder) joinKey(stream, table *catalog.Source) (int, error) {
	left := b.s.join.left
	if r, plain := b.s.plainColumn(left); plain && r.kind == keyRef && len(stream.Key) == 1 && sameEncoding(stream.KeyFormat, table.KeyFormat) {
		return b.place[left.(*expr.Column).Index], b.s.coPartitioned(stream, table)
	}
	at := b.project([]expr.Expr{left})[0]
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
	return a.Name == b.Name && a.Delimiter == b.Delimiter
}

// project adds the values of expressions to the columns that node has, unless
// they stand there already, and gives their columns.
func (b *builder) project(expressions []expr.Expr) []int {
	input := b.node.Schema()
	out := plan.Schema{
		Key: input.Key, Changes: input.Changes, KeepsBefore: input.KeepsBefore,
		Window: input.Window, WindowStart: input.WindowStart, WindowEnd: input.WindowEnd,
	}
	var columns []plan.NamedExpr
	for i, c := range input.Columns {
		columns = append(columns, plan.NamedExpr{Name: c.Name, Expr: expr.NewColumn(i, c.Name, c.Type)})
	}
	at := make([]int, len(expressions))
	for i, e := range expressions {
		if c, ok := e.(*expr.Column); ok {
			at[i] = b.place[c.Index]
			continue
		}
		at[i] = len(columns)
		columns = append(columns, plan.NamedExpr{Name: e.String(), Expr: b.over(e)})
	}
	if len(columns) == len(input.Columns) {
		return at
	}
	for _, c := range columns {
		out.Columns = append(out.Columns, plan.Column{Name: c.Name, Type: c.Expr.Type()})
	}
	b.node = &plan.Project{Input: b.node, Columns: columns, Output: out}
	return at
}

// repartition ends the subgraph with an internal topic keyed by the fields and
// begins the next one with it.
func (b *builder) repartition(operator string, format catalog.Format, key []plan.Field, partitionsOf string, keepNullKeys bool) {
	topic := b.internal(operator, "repartition")
	b.graph.Root = &plan.RepartitionSink{
		Input: b.node, Topic: topic, KeyFormat: format, Key: key, KeepNullKeys: keepNullKeys,
	}
	b.query.Repartitions = append(b.query.Repartitions, plan.Repartition{Topic: topic, PartitionsOf: partitionsOf})
	output := b.node.Schema()
	output.Key = nil
	for _, f := range key {
		output.Key = append(output.Key, f.Column)
	}
	source := &plan.RepartitionSource{Topic: topic, Output: output}
	b.beginSubgraph()
	b.graph.Inputs = append(b.graph.Inputs, source)
	b.node = source
}

// aggregate builds GROUP BY with its aggregates and HAVING.
func (b *builder) aggregate() {
	calls := b.groupColumns()
	groups := make([]int, len(b.s.groups))
	for i := range groups {
		groups[i] = i
	}
	output := plan.Schema{Changes: true, KeepsBefore: true, WindowStart: -1, WindowEnd: -1, Key: groups}
	output.Columns = slices.Clone(b.node.Schema().Columns[:len(groups)])
	retention := int64(0)
	if w := b.s.window; w != nil {
		output.Window = &catalog.KeyWindow{Kind: w.Kind, Size: w.Size}
		output.WindowStart, output.WindowEnd = len(groups), len(groups)+1
		output.Columns = append(output.Columns, plan.Column{Name: "WINDOWSTART", Type: types.Bigint}, plan.Column{Name: "WINDOWEND", Type: types.Bigint})
		retention = w.Size + w.Grace
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
		call := plan.AggregateCall{Function: c.function, Constants: c.constants, Type: c.result, Name: c.text}
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
// it can hold the key, else JSON.
func (s *selection) internalKeyFormat(key []plan.Field) catalog.Format {
	format := s.scope.inputs[0].source.KeyFormat
	if format.Name == "NONE" {
		format = catalog.Format{Name: s.planner.defaultKeyFormat()}
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

// sinkInput projects the result: key columns, then value columns, then the
// bounds of a windowed key.
func (b *builder) sinkInput(r *result) {
	input := b.node.Schema()
	project := &plan.Project{Input: b.node, Output: plan.Schema{
		Changes: input.Changes, KeepsBefore: input.KeepsBefore, Window: input.Window, WindowStart: -1, WindowEnd: -1,
	}}
	add := func(name string, e expr.Expr) int {
		project.Columns = append(project.Columns, plan.NamedExpr{Name: name, Expr: e})
		project.Output.Columns = append(project.Output.Columns, plan.Column{Name: name, Type: e.Type()})
		return len(project.Columns) - 1
	}
	for _, k := range r.keys {
		e := b.over(k.value)
		project.Output.Key = append(project.Output.Key, add(k.name, e))
	}
	for _, v := range r.values {
		add(v.name, b.over(v.expr))
	}
	if input.Window != nil {
		bound := func(at int) int {
			c := input.Columns[at]
			return add(c.Name, expr.NewColumn(at, c.Name, c.Type))
		}
		project.Output.WindowStart = bound(input.WindowStart)
		project.Output.WindowEnd = bound(input.WindowEnd)
	}
	b.node = project
}
