package expr

import "millrace/sql/types"

// Logic is AND or OR, three-valued.
type Logic struct {
	Or          bool
	Left, Right Expr
}

// NewAnd is l AND r of two BOOLEANs.
func NewAnd(l, r Expr) (Expr, error) { return newLogic(false, l, r) }

// NewOr is l OR r of two BOOLEANs.
func NewOr(l, r Expr) (Expr, error) { return newLogic(true, l, r) }

func newLogic(or bool, l, r Expr) (Expr, error) {
	n := &Logic{Or: or}
	var err error
	if n.Left, err = boolean(n.word(), l); err != nil {
		return nil, err
	}
	if n.Right, err = boolean(n.word(), r); err != nil {
		return nil, err
	}
	return n, nil
}

// boolean checks an operand that must be BOOLEAN; NULL becomes one.
func boolean(word string, e Expr) (Expr, error) {
	switch e.Type().Kind {
	case types.KindBoolean:
		return e, nil
	case types.KindNull:
		return typedNull(types.Boolean), nil
	}
	return nil, types.Errorf(types.CodeType, "%s needs BOOLEAN, not %s", word, e.Type())
}

func (n *Logic) word() string {
	if n.Or {
		return "OR"
	}
	return "AND"
}

// Type is BOOLEAN.
func (n *Logic) Type() *types.Type { return types.Boolean }

func (n *Logic) String() string {
	p := n.precedence()
	return operand(n.Left, p) + " " + n.word() + " " + operand(n.Right, p)
}

func (n *Logic) children() []Expr { return []Expr{n.Left, n.Right} }

func (n *Logic) replace(c []Expr) Expr { return &Logic{Or: n.Or, Left: c[0], Right: c[1]} }

func (n *Logic) same(other Expr) bool {
	o, ok := other.(*Logic)
	return ok && o.Or == n.Or
}

func (n *Logic) precedence() int {
	if n.Or {
		return precedenceOr
	}
	return precedenceAnd
}

// Not is the negation; NOT NULL is NULL.
type Not struct{ X Expr }

// NewNot is NOT x of a BOOLEAN.
func NewNot(x Expr) (Expr, error) {
	x, err := boolean("NOT", x)
	if err != nil {
		return nil, err
	}
	return &Not{X: x}, nil
}

// Type is BOOLEAN.
func (n *Not) Type() *types.Type { return types.Boolean }

func (n *Not) String() string { return "NOT " + operand(n.X, precedenceNot) }

func (n *Not) children() []Expr { return []Expr{n.X} }

func (n *Not) replace(c []Expr) Expr { return &Not{X: c[0]} }

func (n *Not) same(other Expr) bool { _, ok := other.(*Not); return ok }

func (n *Not) precedence() int { return precedenceNot }

// IsNull is x IS NULL, or with Not x IS NOT NULL.
type IsNull struct {
	X   Expr
	Not bool
}

// NewIsNull is x IS [NOT] NULL for x of any type.
func NewIsNull(x Expr, not bool) (Expr, error) {
	if x.Type().Kind == types.KindNull {
		x = typedNull(types.Boolean)
	}
	return &IsNull{X: x, Not: not}, nil
}

// Type is BOOLEAN.
func (n *IsNull) Type() *types.Type { return types.Boolean }

func (n *IsNull) String() string {
	if n.Not {
		return operand(n.X, precedenceConcat) + " IS NOT NULL"
	}
	return operand(n.X, precedenceConcat) + " IS NULL"
}

func (n *IsNull) children() []Expr { return []Expr{n.X} }

func (n *IsNull) replace(c []Expr) Expr { return &IsNull{X: c[0], Not: n.Not} }

func (n *IsNull) same(other Expr) bool {
	o, ok := other.(*IsNull)
	return ok && o.Not == n.Not
}

func (n *IsNull) precedence() int { return precedenceCompare }
