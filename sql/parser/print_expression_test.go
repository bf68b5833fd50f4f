package parser

import (
	"fmt"
	"strings"

	"millrace/sql/ast"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

var operators = map[opcode.Op]string{
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.Div: "/", opcode.Mod: "%",
	opcode.EQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.LE: "<=", opcode.GT: ">", opcode.GE: ">=",
	opcode.LogicAnd: "AND", opcode.LogicOr: "OR", opcode.Not: "NOT", opcode.Not2: "NOT",
}

func (p queryPrinter) expressions(list []tidb.ExprNode) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = p.expression(e)
	}
	return strings.Join(parts, " ")
}

func (p queryPrinter) expression(e tidb.ExprNode) string {
	switch e := e.(type) {
	case *ast.Literal:
		return e.String()
	case *ast.Form:
		return p.form(e)
	case *tidb.ColumnNameExpr:
		if e.Name.Table.O != "" {
			return e.Name.Table.O + "." + e.Name.Name.O
		}
		return e.Name.Name.O
	case *tidb.UnaryOperationExpr:
		return "(" + operators[e.Op] + " " + p.expression(e.V) + ")"
	case *tidb.BinaryOperationExpr:
		return "(" + operators[e.Op] + " " + p.expressions([]tidb.ExprNode{e.L, e.R}) + ")"
	case *tidb.FuncCallExpr:
		return p.call(e.FnName.O, e.Args)
	case *tidb.WindowFuncExpr:
		return "(over " + p.call(e.Name, e.Args) + " " + p.specification(&e.Spec) + ")"
	case *tidb.CaseExpr:
		return p.caseExpression(e)
	case *tidb.PositionExpr:
		return fmt.Sprintf("#%d", e.N)
	case *tidb.SubqueryExpr:
		return "{" + p.node(e.Query) + "}"
	}
	return p.predicate(e)
}

func (p queryPrinter) predicate(e tidb.ExprNode) string {
	switch e := e.(type) {
	case *tidb.IsNullExpr:
		return negated(e.Not, "(isnull "+p.expression(e.Expr)+")")
	case *tidb.IsTruthExpr:
		return negated(e.Not, fmt.Sprintf("(is%v %s)", e.True != 0, p.expression(e.Expr)))
	case *tidb.BetweenExpr:
		return negated(e.Not, "(between "+p.expressions([]tidb.ExprNode{e.Expr, e.Left, e.Right})+")")
	case *tidb.PatternInExpr:
		if e.Sel != nil {
			return negated(e.Not, "(in "+p.expression(e.Expr)+" "+p.expression(e.Sel)+")")
		}
		return negated(e.Not, "(in "+p.expression(e.Expr)+" "+p.expressions(e.List)+")")
	case *tidb.PatternLikeOrIlikeExpr:
		text := "(like " + p.expression(e.Expr) + " " + p.expression(e.Pattern)
		if e.EscapeExplicit {
			text += fmt.Sprintf(" escape %q", e.Escape)
		}
		return negated(e.Not, text+")")
	case *tidb.ExistsSubqueryExpr:
		return negated(e.Not, "(exists "+p.expression(e.Sel)+")")
	}
	return fmt.Sprintf("?%T", e)
}

func negated(not bool, text string) string {
	if not {
		return "(NOT " + text + ")"
	}
	return text
}

func (p queryPrinter) call(name string, args []tidb.ExprNode) string {
	return strings.TrimSuffix("("+name+"() "+p.expressions(args), " ") + ")"
}

func (p queryPrinter) caseExpression(e *tidb.CaseExpr) string {
	text := "(case"
	if e.Value != nil {
		text += " " + p.expression(e.Value)
	}
	for _, when := range e.WhenClauses {
		text += " [" + p.expression(when.Expr) + " " + p.expression(when.Result) + "]"
	}
	if e.ElseClause != nil {
		text += " else " + p.expression(e.ElseClause)
	}
	return text + ")"
}

var formNames = [...]string{
	ast.FieldForm: "->", ast.AllFieldsForm: "->*", ast.SubscriptForm: "[]", ast.ArrayForm: "array", ast.MapForm: "map",
	ast.StructForm: "struct", ast.LambdaForm: "lambda", ast.CastForm: "cast", ast.ZoneForm: "zone",
	ast.TypedForm: "typed", ast.IntervalForm: "interval", ast.DistinctForm: "distinct", ast.StarForm: "star",
	ast.FilterForm: "filter", ast.IsDistinctForm: "isdistinct", ast.ConcatForm: "||", ast.RowForm: "row",
}

func (p queryPrinter) form(f *ast.Form) string {
	parts := []string{formNames[f.Kind]}
	for _, name := range f.Names {
		parts = append(parts, "'"+name+"'")
	}
	for _, arg := range f.Args {
		parts = append(parts, p.expression(arg))
	}
	if f.Type != nil {
		parts = append(parts, printType(f.Type))
	}
	return "(" + strings.Join(parts, " ") + ")"
}
