package planner

import (
	"fmt"

	"millrace/planner/catalog"
	"millrace/planner/plan"
)

// Materialize plans the query that keeps the rows of a SOURCE TABLE, all of its
// columns, as long as the table is declared. It writes to no topic.
func (p *Planner) Materialize(source *catalog.Source) *plan.Query {
	beginning := "CST_" + idPart(source.Name)
	s := &selection{planner: p, scope: &scope{inputs: []*input{{alias: source.Name, source: source}}}}
	id := fmt.Sprintf("%s_%d", beginning, p.Catalog.NextQuery(beginning))
	b := &builder{s: s, place: map[int]int{}, query: &plan.Query{
		ID: id, Statement: source.Statement, Group: queryGroup(p.Service, id), Sources: []string{source.Name},
	}}
	for _, name := range columnNames(source) {
		r, _ := s.scope.column(0, name)
		s.scope.add(r)
	}
	b.beginSubgraph()
	table := b.source(0)
	b.graph.Root = &plan.Materialize{Input: table}
	for i := range b.graph.Stores {
		b.graph.Stores[i].Changelog = ""
	}
	b.query.Logical = append(s.logicalInputs(), "Keep its rows")
	return b.query
}
