package parser

import (
	"fmt"
	"reflect"
	"strings"

	"millrace/sql/ast"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// printStatement is the canonical text of a tree: the statement's type and its
// fields that are set, queries as printQuery gives them.
func printStatement(s ast.Statement) string {
	return strings.TrimPrefix(printValue(reflect.ValueOf(s)), "*ast.")
}

func printValue(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case *ast.Query:
		return "\n  " + printQuery(x)
	case *ast.TypeName:
		return printType(x)
	case *ast.Duration:
		return x.Number + " " + x.Unit
	case ast.ColumnDefinition:
		return printColumn(x)
	case ast.Property:
		return fmt.Sprintf("%s=%s:%q", x.Name, [...]string{"null", "string", "number", "boolean"}[x.Kind], x.Value)
	case string:
		return fmt.Sprintf("%q", x)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return printValue(v.Elem())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = printValue(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Struct:
		return printFields(v)
	}
	return fmt.Sprint(v.Interface())
}

func printFields(v reflect.Value) string {
	text := v.Type().Name()
	for i := range v.NumField() {
		field := v.Field(i)
		switch field.Interface().(type) {
		case types.Position, []types.Position:
			continue
		}
		if !field.IsZero() {
			text += " " + v.Type().Field(i).Name + "=" + printValue(field)
		}
	}
	return text
}

func printColumn(c ast.ColumnDefinition) string {
	role := [...]string{"", " KEY", " PRIMARY KEY", " HEADERS", " HEADER(" + c.Header + ")"}[c.Role]
	return c.Name + " " + printType(c.Type) + role
}

func printType(t *ast.TypeName) string {
	text := t.Name
	if t.Quoted {
		text = "`" + text + "`"
	}
	if t.Elements != nil || t.Name == "STRUCT" {
		parts := make([]string, len(t.Elements))
		for i, e := range t.Elements {
			if t.Fields != nil {
				parts[i] = t.Fields[i] + " "
			}
			parts[i] += printType(e)
		}
		text += "<" + strings.Join(parts, ", ") + ">"
	}
	if t.Parameters != nil {
		text += "(" + strings.Join(t.Parameters, ", ") + ")"
	}
	return text
}

// printQuery is a query in prefix form.
func printQuery(q *ast.Query) string {
	p := queryPrinter{q}
	text := p.node(q.Node)
	if q.Emit != "" {
		text += " emit " + string(q.Emit)
	}
	if q.Limit != nil {
		text += fmt.Sprintf(" Limit=%d", *q.Limit)
	}
	return text
}

type queryPrinter struct{ q *ast.Query }

func (p queryPrinter) node(n tidb.Node) string {
	switch n := n.(type) {
	case *tidb.SelectStmt:
		return p.selectStatement(n)
	case *tidb.SetOprStmt:
		text := p.with(n.With) + p.selectList(n.SelectList)
		return text + p.tail(n.OrderBy, n.Limit)
	case *tidb.SetOprSelectList:
		return p.selectList(n)
	case *tidb.SubqueryExpr:
		return "{" + p.node(n.Query) + "}"
	}
	return fmt.Sprintf("?%T", n)
}

func (p queryPrinter) selectList(list *tidb.SetOprSelectList) string {
	text := ""
	for i, s := range list.Selects {
		operator := ""
		switch s := s.(type) {
		case *tidb.SelectStmt:
			if s.AfterSetOperator != nil {
				operator = s.AfterSetOperator.String()
			}
		case *tidb.SetOprSelectList:
			if s.AfterSetOperator != nil {
				operator = s.AfterSetOperator.String()
			}
		}
		if i > 0 {
			text += " " + operator + " "
		}
		text += "<" + p.node(s) + ">"
	}
	return text
}

func (p queryPrinter) with(w *tidb.WithClause) string {
	text := ""
	if w != nil {
		for _, table := range w.CTEs {
			text += "with " + table.Name.O
			for _, column := range table.ColNameList {
				text += "." + column.O
			}
			text += " " + p.node(table.Query) + " "
		}
	}
	return text
}

func (p queryPrinter) selectStatement(s *tidb.SelectStmt) string {
	text := p.with(s.With) + "select"
	if s.Distinct {
		text += " distinct"
	}
	for _, field := range s.Fields.Fields {
		if field.WildCard != nil {
			text += " " + field.WildCard.Table.O + ".*"
			continue
		}
		text += " " + p.expression(field.Expr)
		if field.AsName.O != "" {
			text += ":" + field.AsName.O
		}
	}
	if s.From != nil {
		text += " from " + p.relation(s.From.TableRefs)
	}
	block := p.q.Blocks[s]
	if block != nil && block.Window != nil {
		text += " (" + strings.TrimSpace(printFields(reflect.ValueOf(*block.Window))) + ")"
	}
	if s.Where != nil {
		text += " where " + p.expression(s.Where)
	}
	if s.GroupBy != nil {
		text += " group" + p.items(s.GroupBy.Items)
	}
	if block != nil && block.PartitionBy != nil {
		text += " partition " + p.expressions(block.PartitionBy)
	}
	if s.Having != nil {
		text += " having " + p.expression(s.Having.Expr)
	}
	for i := range s.WindowSpecs {
		text += " " + p.specification(&s.WindowSpecs[i])
	}
	return text + p.tail(s.OrderBy, s.Limit)
}

func (p queryPrinter) tail(orderBy *tidb.OrderByClause, limit *tidb.Limit) string {
	text := ""
	if orderBy != nil {
		text += " order" + p.items(orderBy.Items)
	}
	if limit != nil {
		text += " limit " + p.expression(limit.Count)
		if limit.Offset != nil {
			text += " offset " + p.expression(limit.Offset)
		}
	}
	return text
}

func (p queryPrinter) relation(n tidb.ResultSetNode) string {
	switch n := n.(type) {
	case *tidb.TableSource:
		text := ""
		if table, ok := n.Source.(*tidb.TableName); ok {
			text = table.Schema.O + table.Name.O
		} else {
			text = "{" + p.node(n.Source) + "}"
		}
		if n.AsName.O != "" {
			text += ":" + n.AsName.O
		}
		return text
	case *tidb.Join:
		if n.Right == nil {
			return p.relation(n.Left)
		}
		join := p.q.Joins[n]
		text := "(" + string(join.Kind) + " " + p.relation(n.Left) + " " + p.relation(n.Right)
		if join.Before != nil {
			text += fmt.Sprintf(" within %s %s, %s %s", join.Before.Number, join.Before.Unit, join.After.Number,
				join.After.Unit)
		}
		if join.Grace != nil {
			text += " grace " + join.Grace.Number + " " + join.Grace.Unit
		}
		return text + " on " + p.expression(n.On.Expr) + ")"
	}
	return fmt.Sprintf("?%T", n)
}

func (p queryPrinter) items(items []*tidb.ByItem) string {
	text := ""
	for _, item := range items {
		text += " " + p.expression(item.Expr)
		if item.Desc {
			text += " desc"
		}
	}
	return text
}

func (p queryPrinter) specification(s *tidb.WindowSpec) string {
	text := "[" + s.Name.O + s.Ref.O
	if s.PartitionBy != nil {
		text += " partition" + p.items(s.PartitionBy.Items)
	}
	if s.OrderBy != nil {
		text += " order" + p.items(s.OrderBy.Items)
	}
	if s.Frame != nil {
		text += fmt.Sprintf(" frame %d", s.Frame.Type)
		for _, bound := range []tidb.FrameBound{s.Frame.Extent.Start, s.Frame.Extent.End} {
			text += fmt.Sprintf(" (%d %v", bound.Type, bound.UnBounded)
			if bound.Expr != nil {
				text += " " + p.expression(bound.Expr)
			}
			text += ")"
		}
	}
	return text + "]"
}
