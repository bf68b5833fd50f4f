package expr

import "millrace/sql/types"

// Operator is a comparison.
type Operator uint8

// The comparisons.
const (
	OperatorEqual Operator = iota
	OperatorNotEqual
	OperatorLess
	OperatorLessEqual
	OperatorGreater
	OperatorGreaterEqual
)

var operatorTexts = [...]string{"=", "<>", "<", "<=", ">", ">="}

func (o Operator) String() string { return operatorTexts[o] }

// mirror is the comparison with the operands exchanged.
func (o Operator) mirror() Operator {
	return [...]Operator{
		OperatorEqual, OperatorNotEqual,
		OperatorGreater, OperatorGreaterEqual, OperatorLess, OperatorLessEqual,
	}[o]
}

// ordered tells whether the comparison asks for more than equality.
func (o Operator) ordered() bool { return o >= OperatorLess }

func parseOperator(op string) (Operator, bool) {
	if op == "!=" {
		op = "<>"
	}
	for i, text := range operatorTexts {
		if text == op {
			return Operator(i), true
		}
	}
	return 0, false
}

// Compare is a comparison of two operands of one kind: INTEGER and BIGINT are
// one, and DECIMALs may differ in scale. Its value is BOOLEAN, NULL if an
// operand is NULL.
type Compare struct {
	Op          Operator
	Left, Right Expr
}

// NewCompare is l op r for op = <> (or !=) < <= > >=. Numbers compare with
// numbers, STRING with STRING, DATE, TIME and TIMESTAMP with themselves and
// with STRING, whose text is read, a DATE with a TIMESTAMP as its midnight in
// UTC; BYTES with BYTES; BOOLEAN, ARRAY, MAP and
// STRUCT only for equality. A NULL literal is refused.
func NewCompare(op string, l, r Expr) (Expr, error) {
	operator, ok := parseOperator(op)
	if !ok {
		return nil, types.Errorf(types.CodeType, "unknown comparison %s", op)
	}
	if bareNull(l) || bareNull(r) {
		return nil, types.Errorf(types.CodeType, "a comparison with NULL is never true").
			WithHint("use IS NULL or IS NOT NULL")
	}
	l, r, err := comparable(op, operator.ordered(), l, r)
	if err != nil {
		return nil, err
	}
	return &Compare{Op: operator, Left: l, Right: r}, nil
}

// comparable converts both sides to one kind.
func comparable(op string, ordered bool, l, r Expr) (Expr, Expr, error) {
	l, r = adoptNull(l, r)
	a, b := l.Type(), r.Type()
	switch {
	case ordered && (a.Nested() || a.Kind == types.KindBoolean):
		return nil, nil, types.Errorf(types.CodeType, "%s does not take %s and %s", op, a, b).
			WithHint("%s has no order, only = and <>", a.Kind)
	case types.Equal(a, b):
		return l, r, nil
	case a.Numeric() && b.Numeric():
		l, r = comparableNumbers(l, r)
		return l, r, nil
	case a.Kind == types.KindDate && b.Kind == types.KindTimestamp:
		return implicit(l, b), r, nil
	case a.Kind == types.KindTimestamp && b.Kind == types.KindDate:
		return l, implicit(r, a), nil
	case a.Temporal() && b.Kind == types.KindString:
		return l, implicit(r, a), nil
	case a.Kind == types.KindString && b.Temporal():
		return implicit(l, b), r, nil
	case a.Nested() && a.Kind == b.Kind:
		if common := types.Common(a, b); common != nil {
			return implicit(l, common), implicit(r, common), nil
		}
	}
	err := types.Errorf(types.CodeType, "%s does not compare %s with %s", op, a, b)
	if a.Kind == types.KindString || b.Kind == types.KindString {
		err = err.WithHint("CAST one side to the other's type")
	}
	return nil, nil, err
}

func comparableNumbers(l, r Expr) (Expr, Expr) {
	a, b := l.Type().Kind, r.Type().Kind
	switch {
	case a == types.KindDouble || b == types.KindDouble:
		return implicit(l, types.Double), implicit(r, types.Double)
	case a == types.KindDecimal || b == types.KindDecimal:
		return implicit(l, types.AsDecimal(l.Type())), implicit(r, types.AsDecimal(r.Type()))
	}
	return l, r
}

// Type is BOOLEAN.
func (n *Compare) Type() *types.Type { return types.Boolean }

func (n *Compare) String() string {
	return operand(n.Left, precedenceConcat) + " " + n.Op.String() + " " + operand(n.Right, precedenceConcat)
}

func (n *Compare) children() []Expr { return []Expr{n.Left, n.Right} }

func (n *Compare) replace(c []Expr) Expr { return &Compare{Op: n.Op, Left: c[0], Right: c[1]} }

func (n *Compare) same(other Expr) bool {
	o, ok := other.(*Compare)
	return ok && o.Op == n.Op
}

func (n *Compare) precedence() int { return precedenceCompare }

// IsDistinct is the null-safe inequality, or with Not the null-safe equality.
type IsDistinct struct {
	Left, Right Expr
	Not         bool
}

// NewIsDistinct is l IS [NOT] DISTINCT FROM r, which is never NULL.
func NewIsDistinct(l, r Expr, not bool) (Expr, error) {
	l, r, err := comparable("IS DISTINCT FROM", false, l, r)
	if err != nil {
		return nil, err
	}
	return &IsDistinct{Left: l, Right: r, Not: not}, nil
}

// Type is BOOLEAN.
func (n *IsDistinct) Type() *types.Type { return types.Boolean }

func (n *IsDistinct) String() string {
	op := " IS DISTINCT FROM "
	if n.Not {
		op = " IS NOT DISTINCT FROM "
	}
	return operand(n.Left, precedenceConcat) + op + operand(n.Right, precedenceConcat)
}

func (n *IsDistinct) children() []Expr { return []Expr{n.Left, n.Right} }

func (n *IsDistinct) replace(c []Expr) Expr {
	return &IsDistinct{Left: c[0], Right: c[1], Not: n.Not}
}

func (n *IsDistinct) same(other Expr) bool {
	o, ok := other.(*IsDistinct)
	return ok && o.Not == n.Not
}

func (n *IsDistinct) precedence() int { return precedenceCompare }
