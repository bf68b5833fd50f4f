package expr

import (
	"strings"

	"millrace/sql/types"
)

// Case is CASE WHEN .. THEN .. ELSE .. END. A condition that is NULL does not
// match; only the branch that is taken is evaluated.
type Case struct {
	Whens, Thens []Expr
	Otherwise    Expr // of the same type as the branches; a NULL where there is no ELSE
	T            *types.Type
}

// NewCase is CASE [operand] WHEN .. THEN .. [ELSE ..] END. All branches must
// have one and the same type, and not all may be NULL.
func NewCase(operand Expr, whens, thens []Expr, otherwise Expr) (Expr, error) {
	if len(whens) == 0 || len(whens) != len(thens) {
		return nil, types.Errorf(types.CodeType, "CASE needs a THEN for each WHEN")
	}
	n := &Case{Whens: make([]Expr, len(whens)), Thens: make([]Expr, len(thens))}
	for i, when := range whens {
		var err error
		if operand != nil {
			when, err = caseEquals(operand, when)
		} else {
			when, err = boolean("WHEN", when)
		}
		if err != nil {
			return nil, err
		}
		n.Whens[i] = when
	}
	if otherwise == nil {
		otherwise = NewLiteral(nil, types.Null)
	}
	n.Otherwise = otherwise
	copy(n.Thens, thens)
	return n, n.unifyBranches()
}

func caseEquals(operand, when Expr) (Expr, error) {
	if isNull(when) {
		return typedNull(types.Boolean), nil
	}
	return NewCompare("=", operand, when)
}

func (n *Case) unifyBranches() error {
	n.T = types.Null
	branches := append(append([]Expr{}, n.Thens...), n.Otherwise)
	for _, branch := range branches {
		t := branch.Type()
		switch {
		case n.T.Kind == types.KindNull:
			n.T = t
		case t.Kind != types.KindNull && !types.Equal(t, n.T):
			return types.Errorf(types.CodeType, "the branches of CASE have different types, %s and %s", n.T, t).
				WithHint("CAST them to one type")
		}
	}
	if n.T.Kind == types.KindNull {
		return types.Errorf(types.CodeType, "all branches of CASE are NULL").WithHint("CAST one to a type")
	}
	for i := range branches {
		branches[i] = implicit(branches[i], n.T)
	}
	n.Thens, n.Otherwise = branches[:len(n.Thens)], branches[len(n.Thens)]
	return nil
}

// Type is the type of the branches.
func (n *Case) Type() *types.Type { return n.T }

func (n *Case) String() string {
	var b strings.Builder
	b.WriteString("CASE")
	for i, when := range n.Whens {
		b.WriteString(" WHEN " + when.String() + " THEN " + n.Thens[i].String())
	}
	if !isNull(n.Otherwise) {
		b.WriteString(" ELSE " + n.Otherwise.String())
	}
	return b.String() + " END"
}

func (n *Case) children() []Expr {
	list := make([]Expr, 0, 2*len(n.Whens)+1)
	for i, when := range n.Whens {
		list = append(list, when, n.Thens[i])
	}
	return append(list, n.Otherwise)
}

func (n *Case) replace(c []Expr) Expr {
	r := &Case{T: n.T, Otherwise: c[len(c)-1]}
	for i := 0; i+1 < len(c); i += 2 {
		r.Whens, r.Thens = append(r.Whens, c[i]), append(r.Thens, c[i+1])
	}
	return r
}

func (n *Case) same(other Expr) bool {
	o, ok := other.(*Case)
	return ok && len(o.Whens) == len(n.Whens)
}

func (n *Case) precedence() int { return precedencePrimary }
