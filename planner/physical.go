package planner

import (
	"fmt"

	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
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
		Group: queryGroup(service, id),
	}
	for _, in := range s.scope.inputs {
		q.Sources = append(q.Sources, in.source.Name)
	}
	b := &builder{s: s, query: q, place: map[int]int{}}
	b.beginSubgraph()
	return b
}

// queryGroup is the consumer group of a query, and how its internal topics begin.
func queryGroup(service, id string) string { return fmt.Sprintf("_millrace_%s_query_%s", service, id) }

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

// sinkInput projects the result: key columns, then value columns, then the
// bounds of a windowed key.
func (b *builder) sinkInput(r *result) {
	input := b.node.Schema()
	project := &plan.Project{Input: b.node, Output: plan.Schema{
		Changes: input.Changes, KeepsBefore: input.KeepsBefore, WindowStart: -1, WindowEnd: -1,
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
	if input.Window != nil && b.s.keyWindow() != nil {
		project.Output.Window = input.Window
		bound := func(at int) int {
			c := input.Columns[at]
			return add(c.Name, expr.NewColumn(at, c.Name, c.Type))
		}
		project.Output.WindowStart = bound(input.WindowStart)
		project.Output.WindowEnd = bound(input.WindowEnd)
	}
	b.node = project
}

// orderForWindows marks what is repartitioned for a windowed aggregation, or
// for something on the way to one.
func (b *builder) orderForWindows() {
	if b.s.window == nil {
		return
	}
	for _, g := range b.query.Subgraphs[:len(b.query.Subgraphs)-1] {
		g.Ordered = true
	}
}
