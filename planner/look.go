package planner

import (
	"fmt"

	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// Look is a SELECT of its own: a query whose result is shown and not kept.
type Look struct {
	// Source describes the topic that the query fills: each item of SELECT is a
	// value column; a table's records have its key, so that the last one counts.
	Source *catalog.Source
	Query  *plan.Query
	Limit  int // -1: none
}

// Look plans a SELECT of its own under the given query id. The key need not be
// selected.
func (p *Planner) Look(n *ast.QueryStatement, id string) (*Look, error) {
	selected, err := p.analyseSelect(n.Query, true)
	if err != nil {
		return nil, err
	}
	look := &Look{Limit: -1}
	if n.Query.Limit != nil {
		look.Limit = *n.Query.Limit
	}
	r := &result{values: selected.items}
	source := &catalog.Source{
		Name: id, Kind: catalog.Stream, Topic: fmt.Sprintf("_millrace_%s_query_%s-result", p.Service, id),
		KeyFormat: catalog.Format{Name: "NONE"}, ValueFormat: catalog.Format{Name: "JSON"}, CreatedBy: id,
	}
	if selected.table() {
		source.Kind = catalog.Table
		for i, key := range selected.keyExpressions() {
			name := fmt.Sprintf("ROWKEY_%d", i)
			r.keys = append(r.keys, resultKey{name: name, value: key})
			source.Key = append(source.Key, catalog.Column{Name: name, Type: key.Type()})
		}
		source.KeyFormat = catalog.Format{Name: "JSON", Unwrapped: len(source.Key) == 1}
		source.Window = selected.keyWindow()
	}
	for _, it := range selected.items {
		source.Value = append(source.Value, catalog.Column{Name: it.name, Type: it.expr.Type()})
	}
	if err := p.checkFormat(source.KeyFormat, true, source.Key, selected.at()); err != nil {
		return nil, err
	}
	if err := p.checkFormat(source.ValueFormat, false, source.Value, selected.at()); err != nil {
		return nil, err
	}
	look.Source = source
	look.Query, err = p.buildQuery(selected, r, id, source, properties{})
	if err == nil {
		look.Query.Transient = true
	}
	return look, err
}

// refuseLimit refuses LIMIT where a query runs on.
func (s *selection) refuseLimit() error {
	if s.query.Limit == nil && s.statement.Limit == nil {
		return nil
	}
	return types.Errorf(types.CodeStatement, "LIMIT cannot end a query that runs on").At(s.at()).
		WithHint("leave it out, or SELECT without CREATE to look at some rows")
}
