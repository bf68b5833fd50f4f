package expr

import (
	"strings"

	"millrace/sql/types"
)

// Between is Low <= X and X <= High, three-valued.
type Between struct {
	X, Low, High Expr
	Not          bool
}

// NewBetween is x [NOT] BETWEEN low AND high, bounds included; the types are
// those that NewCompare takes.
func NewBetween(x, low, high Expr, not bool) (Expr, error) {
	for _, bound := range []*Expr{&low, &high} {
		if isNull(*bound) {
			*bound = typedNull(x.Type())
			continue
		}
		left, right, err := comparable("BETWEEN", true, x, *bound)
		if err != nil {
			return nil, err
		}
		// A conversion of x itself must hold for both bounds, so that x is
		// evaluated once.
		x, *bound = left, right
	}
	low, high = alignBound(x, low), alignBound(x, high)
	return &Between{X: x, Low: low, High: high, Not: not}, nil
}

func alignBound(x, bound Expr) Expr {
	if _, right, err := comparable("BETWEEN", true, x, bound); err == nil {
		return right
	}
	return bound
}

// Type is BOOLEAN.
func (n *Between) Type() *types.Type { return types.Boolean }

func (n *Between) String() string {
	return operand(n.X, precedenceConcat) + notText(n.Not) + " BETWEEN " +
		operand(n.Low, precedenceConcat) + " AND " + operand(n.High, precedenceConcat)
}

func notText(not bool) string {
	if not {
		return " NOT"
	}
	return ""
}

func (n *Between) children() []Expr { return []Expr{n.X, n.Low, n.High} }

func (n *Between) replace(c []Expr) Expr {
	return &Between{X: c[0], Low: c[1], High: c[2], Not: n.Not}
}

func (n *Between) same(other Expr) bool {
	o, ok := other.(*Between)
	return ok && o.Not == n.Not
}

func (n *Between) precedence() int { return precedenceCompare }

// In tells whether X equals one of the List, which has X's type. It is NULL if
// X is NULL, or if no element is equal and one is NULL.
type In struct {
	X    Expr
	List []Expr
	Not  bool
}

// NewIn is x [NOT] IN (list). All take one common type: text literals become
// numbers or BOOLEANs when they are such, numbers widen.
func NewIn(x Expr, list []Expr, not bool) (Expr, error) {
	if len(list) == 0 {
		return nil, types.Errorf(types.CodeType, "IN needs at least one value")
	}
	all := append([]Expr{x}, list...)
	common, err := unify("IN", all)
	if err != nil {
		return nil, err
	}
	if common.Kind == types.KindNull {
		return nil, types.Errorf(types.CodeType, "IN needs a value that is not NULL")
	}
	return &In{X: all[0], List: all[1:], Not: not}, nil
}

// Type is BOOLEAN.
func (n *In) Type() *types.Type { return types.Boolean }

func (n *In) String() string {
	return operand(n.X, precedenceConcat) + notText(n.Not) + " IN (" + listText(n.List) + ")"
}

func listText(list []Expr) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = e.String()
	}
	return strings.Join(texts, ", ")
}

func (n *In) children() []Expr { return append([]Expr{n.X}, n.List...) }

func (n *In) replace(c []Expr) Expr { return &In{X: c[0], List: c[1:], Not: n.Not} }

func (n *In) same(other Expr) bool {
	o, ok := other.(*In)
	return ok && o.Not == n.Not
}

func (n *In) precedence() int { return precedenceCompare }

// Like matches a STRING against a pattern in which % stands for any text and _
// for one character other than a line end.
type Like struct {
	X, Pattern Expr
	Escape     rune // makes the character behind it stand for itself; 0: none
	Not        bool
}

// NewLike is x [NOT] LIKE pattern [ESCAPE escape].
func NewLike(x, pattern Expr, escape rune, not bool) (Expr, error) {
	operands := []*Expr{&x, &pattern}
	for _, e := range operands {
		if isNull(*e) {
			*e = typedNull(types.String)
		}
		if (*e).Type().Kind != types.KindString {
			return nil, types.Errorf(types.CodeType, "LIKE needs STRING, not %s", (*e).Type()).
				WithHint("CAST the value to STRING")
		}
	}
	return &Like{X: x, Pattern: pattern, Escape: escape, Not: not}, nil
}

// Type is BOOLEAN.
func (n *Like) Type() *types.Type { return types.Boolean }

func (n *Like) String() string {
	text := operand(n.X, precedenceConcat) + notText(n.Not) + " LIKE " + operand(n.Pattern, precedenceConcat)
	if n.Escape != 0 {
		text += " ESCAPE " + quoteText(string(n.Escape))
	}
	return text
}

func (n *Like) children() []Expr { return []Expr{n.X, n.Pattern} }

func (n *Like) replace(c []Expr) Expr {
	return &Like{X: c[0], Pattern: c[1], Escape: n.Escape, Not: n.Not}
}

func (n *Like) same(other Expr) bool {
	o, ok := other.(*Like)
	return ok && o.Escape == n.Escape && o.Not == n.Not
}

func (n *Like) precedence() int { return precedenceCompare }
