package planner

import (
	"maps"
	"slices"
	"strings"

	"millrace/exec/expr"
	"millrace/exec/fn"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// maxInlined bounds the nodes of an expression that a call of a user's function
// becomes: functions that use a parameter twice double with each call in a call.
const maxInlined = 10_000

// ownSyntax are names that stand before brackets with a meaning of their own.
var ownSyntax = []string{"ARRAY", "MAP", "STRUCT", "CAST"}

// functionScope is what a function's body may name.
type functionScope struct {
	name       string
	parameters []string
	calls      map[string]bool // user's functions that the body calls, also through others
}

// unknown is the error for a name in a body that is no parameter.
func (f *functionScope) unknown(name string) error {
	e := types.Errorf(types.CodeName, "function %s has no parameter %s", f.name, name)
	if near := types.Nearest(name, f.parameters); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("a body reads its parameters only: %s", strings.Join(f.parameters, ", "))
}

// lambdaNames are the names of a lambda's parameters in the bound expression.
// Those in a function's body carry its name, so that an argument which is put
// there, and which may read parameters of lambdas around the call, keeps its
// meaning. Outside of bodies, f is nil, they stay as they are.
func (f *functionScope) lambdaNames(names []string) []string {
	if f == nil {
		return names
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = f.name + "." + name
	}
	return out
}

// CreateFunction plans CREATE FUNCTION: its body is bound and typed once, over
// the parameters. Calls put it in place of themselves.
func (p *Planner) CreateFunction(s *ast.CreateFunction, text string) (*catalog.Function, error) {
	f := &catalog.Function{Name: strings.ToUpper(s.Name), Statement: text}
	if err := p.checkFunctionName(s, f.Name); err != nil {
		return nil, err
	}
	if err := p.parameters(f, s); err != nil {
		return nil, err
	}
	var err error
	if f.Result, err = p.ResolveType(s.Returns); err != nil {
		return nil, err
	}
	names := &functionScope{name: f.Name, calls: map[string]bool{}}
	values := make([]expr.Expr, len(f.Parameters))
	for i, c := range f.Parameters {
		names.parameters = append(names.parameters, c.Name)
		values[i] = expr.NewColumn(i, c.Name, c.Type)
	}
	b := &binder{
		planner: p, query: s.Body, scope: &scope{}, where: "the body of a function", function: names,
		lambdas: []lambdaScope{{names: names.parameters, parameters: values}},
	}
	node, err := expressionOf(s.Body)
	if err != nil {
		return nil, err
	}
	body, err := b.bind(node)
	if err != nil {
		return nil, err
	}
	f.Calls = slices.Sorted(maps.Keys(names.calls))
	if slices.Contains(f.Calls, f.Name) {
		return nil, types.Errorf(types.CodeStatement, "function %s would call itself through %s", f.Name, strings.Join(callersOf(p, f), ", ")).
			At(b.at(node))
	}
	f.Body, err = functionResult(f, body)
	return f, types.At(err, b.at(node))
}

// expressionOf is the expression of a statement that holds one as the only
// field of a SELECT.
func expressionOf(q *ast.Query) (tidb.ExprNode, error) {
	statement, ok := q.Node.(*tidb.SelectStmt)
	if !ok || statement.Fields == nil || len(statement.Fields.Fields) != 1 || statement.Fields.Fields[0].Expr == nil {
		return nil, types.Errorf(types.CodeSyntax, "one expression is expected here").At(q.Locate(0))
	}
	return statement.Fields.Fields[0].Expr, nil
}

func (p *Planner) checkFunctionName(s *ast.CreateFunction, name string) error {
	_, builtIn := fn.Lookup(name)
	if builtIn || fn.IsAggregate(name) || slices.Contains(ownSyntax, name) {
		return types.Errorf(types.CodeName, "%s is a function of millrace's own", name).At(s.Position).WithHint("choose another name")
	}
	if _, taken := p.Catalog.Function(name); taken && !s.OrReplace {
		return types.Errorf(types.CodeStatement, "a function called %s exists already", name).At(s.Position).
			WithHint("use CREATE OR REPLACE FUNCTION, or drop it first")
	}
	return nil
}

func (p *Planner) parameters(f *catalog.Function, s *ast.CreateFunction) error {
	for _, c := range s.Parameters {
		t, err := p.ResolveType(c.Type)
		if err != nil {
			return err
		}
		for _, earlier := range f.Parameters {
			if earlier.Name == c.Name {
				return types.Errorf(types.CodeName, "parameter %s is listed twice", c.Name).At(c.Position)
			}
		}
		f.Parameters = append(f.Parameters, catalog.Column{Name: c.Name, Type: t})
	}
	return nil
}

// callersOf are the functions that f calls and that call f.
func callersOf(p *Planner, f *catalog.Function) []string {
	var names []string
	for _, name := range f.Calls {
		if other, ok := p.Catalog.Function(name); ok && slices.Contains(other.Calls, f.Name) {
			names = append(names, name)
		}
	}
	return names
}

// functionResult converts a body to the type that the function returns.
func functionResult(f *catalog.Function, body expr.Expr) (expr.Expr, error) {
	var err error
	expr.Walk(body, func(e expr.Expr) bool {
		call, ok := e.(*expr.Call)
		if !ok || err != nil {
			return err == nil
		}
		if built, _ := fn.Lookup(call.Name()); built != nil && built.Volatile {
			err = types.Errorf(types.CodeStatement, "function %s calls %s, whose result changes from call to call", f.Name, call.Name()).
				WithHint("give the value as an argument")
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	converted, err := expr.Coerce(body, f.Result)
	if err != nil {
		return nil, types.Errorf(types.CodeType, "function %s returns %s, but its body is %s", f.Name, f.Result, body.Type()).
			WithHint("use CAST, or RETURNS %s", body.Type())
	}
	return converted, nil
}

// userFunction finds a function that CREATE FUNCTION made; in a body it notes
// the call. A function has itself there, so that a call of it is found.
func (b *binder) userFunction(name string) (*catalog.Function, bool) {
	if b.function != nil && b.function.name == name {
		return &catalog.Function{Name: name}, true
	}
	f, ok := b.planner.Catalog.Function(name)
	if ok && b.function != nil {
		b.function.calls[name] = true
		for _, further := range f.Calls {
			b.function.calls[further] = true
		}
	}
	return f, ok
}

// misspelt is the error for a name that is no function, where one of the user's
// is near; nil elsewhere.
func (b *binder) misspelt(name string) error {
	if _, ok := fn.Lookup(name); ok {
		return nil
	}
	near := types.Nearest(name, b.planner.Catalog.FunctionNames())
	if near == "" {
		return nil
	}
	return types.Errorf(types.CodeName, "there is no function %s", name).WithHint("did you mean %s?", near)
}

// inline puts a function's body in place of its call.
func (b *binder) inline(f *catalog.Function, nodes []tidb.ExprNode, arguments []expr.Argument) (expr.Expr, error) {
	body, ok := f.Body.(expr.Expr)
	if !ok {
		return nil, types.Errorf(types.CodeStatement, "function %s cannot call itself", f.Name)
	}
	if len(arguments) != len(f.Parameters) {
		return nil, types.Errorf(types.CodeType, "%s takes %s, not %d", f.Name, Counted(len(f.Parameters), "argument"), len(arguments)).
			WithHint("it is %s", f.Signature())
	}
	values := make([]expr.Expr, len(arguments))
	for i, a := range arguments {
		parameter := f.Parameters[i]
		if a.Lambda != nil {
			return nil, types.Errorf(types.CodeType, "parameter %s of %s is %s and takes no lambda", parameter.Name, f.Name, parameter.Type).At(b.at(nodes[i]))
		}
		value, err := expr.Coerce(a.Expr, parameter.Type)
		if err != nil {
			return nil, types.Errorf(types.CodeType, "parameter %s of %s is %s, but the argument is %s",
				parameter.Name, f.Name, parameter.Type, a.Expr.Type()).At(b.at(nodes[i])).WithHint("use CAST(.. AS %s)", parameter.Type)
		}
		values[i] = value
	}
	if err := checkUses(f, body, values); err != nil {
		return nil, err
	}
	return expr.Rewrite(body, func(e expr.Expr) (expr.Expr, bool) {
		c, ok := e.(*expr.Column)
		if !ok {
			return nil, false
		}
		return values[c.Index], true
	}), nil
}

// checkUses refuses arguments that must not be computed as often as the body
// reads them, and results that grow without measure.
func checkUses(f *catalog.Function, body expr.Expr, values []expr.Expr) error {
	uses := make([]int, len(values))
	size := 0
	expr.Walk(body, func(e expr.Expr) bool {
		size++
		if c, ok := e.(*expr.Column); ok {
			uses[c.Index]++
		}
		return true
	})
	for i, value := range values {
		nodes := 0
		changing := ""
		expr.Walk(value, func(e expr.Expr) bool {
			nodes++
			if call, ok := e.(*expr.Call); ok {
				if built, _ := fn.Lookup(call.Name()); built != nil && built.Volatile {
					changing = call.Name()
				}
			}
			return true
		})
		if changing != "" && uses[i] > 1 {
			return types.Errorf(types.CodeStatement, "%s reads its parameter %s %d times, and %s gives another value each time",
				f.Name, f.Parameters[i].Name, uses[i], changing).WithHint("compute it in an earlier query")
		}
		size += uses[i] * nodes
	}
	if size > maxInlined {
		return types.Errorf(types.CodeStatement, "the call of %s becomes an expression of more than %d parts", f.Name, maxInlined).
			WithHint("split the work between two queries")
	}
	return nil
}
