package expr

import (
	"strings"

	"millrace/exec/fn"
	"millrace/sql/types"
)

// Argument is an argument of a function: an expression or a lambda. Keyword
// arguments, such as the unit of DATEADD, are STRING literals.
type Argument struct {
	Expr   Expr
	Lambda *LambdaSyntax
}

// LambdaSyntax is a lambda whose body is bound when the types of its parameters
// are known. In the body, the parameters are Parameter nodes of these names.
type LambdaSyntax struct {
	Parameters []string
	Bind       func(types []*types.Type) (Expr, error)
}

// Lambda is a bound lambda argument; its type is the body's.
type Lambda struct {
	Parameters []string
	Types      []*types.Type
	Body       Expr
}

// Type is the type of the body.
func (n *Lambda) Type() *types.Type { return n.Body.Type() }

func (n *Lambda) String() string {
	names := make([]string, len(n.Parameters))
	for i, name := range n.Parameters {
		names[i] = nameText(name)
	}
	if len(names) == 1 {
		return names[0] + " => " + n.Body.String()
	}
	return "(" + strings.Join(names, ", ") + ") => " + n.Body.String()
}

func (n *Lambda) children() []Expr { return []Expr{n.Body} }

func (n *Lambda) replace(c []Expr) Expr {
	return &Lambda{Parameters: n.Parameters, Types: n.Types, Body: c[0]}
}

func (n *Lambda) same(other Expr) bool {
	o, ok := other.(*Lambda)
	return ok && strings.Join(o.Parameters, "\x00") == strings.Join(n.Parameters, "\x00")
}

func (n *Lambda) precedence() int { return 0 }

// Call is a scalar function applied to arguments of its parameters' types.
type Call struct {
	Args     []Expr // Lambda nodes among them
	T        *types.Type
	function *fn.Function
	overload *fn.Overload
	operator bool // written as ||
}

// NewCall is name(args). Names are case-insensitive. The overload is chosen by
// the types, see fn.Function.Choose; arguments convert implicitly.
func NewCall(name string, args []Argument) (Expr, error) {
	f, ok := fn.Lookup(name)
	if !ok {
		return nil, fn.Unknown(name)
	}
	if f.Table {
		return nil, types.Errorf(types.CodeType, "%s is a table function", f.Name).
			WithHint("it can stand only as a column of its own in SELECT")
	}
	return newCall(f, args)
}

// NewTableCall is a call of a table function: an ARRAY with an element for
// each row that it gives.
func NewTableCall(name string, args []Argument) (Expr, error) {
	f, ok := fn.Lookup(name)
	if !ok || !f.Table {
		return nil, types.Errorf(types.CodeName, "there is no table function %s", name)
	}
	return newCall(f, args)
}

func newCall(f *fn.Function, args []Argument) (Expr, error) {
	bodies := make([]Expr, len(args))
	arguments := make([]fn.Argument, len(args))
	for i, a := range args {
		if a.Lambda == nil {
			arguments[i].Type = a.Expr.Type()
			if literal, ok := a.Expr.(*Literal); ok {
				arguments[i].Literal = literal.Value
			}
			continue
		}
		arguments[i].Count = len(a.Lambda.Parameters)
		arguments[i].Lambda = bindLambda(a.Lambda, &bodies[i])
	}
	bound, err := f.Choose(arguments)
	if err != nil {
		return nil, err
	}
	n := &Call{Args: bodies, T: bound.Result, function: f, overload: bound.Overload}
	for i, a := range args {
		if a.Lambda == nil {
			n.Args[i] = implicit(a.Expr, bound.Parameters[i])
		}
	}
	return n, nil
}

func bindLambda(syntax *LambdaSyntax, body *Expr) func([]*types.Type) (*types.Type, error) {
	return func(parameters []*types.Type) (*types.Type, error) {
		e, err := syntax.Bind(parameters)
		if err != nil {
			return nil, err
		}
		*body = &Lambda{Parameters: syntax.Parameters, Types: parameters, Body: e}
		return e.Type(), nil
	}
}

// NewConcat is l || r, which is CONCAT(l, r): nulls are skipped.
func NewConcat(l, r Expr) (Expr, error) {
	e, err := NewCall("CONCAT", []Argument{{Expr: l}, {Expr: r}})
	if err != nil {
		return nil, operandError("||", l.Type(), r.Type())
	}
	e.(*Call).operator = true
	return e, nil
}

// Name is the function's name.
func (n *Call) Name() string { return n.function.Name }

// Type is the result type of the overload.
func (n *Call) Type() *types.Type { return n.T }

func (n *Call) String() string {
	if n.operator {
		return operand(n.Args[0], precedenceConcat) + " || " + operand(n.Args[1], precedenceConcat+1)
	}
	return n.function.Name + "(" + listText(n.Args) + ")"
}

func (n *Call) children() []Expr { return n.Args }

func (n *Call) replace(c []Expr) Expr {
	r := *n
	r.Args = c
	return &r
}

func (n *Call) same(other Expr) bool {
	o, ok := other.(*Call)
	return ok && o.function == n.function && o.operator == n.operator
}

func (n *Call) precedence() int {
	if n.operator {
		return precedenceConcat
	}
	return precedencePrimary
}
