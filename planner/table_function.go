package planner

import (
	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// bindTable takes a table function of SELECT: its array becomes a column that
// holds one element a row.
func (s *selection) bindTable(call expr.Expr) (expr.Expr, error) {
	if len(s.groups) > 0 {
		return nil, types.Errorf(types.CodeStatement, "a table function cannot stand next to GROUP BY").
			WithHint("unnest with CREATE STREAM .. AS SELECT first, then group that stream")
	}
	if !s.scope.join() && s.scope.inputs[0].source.Kind == catalog.Table {
		return nil, types.Errorf(types.CodeStatement, "a table function is for streams; %s is a table", s.scope.inputs[0].source.Name)
	}
	for _, id := range expr.ColumnsOf(call) {
		if s.scope.refs[id].kind == tableRef {
			return nil, types.Errorf(types.CodeStatement, "a table function cannot stand inside another")
		}
	}
	s.tables = append(s.tables, call)
	element := call.Type().Elem
	id := s.scope.add(ref{kind: tableRef, name: call.String(), t: element, at: len(s.tables) - 1})
	return expr.NewColumn(id, call.String(), element), nil
}

// unnest builds the operator of the table functions.
func (b *builder) unnest() {
	if len(b.s.tables) == 0 {
		return
	}
	input := b.node.Schema()
	node := &plan.Unnest{Input: b.node, Output: input}
	node.Output.Columns = append([]plan.Column{}, input.Columns...)
	for _, call := range b.s.tables {
		node.Arrays = append(node.Arrays, plan.NamedExpr{Name: call.String(), Expr: b.over(call)})
		node.Output.Columns = append(node.Output.Columns, plan.Column{Name: call.String(), Type: call.Type().Elem})
	}
	for id, r := range b.s.scope.refs {
		if r.kind == tableRef {
			b.place[id] = len(input.Columns) + r.at
		}
	}
	b.node = node
}
