package planner

import (
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// Delete plans DELETE FROM table WHERE key = ..: one row whose key is given
// and which has no values. The condition must give each key column one
// constant and say nothing else, since what is written is one tombstone.
func (p *Planner) Delete(s *ast.DeleteRows) (*Rows, error) {
	source, err := p.target(s.Target, s.Position)
	if err != nil {
		return nil, err
	}
	switch {
	case source.Kind != catalog.Table:
		return nil, types.Errorf(types.CodeStatement, "DELETE needs a table; %s is a stream, whose records stay", source.Name).At(s.Position)
	case source.Window != nil:
		return nil, types.Unsupported("DELETE from a windowed table").At(s.Position)
	}
	condition, err := expressionOf(s.Where)
	if err != nil {
		return nil, err
	}
	d := &deletion{
		binder: &binder{planner: p, query: s.Where, scope: &scope{}, where: "WHERE of DELETE"},
		rows:   newRows(source, 1), given: map[string]bool{},
	}
	if err := d.condition(condition); err != nil {
		return nil, err
	}
	for _, c := range source.Key {
		if !d.given[c.Name] {
			return nil, types.Errorf(types.CodeKey, "WHERE does not give the key column %s", c.Name).At(d.binder.at(condition)).
				WithHint("DELETE takes one row by its whole key: %s", keyList(source))
		}
	}
	return d.rows, d.rows.checkKeys(s.Position)
}

// deletion collects the key that a condition gives.
type deletion struct {
	binder *binder
	rows   *Rows
	given  map[string]bool
}

func (d *deletion) condition(n tidb.ExprNode) error {
	for {
		operation, ok := n.(*tidb.BinaryOperationExpr)
		switch {
		case ok && operation.Op == opcode.LogicAnd:
			if err := d.equation(operation.R); err != nil {
				return err
			}
			n = operation.L
		default:
			return d.equation(n)
		}
	}
}

func (d *deletion) equation(n tidb.ExprNode) error {
	operation, ok := n.(*tidb.BinaryOperationExpr)
	if ok && operation.Op == opcode.LogicAnd {
		return d.condition(n)
	}
	if !ok || operation.Op != opcode.EQ {
		return d.refuse(n)
	}
	name, value := d.keyColumn(operation.L), operation.R
	if name == "" {
		name, value = d.keyColumn(operation.R), operation.L
	}
	if name == "" {
		return d.refuse(n)
	}
	if d.given[name] {
		return types.Errorf(types.CodeKey, "WHERE gives the key column %s twice", name).At(d.binder.at(n))
	}
	d.given[name] = true
	return d.rows.set(d.binder, name, 0, value)
}

func (d *deletion) refuse(n tidb.ExprNode) error {
	return types.Errorf(types.CodeKey, "WHERE of DELETE can only say which key: %s", keyList(d.rows.Source)).At(d.binder.at(n))
}

// keyColumn is the key column that an expression names; empty if it is something else.
func (d *deletion) keyColumn(n tidb.ExprNode) string {
	c, ok := n.(*tidb.ColumnNameExpr)
	if !ok || c.Name.Table.O != "" && c.Name.Table.O != d.rows.Source.Name {
		return ""
	}
	if _, key, _ := d.rows.Source.Column(c.Name.Name.O); key {
		return c.Name.Name.O
	}
	return ""
}

// keyList is a condition over a table's whole key, for messages.
func keyList(source *catalog.Source) string {
	parts := make([]string, len(source.Key))
	for i, c := range source.Key {
		parts[i] = c.Name + " = .."
	}
	return strings.Join(parts, " AND ")
}
