package expr

import (
	"fmt"
	"time"

	"millrace/exec/column"
	"millrace/sql/types"
)

// Kernel computes an expression over a batch. One goroutine uses it.
type Kernel interface {
	// Eval computes the selected rows. The result is indexed by row number and
	// only its selected rows are defined. It is the kernel's, or a column of
	// the batch, must not be changed, and is valid until the next Eval. Texts
	// are views of the inputs or of b.Arena. The selection is not changed.
	Eval(b *column.Batch, selection []int32) *column.Vector
}

// Predicate is a condition on rows. One goroutine uses it.
type Predicate interface {
	// Narrow keeps, in place, the rows for which the condition is true: not
	// those where it is null or fails.
	Narrow(b *column.Batch, selection []int32) []int32
}

// Environment is what compiled expressions need from outside. The zero
// Environment is usable.
type Environment struct {
	Errors column.Errors // takes the rows that fail; may be nil
	Now    func() int64  // ms since 1970; nil: the wall clock
	Random func() uint64 // nil: the process's source
}

// Compile makes a kernel for e. Constant parts are computed once.
func Compile(e Expr, env *Environment) (Kernel, error) {
	c := newCompiler(env)
	return c.compile(e)
}

// CompilePredicate makes a predicate for e, which is BOOLEAN.
func CompilePredicate(e Expr, env *Environment) (Predicate, error) {
	if e.Type().Kind != types.KindBoolean {
		return nil, types.Errorf(types.CodeType, "the condition is %s, not BOOLEAN", e.Type())
	}
	c := newCompiler(env)
	return c.predicate(e)
}

// Evaluate computes an expression without columns: a vector of one row, which
// is null if the expression fails.
func Evaluate(e Expr, env *Environment) (*column.Vector, error) {
	if indexes := ColumnsOf(e); len(indexes) > 0 {
		return nil, types.Errorf(types.CodeValue, "%s is not constant", e)
	}
	kernel, err := Compile(e, env)
	if err != nil {
		return nil, err
	}
	v, ok := evaluateOne(kernel)
	if !ok {
		return nil, types.Errorf(types.CodeValue, "%s needs more than %d MB", &label{make: e.String}, constantMemory>>20)
	}
	return v, nil
}

// constantMemory is what a constant expression may take.
const constantMemory = 64 << 20

// evaluateOne evaluates an expression without columns; ok is false if that takes
// too much memory.
func evaluateOne(kernel Kernel) (v *column.Vector, ok bool) {
	defer func() {
		if fault := recover(); fault != nil && fault != any(column.ErrBatchTooLarge) {
			panic(fault)
		}
	}()
	return kernel.Eval(oneRow(), firstRow), true
}

var firstRow = []int32{0}

func oneRow() *column.Batch {
	present := column.NewBitmap(1)
	present.Set(0)
	return &column.Batch{Len: 1, Present: present, Selection: []int32{0}, Arena: &column.Arena{Limit: constantMemory}}
}

// compiler compiles one expression, or the body of a lambda in it.
type compiler struct {
	env    *Environment
	scope  *scope
	frames []*frame      // of the enclosing lambdas, innermost last
	known  map[Expr]bool // whether the nodes met so far are constant
}

func newCompiler(env *Environment) *compiler {
	e := Environment{}
	if env != nil {
		e = *env
	}
	if e.Now == nil {
		e.Now = func() int64 { return time.Now().UnixMilli() }
	}
	return &compiler{env: &e, scope: &scope{errors: e.Errors}}
}

// compile makes the kernel of e; a constant is computed now, but for one that
// fails, which has to be reported for each row.
func (c *compiler) compile(e Expr) (Kernel, error) {
	switch n := e.(type) {
	case *Column:
		return columnKernel(n.Index), nil
	case *Literal:
		one := column.New(literalType(n), 1)
		n.set(one, 0)
		return &constantKernel{one: one}, nil
	case *Parameter:
		return c.parameter(n)
	case *Array, *Map, *Struct, *Lambda:
	default:
		if c.constant(e) {
			if kernel := c.fold(e); kernel != nil {
				return kernel, nil
			}
		}
	}
	return c.compileNode(e)
}

// constant is Constant, asked once a node, so that a deep tree costs its number
// of nodes and not its square.
func (c *compiler) constant(e Expr) bool {
	if known, ok := c.known[e]; ok {
		return known
	}
	constant := Constant
	if _, ok := e.(*Lambda); !ok {
		constant = func(e Expr) bool { return constantNode(e, c.constant) }
	}
	if c.known == nil {
		c.known = make(map[Expr]bool)
	}
	result := constant(e)
	c.known[e] = result
	return result
}

// literalType is the type of the vector that a literal fills: an untyped NULL
// takes any.
func literalType(l *Literal) *types.Type {
	if l.T.Kind == types.KindNull {
		return types.Boolean
	}
	return l.T
}

func (c *compiler) fold(e Expr) Kernel {
	failed := false
	inner := &compiler{env: c.env, scope: &scope{errors: failureFlag{&failed}}}
	kernel, err := inner.compileNode(e)
	if err != nil {
		return nil
	}
	v, ok := evaluateOne(kernel)
	if failed || !ok {
		return nil
	}
	return &constantKernel{one: v}
}

type failureFlag struct{ failed *bool }

func (f failureFlag) RowError(*column.Batch, int, string, error) { *f.failed = true }

func (c *compiler) compileNode(e Expr) (Kernel, error) {
	switch n := e.(type) {
	case *Arithmetic:
		return c.arithmetic(n)
	case *Negate:
		return c.negate(n)
	case *Compare:
		return c.compare(n)
	case *IsDistinct:
		return c.isDistinct(n)
	case *Logic:
		return c.logic(n)
	case *Not:
		return c.not(n)
	case *IsNull:
		return c.isNull(n)
	case *Between:
		return c.between(n)
	case *In:
		return c.in(n)
	case *Like:
		return c.like(n)
	case *Case:
		return c.caseOf(n)
	case *Cast:
		return c.cast(n)
	case *Field:
		return c.field(n)
	case *Subscript:
		return c.subscript(n)
	case *Array:
		return c.array(n)
	case *Map:
		return c.mapOf(n)
	case *Struct:
		return c.structOf(n)
	case *Call:
		return c.call(n)
	}
	return c.compileLeaf(e)
}

func (c *compiler) compileLeaf(e Expr) (Kernel, error) {
	switch e.(type) {
	case *Column, *Literal, *Parameter:
		return c.compile(e)
	}
	return nil, fmt.Errorf("compile %s: an expression of this kind has no value", e)
}

// compileAll compiles several expressions.
func (c *compiler) compileAll(list []Expr) ([]Kernel, error) {
	kernels := make([]Kernel, len(list))
	for i, e := range list {
		var err error
		if kernels[i], err = c.compile(e); err != nil {
			return nil, err
		}
	}
	return kernels, nil
}
