package parser

import (
	"strconv"

	"millrace/sql/ast"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// raiser walks TiDB's tree, puts the dialect's forms in the place of markers, and
// fills the query's side tables.
type raiser struct {
	query  *ast.Query
	low    *lowering
	blocks map[int]*ast.Block // by the place of the first field in the lowered text
}

func newRaiser(query *ast.Query, low *lowering, lowered *loweredText) *raiser {
	r := &raiser{query: query, low: low, blocks: make(map[int]*ast.Block, len(low.blocks))}
	for _, b := range low.blocks {
		r.blocks[int(lowered.starts[b.first])] = b.block
	}
	return r
}

// complete tells whether every SELECT, join and table was found again.
func (r *raiser) complete() bool {
	return len(r.query.Blocks) == len(r.low.blocks) && len(r.query.Joins) == len(r.low.joins) &&
		len(r.query.Tables) == len(r.low.tables)
}

// Enter implements tidb.Visitor.
func (r *raiser) Enter(node tidb.Node) (tidb.Node, bool) {
	switch n := node.(type) {
	case *tidb.SelectStmt:
		r.enterSelect(n)
	case *tidb.Join:
		if n.On != nil && isMarker(n.On.Expr, markJoin) {
			marker := n.On.Expr.(*tidb.FuncCallExpr)
			r.query.Joins[n] = r.low.joins[number(marker.Args[0])]
			n.On.Expr = marker.Args[1]
		}
	case *tidb.TableName:
		if i, err := strconv.Atoi(n.Schema.O); err == nil && i < len(r.low.tables) {
			r.query.Tables[n] = r.low.tables[i]
			n.Schema = tidb.CIStr{}
		}
	case *tidb.UnaryOperationExpr:
		if literal := foldMinus(n); literal != nil {
			return literal, true
		}
	case *ast.Literal:
		r.resolveText(n)
	}
	return node, false
}

func (r *raiser) enterSelect(n *tidb.SelectStmt) {
	if n.Fields == nil || len(n.Fields.Fields) == 0 {
		return
	}
	block := r.blocks[n.Fields.Fields[0].Offset]
	if block == nil {
		return
	}
	r.query.Blocks[n] = block
	if n.GroupBy == nil {
		return
	}
	items := n.GroupBy.Items
	last := items[len(items)-1].Expr
	if !isMarker(last, markPartition) {
		return
	}
	for _, e := range last.(*tidb.FuncCallExpr).Args {
		raised, _ := e.Accept(r)
		block.PartitionBy = append(block.PartitionBy, raised.(tidb.ExprNode))
	}
	if n.GroupBy.Items = items[:len(items)-1]; len(items) == 1 {
		n.GroupBy = nil
	}
}

// resolveText puts the user's text in the place of its number.
func (r *raiser) resolveText(literal *ast.Literal) {
	if text, ok := literal.Value.(string); ok {
		if i, err := strconv.Atoi(text); err == nil && i < len(r.low.texts) {
			literal.Value = r.low.texts[i]
		}
	}
}

// Leave implements tidb.Visitor.
func (r *raiser) Leave(node tidb.Node) (tidb.Node, bool) {
	switch n := node.(type) {
	case *tidb.ParenthesesExpr:
		return n.Expr, true
	case *tidb.BinaryOperationExpr:
		if n.Op == opcode.Or {
			return newForm(n, ast.ConcatForm, nil, n.L, n.R), true
		}
	case *tidb.WindowFuncExpr:
		switch call := n.Args[0].(type) {
		case *tidb.FuncCallExpr:
			n.Name, n.Args = call.FnName.O, call.Args
		case *ast.Form:
			if filtered, ok := call.Args[0].(*tidb.FuncCallExpr); ok && call.Kind == ast.FilterForm {
				n.Name = filtered.FnName.O
			}
		}
	case *tidb.FuncCallExpr:
		if n.FnName.O[0] == '$' {
			return r.form(n), true
		}
	}
	return node, true
}

func isMarker(e tidb.ExprNode, marker string) bool {
	call, ok := e.(*tidb.FuncCallExpr)
	return ok && call.FnName.O == marker
}

// number and text read the arguments of markers, which the recogniser wrote.
func number(e tidb.ExprNode) int {
	n, _ := e.(*ast.Literal).Value.(int64)
	return int(n)
}

func text(e tidb.ExprNode) string { return e.(*ast.Literal).GetString() }

// foldMinus is the negative literal that a minus directly before a number means, or
// nil.
func foldMinus(n *tidb.UnaryOperationExpr) *ast.Literal {
	literal, ok := n.V.(*ast.Literal)
	if !ok || n.Op != opcode.Minus {
		return nil
	}
	switch value := literal.Value.(type) {
	case int64:
		literal.Value = -value
	case uint64:
		literal.Value = -int64(value)
	case float64:
		literal.Value = -value
	case *ast.DecimalLiteral:
		value.Unscaled.Neg(value.Unscaled)
		value.Text = "-" + value.Text
	default:
		return nil
	}
	literal.SetOriginTextPosition(n.OriginTextPosition())
	return literal
}

func newForm(at tidb.ExprNode, kind ast.FormKind, names []string, args ...tidb.ExprNode) *ast.Form {
	form := &ast.Form{Kind: kind, Names: names, Args: args}
	form.SetOriginTextPosition(at.OriginTextPosition())
	return form
}

// formsOfExpressions are the markers whose arguments are just the form's.
var formsOfExpressions = map[string]ast.FormKind{
	markAllFields:  ast.AllFieldsForm,
	markSubscript:  ast.SubscriptForm,
	markArray:      ast.ArrayForm,
	markMap:        ast.MapForm,
	markDistinct:   ast.DistinctForm,
	markStar:       ast.StarForm,
	markZone:       ast.ZoneForm,
	markFilter:     ast.FilterForm,
	markIsDistinct: ast.IsDistinctForm,
	markRow:        ast.RowForm,
}

// formsWithName are the markers of one expression and one text.
var formsWithName = map[string]ast.FormKind{
	markField:    ast.FieldForm,
	markInterval: ast.IntervalForm,
}

// form is what the marker call stands for.
func (r *raiser) form(call *tidb.FuncCallExpr) tidb.ExprNode {
	args := call.Args
	if kind, ok := formsOfExpressions[call.FnName.O]; ok {
		return newForm(call, kind, nil, args...)
	}
	if kind, ok := formsWithName[call.FnName.O]; ok {
		return newForm(call, kind, []string{text(args[1])}, args[0])
	}
	switch call.FnName.O {
	case markTyped:
		return newForm(call, ast.TypedForm, []string{text(args[0]), text(args[1])})
	case markCast:
		form := newForm(call, ast.CastForm, nil, args[0])
		form.Type = r.low.types[number(args[1])]
		return form
	case markStruct:
		form := newForm(call, ast.StructForm, nil)
		for i := 0; i < len(args); i += 2 {
			form.Names = append(form.Names, text(args[i]))
			form.Args = append(form.Args, args[i+1])
		}
		return form
	case markLambda:
		last := len(args) - 1
		form := newForm(call, ast.LambdaForm, nil, args[last])
		for _, parameter := range args[:last] {
			form.Names = append(form.Names, text(parameter))
		}
		return form
	}
	return call
}
