package expr

import "millrace/sql/types"

// Arithmetic is + - * / or % of two operands, which are INTEGER or BIGINT each
// for a result of these types, DOUBLE for a DOUBLE, DECIMAL of any scale for a
// DECIMAL, and STRING for a STRING.
type Arithmetic struct {
	Op          byte
	Left, Right Expr
	T           *types.Type
}

// NewArithmetic is l op r for op + - * / %. INTEGER with INTEGER wraps at 32
// bits and divides without a remainder; with BIGINT the result is BIGINT, with
// DOUBLE it is DOUBLE, and with DECIMAL as types.DecimalResult says. The + of
// two STRINGs joins them, a null as the text null.
func NewArithmetic(op string, l, r Expr) (Expr, error) {
	if len(op) != 1 || !isArithmetic(op[0]) {
		return nil, types.Errorf(types.CodeType, "unknown arithmetic operator %s", op)
	}
	l, r = adoptNull(l, r)
	a, b := l.Type(), r.Type()
	n := &Arithmetic{Op: op[0], Left: l, Right: r}
	switch {
	case a.Kind == types.KindString && b.Kind == types.KindString && op == "+":
		n.T = types.String
	case !a.Numeric() || !b.Numeric():
		return nil, operandError(op, a, b)
	case a.Kind == types.KindDouble || b.Kind == types.KindDouble:
		n.T = types.Double
		n.Left, n.Right = implicit(l, types.Double), implicit(r, types.Double)
	case a.Kind == types.KindDecimal || b.Kind == types.KindDecimal:
		n.Left, n.Right = implicit(l, types.AsDecimal(a)), implicit(r, types.AsDecimal(b))
		n.T = types.DecimalResult(n.Op, n.Left.Type(), n.Right.Type())
	case a.Kind == types.KindBigint || b.Kind == types.KindBigint:
		n.T = types.Bigint
	default:
		n.T = types.Integer
	}
	return n, nil
}

func isArithmetic(op byte) bool {
	return op == '+' || op == '-' || op == '*' || op == '/' || op == '%'
}

// adoptNull gives a bare NULL operand the type of the other one.
func adoptNull(l, r Expr) (Expr, Expr) {
	if bareNull(l) {
		l = typedNull(r.Type())
	}
	if bareNull(r) {
		r = typedNull(l.Type())
	}
	return l, r
}

func operandError(op string, a, b *types.Type) error {
	err := types.Errorf(types.CodeType, "%s does not take %s and %s", op, a, b)
	switch {
	case op == "||" && (a.Numeric() || b.Numeric()):
		return err.WithHint("CAST the number to STRING")
	case a.Kind == types.KindString && b.Numeric():
		return err.WithHint("CAST the STRING to %s", b)
	case a.Numeric() && b.Kind == types.KindString:
		return err.WithHint("CAST the STRING to %s, or the number to STRING", a)
	case a.Temporal() || b.Temporal():
		return err.WithHint("use DATEADD, TIMEADD or TIMESTAMPADD")
	}
	return err
}

// Type is the type of the result.
func (n *Arithmetic) Type() *types.Type { return n.T }

func (n *Arithmetic) String() string {
	p := n.precedence()
	return operand(n.Left, p) + " " + string(n.Op) + " " + operand(n.Right, p+1)
}

func (n *Arithmetic) children() []Expr { return []Expr{n.Left, n.Right} }

func (n *Arithmetic) replace(c []Expr) Expr {
	return &Arithmetic{Op: n.Op, Left: c[0], Right: c[1], T: n.T}
}

func (n *Arithmetic) same(other Expr) bool {
	o, ok := other.(*Arithmetic)
	return ok && o.Op == n.Op
}

func (n *Arithmetic) precedence() int {
	if n.Op == '+' || n.Op == '-' {
		return precedenceAdd
	}
	return precedenceMultiply
}

// Negate is the unary minus.
type Negate struct{ X Expr }

// NewNegate is -x of a number. The least INTEGER and BIGINT stay as they are.
func NewNegate(x Expr) (Expr, error) {
	if !x.Type().Numeric() {
		return nil, types.Errorf(types.CodeType, "- does not take %s", x.Type())
	}
	return &Negate{X: x}, nil
}

// Type is the operand's type.
func (n *Negate) Type() *types.Type { return n.X.Type() }

func (n *Negate) String() string { return "-" + operand(n.X, precedencePostfix) }

func (n *Negate) children() []Expr { return []Expr{n.X} }

func (n *Negate) replace(c []Expr) Expr { return &Negate{X: c[0]} }

func (n *Negate) same(other Expr) bool { _, ok := other.(*Negate); return ok }

func (n *Negate) precedence() int { return precedenceUnary }
