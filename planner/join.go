package planner

import (
	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// joinClause is a join of two inputs: left and right are the two sides of ON.
type joinClause struct {
	kind        plan.JoinKind
	left, right expr.Expr
	position    types.Position
}

func (s *selection) analyseJoin() error {
	node := s.statement.From.TableRefs
	if node.Right == nil {
		return nil
	}
	join := s.query.Joins[node]
	if join == nil || len(s.scope.inputs) > 2 {
		return types.Unsupported("a join of more than two sources").At(s.at())
	}
	if err := s.checkJoinKind(join); err != nil {
		return err
	}
	s.join = &joinClause{kind: plan.JoinKind(join.Kind), position: join.Position}
	return s.bindCondition(node.On.Expr)
}

func (s *selection) checkJoinKind(join *ast.Join) error {
	left, right := s.scope.inputs[0].source, s.scope.inputs[1].source
	for _, side := range []*catalog.Source{left, right} {
		if side.ValueFormat.Name == "KAFKA" {
			return types.Errorf(types.CodeStatement, "a join cannot read %s, whose value format is KAFKA", side.Name).At(join.Position)
		}
	}
	leftTable, rightTable := left.Kind == catalog.Table, right.Kind == catalog.Table
	switch {
	case left.Topic == right.Topic:
		// A query has one position in a partition.
		return types.Errorf(types.CodeStatement, "%s and %s cannot be joined: both read topic %s", left.Name, right.Name, left.Topic).
			At(join.Position).WithHint("copy one with CREATE STREAM .. AS SELECT or CREATE TABLE .. AS SELECT and join the copy")
	case !leftTable && !rightTable:
		if join.Before == nil {
			return types.Errorf(types.CodeStatement, "a join of two streams needs WITHIN").At(join.Position).
				WithHint("say how far apart in time two rows may be, such as WITHIN 1 HOUR")
		}
		return types.Unsupported("a join of two streams").At(join.Position)
	case leftTable && rightTable:
		return types.Unsupported("a join of two tables").At(join.Position)
	case leftTable:
		return types.Errorf(types.CodeStatement, "a table cannot be joined with a stream on its right").At(join.Position).
			WithHint("put the stream %s first", right.Name)
	case join.Before != nil:
		return types.Errorf(types.CodeStatement, "WITHIN is for joins of two streams; %s is a table", right.Name).At(join.Position)
	case join.Kind != ast.InnerJoin && join.Kind != ast.LeftJoin:
		return types.Errorf(types.CodeStatement, "a stream and a table can be joined INNER or LEFT, not %s", join.Kind).At(join.Position)
	case left.Window != nil:
		return types.Errorf(types.CodeStatement, "windowed stream %s cannot be joined with a table without windows", left.Name).At(join.Position)
	}
	return nil
}

// bindCondition binds ON: one equation, each side over one input.
func (s *selection) bindCondition(n tidb.ExprNode) error {
	at := s.query.PositionOf(n)
	equation, ok := n.(*tidb.BinaryOperationExpr)
	if !ok || equation.Op != opcode.EQ {
		return types.Errorf(types.CodeStatement, "ON must be one equation of the two sources").At(at).
			WithHint("move further conditions to WHERE")
	}
	b := s.binder("ON")
	left, err := b.bind(equation.L)
	if err != nil {
		return err
	}
	right, err := b.bind(equation.R)
	if err != nil {
		return err
	}
	leftInput, rightInput := s.onlyInput(left), s.onlyInput(right)
	if leftInput < 0 || rightInput < 0 || leftInput == rightInput {
		return types.Errorf(types.CodeStatement, "each side of ON must read exactly one source, and not the same").At(at)
	}
	if leftInput == 1 {
		left, right = right, left
	}
	if !types.Equal(left.Type(), right.Type()) {
		return types.Errorf(types.CodeType, "the sides of ON have different types: %s is %s, %s is %s", left, left.Type(), right, right.Type()).
			At(at).WithHint("CAST one of them")
	}
	table := s.scope.inputs[1].source
	if r, ok := s.plainColumn(right); !ok || r.kind != keyRef || len(table.Key) != 1 {
		return types.Errorf(types.CodeStatement, "a stream can be joined with table %s only on its primary key %s", table.Name, table.Key[0].Name).At(at)
	}
	s.join.left, s.join.right = left, right
	return nil
}

// onlyInput is the input that all columns of e belong to; -1 if there is none or several.
func (s *selection) onlyInput(e expr.Expr) int {
	found := -1
	for _, id := range expr.ColumnsOf(e) {
		r := s.scope.refs[id]
		if found >= 0 && r.input != found {
			return -1
		}
		found = r.input
	}
	return found
}

// plainColumn is the ref of an expression that is just a column.
func (s *selection) plainColumn(e expr.Expr) (ref, bool) {
	c, ok := e.(*expr.Column)
	if !ok {
		return ref{}, false
	}
	return s.scope.refs[c.Index], true
}
