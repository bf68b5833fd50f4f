package expr

import "millrace/sql/types"

// Cast converts X to the type T.
type Cast struct {
	X        Expr
	T        *types.Type
	implicit bool // not written by the user, and not printed
}

// NewCast is CAST(x AS t). What converts to what:
//
//	any but BYTES    to STRING, and STRING to any scalar
//	numbers          to numbers
//	TIMESTAMP        to DATE, TIME; DATE to TIMESTAMP
//	ARRAY MAP STRUCT to the same, element by element, a STRUCT by field name
//
// Everything else is refused. A value that does not convert fails.
func NewCast(x Expr, t *types.Type) (Expr, error) {
	if isNull(x) {
		return typedNull(t), nil
	}
	if t.Kind == types.KindNull || !castable(x.Type(), t) {
		return nil, types.Errorf(types.CodeType, "CAST of %s to %s is not possible", x.Type(), t)
	}
	return &Cast{X: x, T: t}, nil
}

func castable(from, to *types.Type) bool {
	if from.Kind == types.KindNull {
		return true
	}
	switch to.Kind {
	case types.KindString:
		return from.Kind != types.KindBytes
	case types.KindBoolean, types.KindBytes:
		return from.Kind == to.Kind || from.Kind == types.KindString
	case types.KindInteger, types.KindBigint, types.KindDouble, types.KindDecimal:
		return from.Numeric() || from.Kind == types.KindString
	case types.KindDate, types.KindTime:
		return from.Kind == to.Kind || from.Kind == types.KindString || from.Kind == types.KindTimestamp
	case types.KindTimestamp:
		return from.Kind == to.Kind || from.Kind == types.KindString || from.Kind == types.KindDate
	}
	if from.Kind != to.Kind {
		return false
	}
	switch to.Kind {
	case types.KindArray:
		return castable(from.Elem, to.Elem)
	case types.KindMap:
		return castable(from.Key, to.Key) && castable(from.Elem, to.Elem)
	}
	for _, field := range to.Fields {
		if i := from.FieldIndex(field.Name); i >= 0 && !castable(from.Fields[i].Type, field.Type) {
			return false
		}
	}
	return true
}

// Coerce converts x to t where that needs no CAST: INTEGER, BIGINT, DECIMAL,
// DOUBLE widen in this order, a DECIMAL to one with no fewer digits on both
// sides of the point, NULL to everything.
func Coerce(x Expr, t *types.Type) (Expr, error) {
	if types.Widening(x.Type(), t) < 0 {
		return nil, types.Errorf(types.CodeType, "%s does not convert to %s", x.Type(), t).
			WithHint("use CAST(%s AS %s)", x, t)
	}
	return implicit(x, t), nil
}

// implicit converts x to t, to which it is known to be castable.
func implicit(x Expr, t *types.Type) Expr {
	if types.Equal(x.Type(), t) {
		return x
	}
	if isNull(x) {
		return typedNull(t)
	}
	if l, ok := x.(*Literal); ok {
		if folded, ok := foldLiteral(l, t); ok {
			return folded
		}
	}
	return &Cast{X: x, T: t, implicit: true}
}

// Type is the target type.
func (n *Cast) Type() *types.Type { return n.T }

func (n *Cast) String() string {
	if n.implicit {
		return n.X.String()
	}
	return n.explicit()
}

// explicit is the text with the CAST that an implicit conversion leaves out.
func (n *Cast) explicit() string { return "CAST(" + n.X.String() + " AS " + n.T.String() + ")" }

func (n *Cast) children() []Expr { return []Expr{n.X} }

func (n *Cast) replace(c []Expr) Expr { return &Cast{X: c[0], T: n.T, implicit: n.implicit} }

func (n *Cast) same(other Expr) bool { _, ok := other.(*Cast); return ok }

func (n *Cast) precedence() int {
	if n.implicit {
		return n.X.precedence()
	}
	return precedencePrimary
}
