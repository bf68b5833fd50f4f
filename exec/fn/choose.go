package fn

import (
	"strings"

	"millrace/sql/types"
)

// Argument is what overloads are chosen by: the type of a value, or the number
// of parameters of a lambda and a way to type its body.
type Argument struct {
	Type    *types.Type // nil for a lambda
	Literal any         // the value of a literal, as in expr.Literal; else nil
	Lambda  func(parameters []*types.Type) (result *types.Type, err error)
	Count   int // of the lambda's parameters
}

// Choose finds the overload for the arguments: one that takes the types as
// they are, else one that takes them with implicit conversions. Among several,
// one without repeated parameters is better, then one with more parameters,
// then one with fewer type variables, then, unless parameters repeat, one that
// converts less; if that does not decide, the call is refused.
func (f *Function) Choose(arguments []Argument) (*Bound, error) {
	for _, widen := range []bool{false, true} {
		var best *match
		tie := false
		for _, o := range f.Overloads {
			m := o.match(arguments, widen)
			if m == nil {
				continue
			}
			switch order := m.compare(best); {
			case order > 0:
				best, tie = m, false
			case order == 0:
				tie = true
			}
		}
		if tie {
			return nil, f.refuse("the call %s%s fits several signatures", arguments).
				WithHint("CAST the arguments to one of: %s", f.Signatures())
		}
		if best != nil {
			return best.bind(f, arguments)
		}
	}
	return nil, f.refuse("%s does not take %s", arguments).WithHint("it takes: %s", f.Signatures())
}

func (f *Function) refuse(format string, arguments []Argument) *types.Error {
	texts := make([]string, len(arguments))
	for i, a := range arguments {
		if texts[i] = "LAMBDA"; a.Type != nil {
			texts[i] = a.Type.String()
		}
	}
	return types.Errorf(types.CodeType, format, f.Name, "("+strings.Join(texts, ", ")+")")
}

// Signatures lists the ways of calling the function.
func (f *Function) Signatures() string {
	texts := make([]string, len(f.Overloads))
	for i, o := range f.Overloads {
		parameters, _, _ := cutResult(o.Signature)
		texts[i] = f.Name + parameters
	}
	return strings.Join(texts, ", ")
}

// cutResult splits a signature behind the closing parenthesis of its parameters.
func cutResult(signature string) (parameters, result string, ok bool) {
	depth := 0
	for i, c := range signature {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return signature[:i+1], strings.TrimSpace(signature[i+1:]), true
			}
		}
	}
	return signature, "", false
}

// match is an overload that fits.
type match struct {
	overload  *Overload
	variables map[byte]*types.Type
	decimal   *types.Type // holds all arguments of DECIMAL parameters
	cost      int
}

// compare is above 0 if m is better than other, which may be nil.
func (m *match) compare(other *match) int {
	if other == nil {
		return 1
	}
	a, b := m.overload, other.overload
	if a.variadic != b.variadic {
		if b.variadic {
			return 1
		}
		return -1
	}
	if n := len(a.parameters) - len(b.parameters); n != 0 {
		return n
	}
	if n := b.generics() - a.generics(); n != 0 {
		return n
	}
	if a.variadic {
		return 0
	}
	return other.cost - m.cost
}

func (o *Overload) generics() int {
	total := 0
	for _, p := range o.parameters {
		total += p.generics()
	}
	return total
}

func (o *Overload) parameter(i int) *pattern {
	return o.parameters[min(i, len(o.parameters)-1)]
}

func (o *Overload) accepts(count int) bool {
	if o.variadic {
		return count >= len(o.parameters)-1
	}
	return count == len(o.parameters)
}

func (o *Overload) match(arguments []Argument, widen bool) *match {
	if !o.accepts(len(arguments)) {
		return nil
	}
	m := &match{overload: o, variables: map[byte]*types.Type{}}
	for i, a := range arguments {
		p := o.parameter(i)
		if p.lambda != (a.Type == nil) {
			return nil
		}
		if p.lambda {
			if a.Count != len(p.children)-1 {
				return nil
			}
			continue
		}
		if !m.accept(p, a.Type, widen) {
			return nil
		}
	}
	return m
}

// accept tells whether a value of type t can be passed for p.
func (m *match) accept(p *pattern, t *types.Type, widen bool) bool {
	if p.variable != 0 {
		return m.acceptVariable(p.variable, t, widen)
	}
	if t.Kind == types.KindNull {
		return true
	}
	if p.kind != t.Kind {
		return widen && m.acceptWidened(p, t)
	}
	switch p.kind {
	case types.KindDecimal:
		m.widenDecimal(t)
	case types.KindArray:
		return m.accept(p.children[0], t.Elem, widen)
	case types.KindMap:
		return m.accept(p.children[0], t.Key, widen) && m.accept(p.children[1], t.Elem, widen)
	case types.KindStruct:
		if len(t.Fields) != len(p.children) {
			return false
		}
		for i, field := range t.Fields {
			if field.Name != p.names[i] || !m.accept(p.children[i], field.Type, widen) {
				return false
			}
		}
	}
	return true
}

func (m *match) acceptVariable(variable byte, t *types.Type, widen bool) bool {
	bound := m.variables[variable]
	switch {
	case bound == nil || bound.Kind == types.KindNull:
		m.variables[variable] = t
	case t.Kind == types.KindNull || types.Equal(bound, t):
	case widen:
		common := types.Common(bound, t)
		if common == nil || common.Kind == types.KindStruct {
			return false
		}
		m.variables[variable] = common
		m.cost++
	default:
		return false
	}
	return true
}

func (m *match) acceptWidened(p *pattern, t *types.Type) bool {
	target := &types.Type{Kind: p.kind}
	if p.kind == types.KindDecimal {
		if target = types.AsDecimal(t); target == nil {
			return false
		}
		m.widenDecimal(target)
	}
	if p.kind >= types.KindArray {
		return false
	}
	steps := types.Widening(t, target)
	if t.Kind == types.KindString && target.Temporal() {
		steps = textSteps
	}
	if steps < 0 {
		return false
	}
	m.cost += max(steps, 1)
	return true
}

// textSteps is the cost of reading a text as a time; it is above all costs of
// numbers.
const textSteps = 10

func (m *match) widenDecimal(t *types.Type) {
	if m.decimal == nil {
		m.decimal = t
		return
	}
	m.decimal = types.Common(m.decimal, t)
}

// bind settles the types; lambda bodies are typed here, in order, since later
// ones may use type variables that earlier ones settle.
func (m *match) bind(f *Function, arguments []Argument) (*Bound, error) {
	o := m.overload
	if o.Check != nil {
		if err := o.Check(arguments); err != nil {
			return nil, f.refuse("%s does not take %s", arguments).WithHint("%s", err)
		}
	}
	b := &Bound{Function: f, Overload: o, Parameters: make([]*types.Type, len(arguments))}
	for i, a := range arguments {
		p := o.parameter(i)
		if !p.lambda {
			continue
		}
		if err := m.bindLambda(f, p, a); err != nil {
			return nil, err
		}
	}
	for i, a := range arguments {
		if p := o.parameter(i); !p.lambda {
			b.Parameters[i] = m.parameterType(p, a.Type)
		}
	}
	if o.variadic && m.decimal != nil {
		for i := range b.Parameters {
			if b.Parameters[i].Kind == types.KindDecimal {
				b.Parameters[i] = m.decimal
			}
		}
	}
	if o.Result != nil {
		var err error
		b.Result, err = o.Result(b.Parameters)
		return b, err
	}
	if b.Result = m.substitute(o.result); b.Result == nil {
		return nil, f.refuse("%s%s: the result has no type", arguments).WithHint("CAST a NULL to a type")
	}
	return b, nil
}

// parameterType is what an argument of the given type converts to.
func (m *match) parameterType(p *pattern, argument *types.Type) *types.Type {
	if p.kind == types.KindDecimal {
		if argument.Kind == types.KindDecimal {
			return argument
		}
		if t := types.AsDecimal(argument); t != nil {
			return t
		}
	}
	if t := m.substitute(p); t != nil {
		return t
	}
	// Only NULLs came here; if the result hangs on the type it is refused for
	// that, else any type will do.
	return m.anyType(p)
}

func (m *match) bindLambda(f *Function, p *pattern, a Argument) error {
	last := len(p.children) - 1
	parameters := make([]*types.Type, last)
	for k, child := range p.children[:last] {
		if parameters[k] = m.substitute(child); parameters[k] == nil {
			return types.Errorf(types.CodeType, "%s: the lambda's parameter has no type", f.Name).
				WithHint("CAST a NULL to a type")
		}
	}
	result, err := a.Lambda(parameters)
	if err != nil {
		return err
	}
	if !m.accept(p.children[last], result, false) {
		return types.Errorf(types.CodeType, "%s: the lambda gives %s", f.Name, result).
			WithHint("it has to give %s", m.describe(p.children[last]))
	}
	return nil
}

func (m *match) describe(p *pattern) string {
	if t := m.substitute(p); t != nil {
		return t.String()
	}
	return "a value with a type"
}

// substitute is the type of p, or nil if a variable of it is not settled.
func (m *match) substitute(p *pattern) *types.Type {
	if p.variable != 0 {
		t := m.variables[p.variable]
		if t == nil || t.Kind == types.KindNull {
			return nil
		}
		return t
	}
	children := make([]*types.Type, len(p.children))
	for i, child := range p.children {
		if children[i] = m.substitute(child); children[i] == nil {
			return nil
		}
	}
	switch p.kind {
	case types.KindDecimal:
		if m.decimal == nil {
			return types.DecimalOf(types.MaxPrecision, 0)
		}
		return m.decimal
	case types.KindArray:
		return types.ArrayOf(children[0])
	case types.KindMap:
		return types.MapOf(children[0], children[1])
	case types.KindStruct:
		fields := make([]types.Field, len(children))
		for i, child := range children {
			fields[i] = types.Field{Name: p.names[i], Type: child}
		}
		return types.StructOf(fields...)
	}
	return plain[p.kind]
}

// anyType is the type of p with BOOLEAN for variables that are not settled.
func (m *match) anyType(p *pattern) *types.Type {
	settled := &match{variables: map[byte]*types.Type{}, decimal: m.decimal}
	for letter := byte('A'); letter <= 'Z'; letter++ {
		settled.variables[letter] = types.Boolean
		if t := m.variables[letter]; t != nil && t.Kind != types.KindNull {
			settled.variables[letter] = t
		}
	}
	return settled.substitute(p)
}

var plain = map[types.Kind]*types.Type{
	types.KindBoolean: types.Boolean, types.KindInteger: types.Integer, types.KindBigint: types.Bigint,
	types.KindDouble: types.Double, types.KindString: types.String, types.KindBytes: types.Bytes,
	types.KindDate: types.Date, types.KindTime: types.Time, types.KindTimestamp: types.Timestamp,
}
