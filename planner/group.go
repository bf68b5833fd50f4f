package planner

import (
	"strconv"
	"strings"

	"millrace/exec/expr"
	"millrace/exec/fn"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// aggregateCall is one aggregate function of a SELECT, each once however often
// it is written.
type aggregateCall struct {
	function  string
	distinct  bool // equal arguments count once
	arguments []expr.Expr
	constants []expr.Expr
	filter    expr.Expr // of FILTER; nil where there is none
	result    *types.Type
	text      string
}

func (s *selection) analyseGroups() error {
	if s.statement.GroupBy == nil {
		return nil
	}
	nodes := make([]tidb.ExprNode, len(s.statement.GroupBy.Items))
	for i, it := range s.statement.GroupBy.Items {
		nodes[i] = it.Expr
	}
	b := s.binder("GROUP BY")
	for _, n := range unwrapRow(nodes) {
		e, err := b.bind(n)
		if err != nil {
			return err
		}
		if e.Type().Kind == types.KindNull {
			return types.Errorf(types.CodeType, "NULL cannot be a group").At(b.at(n))
		}
		if err := checkKeyType(e, "GROUP BY", b.at(n)); err != nil {
			return err
		}
		for _, other := range s.groups {
			if expr.Equal(e, other) {
				return types.Errorf(types.CodeStatement, "%s stands twice in GROUP BY", e).At(b.at(n))
			}
		}
		s.groups = append(s.groups, e)
	}
	for _, in := range s.scope.inputs {
		if in.source.ValueFormat.Name == "KAFKA" {
			return types.Errorf(types.CodeStatement, "GROUP BY cannot read %s, whose value format is KAFKA", in.source.Name).
				At(s.at()).WithHint("copy it into another format with CREATE STREAM .. WITH(VALUE_FORMAT='JSON') AS SELECT first")
		}
	}
	return nil
}

// bindAggregate binds a call of an aggregate function in SELECT or HAVING, with
// the condition of its FILTER or nil, to the result of its state.
func (s *selection) bindAggregate(n *tidb.FuncCallExpr, filter tidb.ExprNode) (expr.Expr, error) {
	call, err := s.aggregateArguments(n)
	if err != nil {
		return nil, err
	}
	if filter != nil {
		if call.filter, err = s.condition(s.binder("FILTER"), filter); err != nil {
			return nil, err
		}
		call.text += " FILTER (WHERE " + call.filter.String() + ")"
	}
	function, _ := fn.FindAggregate(call.function)
	if function.LimitProperty != "" {
		if call.constants, err = s.limit(function.LimitProperty); err != nil {
			return nil, err
		}
	}
	inputs := make([]*types.Type, len(call.arguments))
	for i, e := range call.arguments {
		inputs[i] = e.Type()
	}
	constants := make([]any, len(call.constants))
	for i, c := range call.constants {
		constants[i] = c.(*expr.Literal).Value
	}
	signature, err := fn.ResolveAggregate(call.function, inputs, constants, fn.StreamUse)
	if err != nil {
		return nil, err
	}
	call.result = signature.Result
	if signature.NestedState {
		if err := s.checkStateFormat(call.text); err != nil {
			return nil, err
		}
	}
	at := s.addCall(call)
	id := s.scope.add(ref{kind: aggregateRef, name: call.text, t: call.result, at: at})
	return expr.NewColumn(id, call.text, call.result), nil
}

// aggregateArguments binds the arguments of a call and takes off those that
// must be literals.
func (s *selection) aggregateArguments(n *tidb.FuncCallExpr) (aggregateCall, error) {
	call := aggregateCall{function: strings.ToUpper(n.FnName.O)}
	b := s.binder("the arguments of " + call.function)
	arguments := n.Args
	if len(arguments) == 1 {
		form, ok := arguments[0].(*ast.Form)
		switch {
		case ok && form.Kind == ast.StarForm:
			arguments = nil
		case ok && form.Kind == ast.DistinctForm:
			arguments = form.Args
			if err := call.setDistinct(len(arguments)); err != nil {
				return call, err
			}
		}
	}
	for _, arg := range arguments {
		e, err := b.bind(arg)
		if err != nil {
			return call, err
		}
		call.arguments = append(call.arguments, e)
	}
	call.text = callText(call)
	function, _ := fn.FindAggregate(call.function)
	columns := len(call.arguments) - function.Literals(len(call.arguments))
	for i, e := range call.arguments[columns:] {
		if _, ok := e.(*expr.Literal); !ok {
			return call, types.Errorf(types.CodeType, "argument %d of %s must be a literal, not %s", columns+i+1, call.function, e).
				At(b.at(arguments[columns+i]))
		}
		call.constants = append(call.constants, e)
	}
	call.arguments = call.arguments[:columns]
	return call, nil
}

// setDistinct makes the call one with DISTINCT in front of n arguments.
func (c *aggregateCall) setDistinct(n int) error {
	if c.function == "COUNT" && n > 1 {
		return types.Errorf(types.CodeType, "COUNT(DISTINCT ..) takes one argument").
			WithHint("count structs: COUNT(DISTINCT STRUCT(a := .., b := ..))")
	}
	function, _ := fn.FindAggregate(c.function)
	var err error
	c.function, c.distinct, err = function.Distinct()
	return err
}

// limit is the constant that a property gives to an aggregate, none if the
// property is not set.
func (s *selection) limit(property string) ([]expr.Expr, error) {
	text, ok := s.planner.Catalog.Property(property)
	if !ok {
		return nil, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return nil, types.Errorf(types.CodeProperty, "property %s must be a whole number, not '%s'", property, text).
			At(s.at()).WithHint("a negative number means no limit")
	}
	return []expr.Expr{expr.NewLiteral(n, types.Integer)}, nil
}

// checkStateFormat refuses an aggregate whose state ksqlDB cannot write in the
// value format of the source.
func (s *selection) checkStateFormat(call string) error {
	source := s.scope.inputs[0].source
	state := []catalog.Column{{Name: "STATE", Type: types.ArrayOf(types.Bigint)}}
	if s.planner.Formats.Check(source.ValueFormat, false, state) == nil {
		return nil
	}
	return types.Errorf(types.CodeType, "%s keeps a state that the value format %s of %s cannot hold",
		call, source.ValueFormat.Name, source.Name).
		WithHint("copy %s into another format with CREATE STREAM .. WITH(VALUE_FORMAT='JSON') AS SELECT first", source.Name)
}

func (s *selection) addCall(call aggregateCall) int {
	for i, other := range s.calls {
		if other.text == call.text {
			return i
		}
	}
	s.calls = append(s.calls, call)
	return len(s.calls) - 1
}

func callText(call aggregateCall) string {
	if len(call.arguments) == 0 {
		return call.function + "(*)"
	}
	text := call.function + "("
	if call.distinct {
		text += "DISTINCT "
	}
	for i, e := range call.arguments {
		if i > 0 {
			text += ", "
		}
		text += e.String()
	}
	return text + ")"
}

func (s *selection) analyseHaving() error {
	if s.statement.Having == nil {
		return nil
	}
	b := s.binder("HAVING")
	b.aggregate = s.bindAggregate
	var err error
	s.having, err = s.condition(b, s.statement.Having.Expr)
	return err
}

// checkAggregation holds the rules of GROUP BY and replaces the groups'
// expressions in SELECT and HAVING by their values.
func (s *selection) checkAggregation() error {
	if len(s.groups) == 0 {
		if len(s.calls) > 0 {
			return types.Errorf(types.CodeStatement, "aggregate %s needs GROUP BY", s.calls[0].text).At(s.at())
		}
		if s.having != nil {
			return types.Errorf(types.CodeStatement, "HAVING needs GROUP BY").At(s.at()).WithHint("use WHERE")
		}
		return nil
	}
	if len(s.calls) == 0 {
		return types.Errorf(types.CodeStatement, "GROUP BY needs an aggregate function in SELECT or HAVING").At(s.at()).
			WithHint("add one such as COUNT(*)")
	}
	for i, it := range s.items {
		e, err := s.overGroups(it.expr, it.position)
		if err != nil {
			return err
		}
		s.items[i].expr = e
	}
	if s.having == nil {
		return nil
	}
	having, err := s.overGroups(s.having, s.query.PositionOf(s.statement.Having.Expr))
	s.having = having
	return err
}

// overGroups rewrites an expression over input columns into one over groups,
// aggregates and window bounds.
func (s *selection) overGroups(e expr.Expr, at types.Position) (expr.Expr, error) {
	e = expr.Rewrite(e, func(e expr.Expr) (expr.Expr, bool) {
		for i, group := range s.groups {
			if expr.Equal(e, group) {
				id := s.scope.add(ref{kind: groupRef, name: group.String(), t: group.Type(), at: i})
				return expr.NewColumn(id, group.String(), group.Type()), true
			}
		}
		return nil, false
	})
	window, aggregate := false, false
	for _, id := range expr.ColumnsOf(e) {
		switch r := s.scope.refs[id]; r.kind {
		case keyRef, valueRef, headerRef, pseudoRef:
			return nil, types.Errorf(types.CodeStatement, "column %s is neither in GROUP BY nor inside an aggregate function", r.name).
				At(at).WithHint("add it to GROUP BY, or wrap it in an aggregate such as LATEST_BY_OFFSET")
		case windowRef:
			window = true
		case aggregateRef:
			aggregate = true
		}
	}
	if window && aggregate {
		return nil, types.Errorf(types.CodeStatement, "WINDOWSTART and WINDOWEND cannot stand in one expression with an aggregate").At(at)
	}
	return e, nil
}
