package planner

import (
	"strings"

	"millrace/exec/expr"
	"millrace/exec/fn"
	"millrace/sql/ast"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// binder turns the parser's expressions into bound, typed ones.
type binder struct {
	planner *Planner
	query   *ast.Query
	scope   *scope
	// aggregate binds a call of an aggregate function, with the condition of its
	// FILTER or nil; nil where none may stand.
	aggregate func(call *tidb.FuncCallExpr, filter tidb.ExprNode) (expr.Expr, error)
	// table takes a bound call of a table function; nil where none may stand.
	table func(call expr.Expr) (expr.Expr, error)
	// where names the clause for messages.
	where string
	// lambdas are the parameters of the lambdas around the expression.
	lambdas []lambdaScope
	// function is the function whose body is bound; nil elsewhere.
	function *functionScope
}

type lambdaScope struct {
	names      []string
	parameters []expr.Expr
}

func (b *binder) at(n tidb.ExprNode) types.Position { return b.query.PositionOf(n) }

// bind binds an expression. Its error has the place of the part at fault.
func (b *binder) bind(n tidb.ExprNode) (expr.Expr, error) {
	e, err := b.bindNode(n)
	if err != nil {
		return nil, types.At(err, b.at(n))
	}
	return e, nil
}

func (b *binder) bindAll(nodes []tidb.ExprNode) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(nodes))
	for i, n := range nodes {
		e, err := b.bind(n)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func (b *binder) bindNode(n tidb.ExprNode) (expr.Expr, error) {
	switch n := n.(type) {
	case *ast.Literal:
		return literal(n.Value)
	case *tidb.ColumnNameExpr:
		return b.column(n)
	case *tidb.UnaryOperationExpr:
		return b.unary(n)
	case *tidb.BinaryOperationExpr:
		return b.binary(n)
	case *tidb.IsNullExpr:
		x, err := b.bind(n.Expr)
		if err != nil {
			return nil, err
		}
		return expr.NewIsNull(x, n.Not)
	case *tidb.BetweenExpr:
		operands, err := b.bindAll([]tidb.ExprNode{n.Expr, n.Left, n.Right})
		if err != nil {
			return nil, err
		}
		_, operands[1] = b.magicTimes(operands[0], operands[1])
		_, operands[2] = b.magicTimes(operands[0], operands[2])
		return expr.NewBetween(operands[0], operands[1], operands[2], n.Not)
	case *tidb.PatternInExpr:
		return b.in(n)
	case *tidb.PatternLikeOrIlikeExpr:
		return b.like(n)
	case *tidb.CaseExpr:
		return b.caseExpr(n)
	case *tidb.FuncCallExpr:
		return b.call(n)
	case *ast.Form:
		return b.form(n)
	}
	return nil, types.Unsupported(describeNode(n))
}

// describeNode names an expression that is parsed and not executed.
func describeNode(n tidb.ExprNode) string {
	switch n.(type) {
	case *tidb.SubqueryExpr, *tidb.ExistsSubqueryExpr:
		return "a sub-query in an expression"
	case *tidb.WindowFuncExpr:
		return "OVER"
	case *tidb.RowExpr:
		return "a list of values as an expression"
	case *tidb.IsTruthExpr:
		return "IS TRUE"
	}
	return "this expression"
}

func literal(value any) (expr.Expr, error) {
	switch v := value.(type) {
	case nil:
		return expr.NewLiteral(nil, types.Null), nil
	case bool:
		return expr.NewLiteral(v, types.Boolean), nil
	case int64:
		if v == int64(int32(v)) {
			return expr.NewLiteral(v, types.Integer), nil
		}
		return expr.NewLiteral(v, types.Bigint), nil
	case float64:
		return expr.NewLiteral(v, types.Double), nil
	case string:
		return expr.NewLiteral(v, types.String), nil
	case *ast.DecimalLiteral:
		return decimalLiteral(v)
	}
	return nil, types.Errorf(types.CodeValue, "number %v is out of range for BIGINT", value)
}

// typedLiteral is DATE '2020-01-31', TIME '10:15' or TIMESTAMP '2020-01-31T10:15'.
func typedLiteral(name, text string) (expr.Expr, error) {
	parsers := map[string]struct {
		t     *types.Type
		parse func(string) (int64, error)
	}{
		"DATE": {types.Date, types.ParseDate}, "TIME": {types.Time, types.ParseTime}, "TIMESTAMP": {types.Timestamp, types.ParseTimestamp},
	}
	p, ok := parsers[name]
	if !ok {
		return nil, types.Errorf(types.CodeSyntax, "%s '..' is no literal", name).WithHint("use CAST('..' AS %s)", name)
	}
	value, err := p.parse(text)
	if err != nil {
		return nil, types.Errorf(types.CodeValue, "'%s' is no %s: %v", text, name, err)
	}
	return expr.NewLiteral(value, p.t), nil
}

func decimalLiteral(v *ast.DecimalLiteral) (expr.Expr, error) {
	digits := len(strings.TrimLeft(v.Unscaled.String(), "-"))
	precision := max(digits, v.Scale+1)
	if precision > types.MaxPrecision {
		return nil, types.Errorf(types.CodeValue, "number %s has more than %d digits", v.Text, types.MaxPrecision)
	}
	d, err := types.DecimalFromBig(v.Unscaled)
	if err != nil {
		return nil, types.Errorf(types.CodeValue, "number %s: %v", v.Text, err)
	}
	return expr.NewLiteral(d, types.DecimalOf(precision, v.Scale)), nil
}

func (b *binder) column(n *tidb.ColumnNameExpr) (expr.Expr, error) {
	qualifier, name := n.Name.Table.O, n.Name.Name.O
	if qualifier == "" {
		for i := len(b.lambdas) - 1; i >= 0; i-- {
			for k, parameter := range b.lambdas[i].names {
				if parameter == name {
					return b.lambdas[i].parameters[k], nil
				}
			}
		}
	}
	if b.function != nil {
		return nil, b.function.unknown(name)
	}
	if len(b.scope.inputs) == 0 {
		return nil, types.Errorf(types.CodeName, "column %s cannot stand here: %s takes constants only", name, b.where)
	}
	r, err := b.scope.resolve(qualifier, name)
	if err != nil {
		return nil, err
	}
	if r.kind == windowRef && b.where != "SELECT" {
		return nil, types.Errorf(types.CodeName, "%s can stand only in SELECT, not in %s", name, b.where)
	}
	text := name
	if b.scope.join() && r.kind <= pseudoRef {
		text = b.scope.inputs[r.input].alias + "." + name
	}
	return expr.NewColumn(b.scope.add(r), text, r.t), nil
}

func (b *binder) unary(n *tidb.UnaryOperationExpr) (expr.Expr, error) {
	x, err := b.bind(n.V)
	if err != nil {
		return nil, err
	}
	switch n.Op {
	case opcode.Not, opcode.Not2:
		return expr.NewNot(x)
	case opcode.Minus:
		return expr.NewNegate(x)
	case opcode.Plus:
		if !x.Type().Numeric() {
			return nil, types.Errorf(types.CodeType, "+ needs a number, not %s", x.Type())
		}
		return x, nil
	}
	return nil, types.Unsupported("operator " + n.Op.String())
}

var comparisons = map[opcode.Op]string{
	opcode.EQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.LE: "<=", opcode.GT: ">", opcode.GE: ">=",
}

var arithmetic = map[opcode.Op]string{
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.Div: "/", opcode.Mod: "%",
}

func (b *binder) binary(n *tidb.BinaryOperationExpr) (expr.Expr, error) {
	// Chains of AND, OR and + lean to the left and can be very long: they are
	// walked in a loop, so that they cost no stack.
	chain := []*tidb.BinaryOperationExpr{n}
	for {
		left, ok := chain[len(chain)-1].L.(*tidb.BinaryOperationExpr)
		if !ok {
			break
		}
		chain = append(chain, left)
	}
	l, err := b.bind(chain[len(chain)-1].L)
	if err != nil {
		return nil, err
	}
	for i := len(chain) - 1; i >= 0; i-- {
		r, err := b.bind(chain[i].R)
		if err != nil {
			return nil, err
		}
		l, r = b.magicTimes(l, r)
		if l, err = combine(chain[i].Op, l, r); err != nil {
			return nil, types.At(err, b.at(chain[i]))
		}
	}
	return l, nil
}

func combine(op opcode.Op, l, r expr.Expr) (expr.Expr, error) {
	if text, ok := comparisons[op]; ok {
		return expr.NewCompare(text, l, r)
	}
	if text, ok := arithmetic[op]; ok {
		return expr.NewArithmetic(text, l, r)
	}
	switch op {
	case opcode.LogicAnd:
		return expr.NewAnd(l, r)
	case opcode.LogicOr:
		return expr.NewOr(l, r)
	}
	return nil, types.Unsupported("operator " + op.String())
}

func (b *binder) in(n *tidb.PatternInExpr) (expr.Expr, error) {
	if n.Sel != nil {
		return nil, types.Unsupported("IN (SELECT ..)")
	}
	x, err := b.bind(n.Expr)
	if err != nil {
		return nil, err
	}
	list, err := b.bindAll(n.List)
	if err != nil {
		return nil, err
	}
	return expr.NewIn(x, list, n.Not)
}

func (b *binder) like(n *tidb.PatternLikeOrIlikeExpr) (expr.Expr, error) {
	operands, err := b.bindAll([]tidb.ExprNode{n.Expr, n.Pattern})
	if err != nil {
		return nil, err
	}
	escape := rune(0)
	if n.EscapeExplicit {
		escape = rune(n.Escape)
	}
	return expr.NewLike(operands[0], operands[1], escape, n.Not)
}

func (b *binder) caseExpr(n *tidb.CaseExpr) (expr.Expr, error) {
	var operand, otherwise expr.Expr
	var err error
	if n.Value != nil {
		if operand, err = b.bind(n.Value); err != nil {
			return nil, err
		}
	}
	var whens, thens []expr.Expr
	for _, clause := range n.WhenClauses {
		pair, err := b.bindAll([]tidb.ExprNode{clause.Expr, clause.Result})
		if err != nil {
			return nil, err
		}
		whens, thens = append(whens, pair[0]), append(thens, pair[1])
	}
	if n.ElseClause != nil {
		if otherwise, err = b.bind(n.ElseClause); err != nil {
			return nil, err
		}
	}
	return expr.NewCase(operand, whens, thens, otherwise)
}

// unitFunctions take a time unit, which looks like a column, as first argument.
var unitFunctions = map[string]bool{
	"DATEADD": true, "DATESUB": true, "TIMEADD": true, "TIMESUB": true, "TIMESTAMPADD": true, "TIMESTAMPSUB": true,
}

func (b *binder) call(n *tidb.FuncCallExpr) (expr.Expr, error) {
	name := strings.ToUpper(n.FnName.O)
	if fn.IsAggregate(name) {
		return b.aggregateCall(n, nil)
	}
	arguments := make([]expr.Argument, len(n.Args))
	for i, arg := range n.Args {
		if form, ok := arg.(*ast.Form); ok && form.Kind == ast.LambdaForm {
			arguments[i] = expr.Argument{Lambda: b.lambda(form)}
			continue
		}
		if unit, ok := arg.(*tidb.ColumnNameExpr); ok && i == 0 && unitFunctions[name] && unit.Name.Table.O == "" {
			arguments[i] = expr.Argument{Expr: expr.NewLiteral(unit.Name.Name.O, types.String)}
			continue
		}
		e, err := b.bind(arg)
		if err != nil {
			return nil, err
		}
		arguments[i] = expr.Argument{Expr: e}
	}
	if f, ok := b.userFunction(name); ok {
		return b.inline(f, n.Args, arguments)
	}
	if err := b.misspelt(name); err != nil {
		return nil, err
	}
	if !fn.IsTable(name) {
		return expr.NewCall(name, arguments)
	}
	if b.table == nil {
		return nil, types.Errorf(types.CodeStatement, "table function %s cannot stand in %s", name, b.where)
	}
	call, err := expr.NewTableCall(name, arguments)
	if err != nil {
		return nil, err
	}
	return b.table(call)
}

func (b *binder) aggregateCall(n *tidb.FuncCallExpr, filter tidb.ExprNode) (expr.Expr, error) {
	if b.aggregate == nil {
		return nil, types.Errorf(types.CodeStatement, "aggregate function %s cannot stand in %s", strings.ToUpper(n.FnName.O), b.where)
	}
	return b.aggregate(n, filter)
}

// filtered binds a call with FILTER.
func (b *binder) filtered(n *ast.Form) (expr.Expr, error) {
	call, ok := n.Args[0].(*tidb.FuncCallExpr)
	if !ok || !fn.IsAggregate(call.FnName.O) {
		return nil, types.Errorf(types.CodeStatement, "FILTER can stand only behind a call of an aggregate function")
	}
	return b.aggregateCall(call, n.Args[1])
}

func (b *binder) lambda(form *ast.Form) *expr.LambdaSyntax {
	names := b.function.lambdaNames(form.Names)
	return &expr.LambdaSyntax{
		Parameters: names,
		Bind: func(kinds []*types.Type) (expr.Expr, error) {
			inner := *b
			parameters := make([]expr.Expr, len(kinds))
			for i, t := range kinds {
				parameters[i] = expr.NewParameter(names[i], t)
			}
			inner.lambdas = append(inner.lambdas[:len(inner.lambdas):len(inner.lambdas)],
				lambdaScope{names: form.Names, parameters: parameters})
			return inner.bind(form.Args[0])
		},
	}
}

func (b *binder) form(n *ast.Form) (expr.Expr, error) {
	switch n.Kind {
	case ast.MapForm:
		return b.mapForm(n)
	case ast.LambdaForm:
		return nil, types.Errorf(types.CodeSyntax, "a lambda can stand only as a function's argument")
	case ast.StarForm, ast.DistinctForm:
		return nil, types.Errorf(types.CodeSyntax, "* and DISTINCT can stand only in an aggregate function's arguments")
	case ast.FilterForm:
		return b.filtered(n)
	case ast.ZoneForm:
		return b.inZone(n)
	case ast.TypedForm:
		return typedLiteral(n.Names[0], n.Names[1])
	case ast.IntervalForm:
		return nil, types.Unsupported("INTERVAL")
	case ast.AllFieldsForm:
		return nil, types.Errorf(types.CodeSyntax, "->* can stand only as an item of SELECT")
	case ast.RowForm:
		return nil, types.Unsupported("a list of values as an expression")
	}
	args, err := b.bindAll(n.Args)
	if err != nil {
		return nil, err
	}
	switch n.Kind {
	case ast.FieldForm:
		return expr.NewField(args[0], n.Names[0])
	case ast.SubscriptForm:
		return expr.NewSubscript(args[0], args[1])
	case ast.ArrayForm:
		return expr.NewArray(args)
	case ast.StructForm:
		return expr.NewStruct(n.Names, args)
	case ast.CastForm:
		t, err := b.planner.ResolveType(n.Type)
		if err != nil {
			return nil, err
		}
		return expr.NewCast(args[0], t)
	case ast.IsDistinctForm:
		return expr.NewIsDistinct(args[0], args[1], false)
	default: // ConcatForm
		return expr.NewConcat(args[0], args[1])
	}
}

// inZone binds x AT TIME ZONE z. A TIMESTAMP is an instant, so this is the wall
// clock time that the zone's clocks show at it, as another TIMESTAMP: what
// CONVERT_TZ makes of a time in UTC.
func (b *binder) inZone(n *ast.Form) (expr.Expr, error) {
	args, err := b.bindAll(n.Args)
	if err != nil {
		return nil, err
	}
	instant, zone := args[0], args[1]
	if t := instant.Type(); t.Kind != types.KindTimestamp {
		err := types.Errorf(types.CodeType, "AT TIME ZONE needs a TIMESTAMP, not %s", t)
		switch t.Kind {
		case types.KindBigint:
			err = err.WithHint("use FROM_UNIXTIME for milliseconds since 1970")
		case types.KindString, types.KindDate:
			err = err.WithHint("use CAST(.. AS TIMESTAMP)")
		}
		return nil, err
	}
	if zone.Type().Kind != types.KindString {
		return nil, types.Errorf(types.CodeType, "a time zone is a STRING, not %s", zone.Type()).At(b.at(n.Args[1]))
	}
	if literal, ok := zone.(*expr.Literal); ok {
		if name, ok := literal.Value.(string); ok && !fn.IsZone(name) {
			return nil, types.Errorf(types.CodeValue, "there is no time zone '%s'", name).At(b.at(n.Args[1])).
				WithHint("zones are called like Europe/Berlin, UTC or +02:00")
		}
	}
	return expr.NewCall("CONVERT_TZ", []expr.Argument{
		{Expr: instant}, {Expr: expr.NewLiteral("UTC", types.String)}, {Expr: zone},
	})
}

func (b *binder) mapForm(n *ast.Form) (expr.Expr, error) {
	args, err := b.bindAll(n.Args)
	if err != nil {
		return nil, err
	}
	var keys, values []expr.Expr
	for i := 0; i < len(args); i += 2 {
		keys, values = append(keys, args[i]), append(values, args[i+1])
	}
	return expr.NewMap(keys, values)
}
