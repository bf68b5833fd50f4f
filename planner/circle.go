package planner

import (
	"fmt"
	"strings"

	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// refuseCircle refuses a query into a topic with which rows would go round
// without end: it writes every row that it reads, and so do the queries that
// lead from what it writes to what it reads. With a condition among them rows
// may go round: it is how a recursion is written.
func (p *Planner) refuseCircle(query *plan.Query, target *catalog.Source, at types.Position) error {
	source, ok := p.Catalog.Source(query.PassesOn())
	if !ok {
		return nil
	}
	way, ok := p.passage(target.Topic, source.Topic, map[string]bool{query.ID: true})
	if !ok {
		return nil
	}
	if len(way) == 0 {
		return types.Errorf(types.CodeStatement, "the query would insert every row of %s into it again, without end", target.Name).At(at).
			WithHint("add a WHERE that ends it")
	}
	steps := make([]string, len(way))
	for i, q := range way {
		steps[i] = fmt.Sprintf("%s writes every row of %s to %s", q.ID, q.PassesOn, q.Sink)
	}
	return types.Errorf(types.CodeStatement, "the query would write every row of %s to %s, and %s: rows would go round without end",
		source.Name, target.Name, strings.Join(steps, ", ")).At(at).WithHint("add a WHERE to one of the queries")
}

// passage finds queries that carry every row from one topic to another; none
// are needed where they are the same. seen are the ids of queries to leave out,
// to which those are added that were tried.
func (p *Planner) passage(from, to string, seen map[string]bool) (way []*catalog.Query, ok bool) {
	if from == to {
		return nil, true
	}
	for _, q := range p.Catalog.Queries() {
		source, reads := p.Catalog.Source(q.PassesOn)
		sink, writes := p.Catalog.Source(q.Sink)
		if !reads || !writes || source.Topic != from || seen[q.ID] {
			continue
		}
		seen[q.ID] = true
		if rest, ok := p.passage(sink.Topic, to, seen); ok {
			return append([]*catalog.Query{q}, rest...), true
		}
	}
	return nil, false
}
