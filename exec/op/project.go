package op

import (
	"fmt"
	"slices"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/planner/plan"
)

// project computes columns. For rows without a value it computes the key
// columns only. Of a table the rows before the changes are computed as well.
type project struct {
	next    Operator
	kernels []expr.Kernel
	// kernelsBefore compute the columns of the row before a change; nil where
	// that is not handed on. They report no errors: they were reported when the
	// row was new.
	kernelsBefore []expr.Kernel
	// isKey are the columns computed for rows without a value, and of a table
	// once for the row before and after. A table that is regrouped has key
	// columns that are not of this kind.
	isKey  []bool
	stream bool

	out, before     column.Batch
	columns, former []*column.Vector
	valued, kept    []int32
	padded          []*column.Vector // own vectors of value columns, where rows lack a value
}

func newProject(node *plan.Project, env *Environment, next Operator) (*project, error) {
	schema := node.Output
	p := &project{
		next: next, stream: !schema.Changes,
		isKey:   make([]bool, len(node.Columns)),
		columns: make([]*column.Vector, len(node.Columns)),
		padded:  make([]*column.Vector, len(node.Columns)),
	}
	for i := range node.Columns {
		p.isKey[i] = slices.Contains(keyColumns(&schema), i) && (p.stream || overKey(node, i))
	}
	var err error
	if p.kernels, err = compileAll(node.Columns, env.Expressions); err != nil {
		return nil, err
	}
	if !schema.Changes || !schema.KeepsBefore {
		return p, nil
	}
	if !node.Input.Schema().KeepsBefore {
		return nil, fmt.Errorf("projection: its input is a table that does not hand on the row before a change")
	}
	p.former = make([]*column.Vector, len(node.Columns))
	p.kernelsBefore, err = compileAll(node.Columns, quiet(env.Expressions))
	return p, err
}

// overKey tells whether a column reads nothing but what identifies the input's
// rows.
func overKey(node *plan.Project, i int) bool {
	schema := node.Input.Schema()
	key := keyColumns(&schema)
	return !slices.ContainsFunc(expr.ColumnsOf(node.Columns[i].Expr), func(c int) bool { return !slices.Contains(key, c) })
}

func compileAll(columns []plan.NamedExpr, env *expr.Environment) ([]expr.Kernel, error) {
	kernels := make([]expr.Kernel, len(columns))
	for i, c := range columns {
		kernel, err := expr.Compile(c.Expr, env)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		kernels[i] = kernel
	}
	return kernels, nil
}

// Push implements Operator.
func (p *project) Push(_ int, b *column.Batch) error {
	if len(b.Selection) == 0 {
		return nil
	}
	p.valued = appendPresent(p.valued[:0], b.Selection, b.Present)
	whole := len(p.valued) == len(b.Selection)
	for c, kernel := range p.kernels {
		switch {
		case p.isKey[c] || whole:
			p.columns[c] = kernel.Eval(b, b.Selection)
		case p.stream:
			p.columns[c] = p.pad(c, kernel.Eval(b, p.valued), b.Len)
		default:
			p.columns[c] = kernel.Eval(b, p.valued)
		}
	}
	p.out = *b
	p.out.Columns = p.columns
	p.out.Before, p.out.PresentBefore = nil, nil
	if p.kernelsBefore != nil {
		p.computeBefore(b)
	}
	return p.next.Push(0, &p.out)
}

// pad is the column with null in all rows but those that have a value. A
// kernel's vector may be an input's or a constant's, so it is copied.
func (p *project) pad(c int, from *column.Vector, n int) *column.Vector {
	if p.padded[c] == nil {
		p.padded[c] = column.New(from.Type, n)
	}
	v := p.padded[c]
	v.Reset(n)
	for _, i := range p.valued {
		v.CopyRow(int(i), from, int(i))
	}
	return v
}

func (p *project) computeBefore(b *column.Batch) {
	p.kept = appendPresent(p.kept[:0], b.Selection, b.PresentBefore)
	viewBefore(&p.before, b, p.kept)
	for c, kernel := range p.kernelsBefore {
		if p.isKey[c] {
			p.former[c] = p.columns[c]
			continue
		}
		p.former[c] = kernel.Eval(&p.before, p.kept)
	}
	p.out.Before, p.out.PresentBefore = p.former, b.PresentBefore
}

// Flush implements Operator.
func (p *project) Flush() error { return nil }
