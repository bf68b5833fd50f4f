package expr

import (
	"millrace/exec/column"
	"millrace/sql/types"
)

func (c *compiler) predicate(e Expr) (Predicate, error) {
	switch n := e.(type) {
	case *Compare:
		if !c.constant(n) {
			return c.compareKernel(n)
		}
	case *Between:
		if !n.Not && !c.constant(n) {
			return c.betweenKernel(n)
		}
	case *Logic:
		if !n.Or {
			return c.andPredicate(n)
		}
	}
	kernel, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	return valuePredicate{kernel}, nil
}

func (c *compiler) andPredicate(n *Logic) (Predicate, error) {
	left, err := c.predicate(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.predicate(n.Right)
	if err != nil {
		return nil, err
	}
	return andPredicate{left, right}, nil
}

type andPredicate struct{ left, right Predicate }

func (p andPredicate) Narrow(b *column.Batch, selection []int32) []int32 {
	if selection = p.left.Narrow(b, selection); len(selection) == 0 {
		return selection
	}
	return p.right.Narrow(b, selection)
}

// valuePredicate keeps the rows for which a BOOLEAN is true.
type valuePredicate struct{ x Kernel }

func (p valuePredicate) Narrow(b *column.Batch, selection []int32) []int32 {
	v := p.x.Eval(b, selection)
	n := 0
	for _, i := range selection {
		selection[n] = i
		n += one(v.Bools[i]) & bit(v.Valid, i)
	}
	return selection[:n]
}

// logicKernel is AND or OR as a value. The right side is evaluated where the
// left does not decide.
type logicKernel struct {
	or          bool
	left, right Kernel
	out         *column.Vector
	rest        []int32
}

func (c *compiler) logic(n *Logic) (Kernel, error) {
	kernels, err := c.compileAll([]Expr{n.Left, n.Right})
	if err != nil {
		return nil, err
	}
	return &logicKernel{or: n.Or, left: kernels[0], right: kernels[1], out: column.New(types.Boolean, 0)}, nil
}

func (k *logicKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	l := k.left.Eval(b, selection)
	k.out.Reset(b.Len)
	k.rest = k.rest[:0]
	for _, i := range selection {
		if !l.Null(int(i)) && l.Bools[i] == k.or {
			k.out.SetBool(int(i), k.or)
			continue
		}
		k.rest = append(k.rest, i)
	}
	if len(k.rest) == 0 {
		return k.out
	}
	r := k.right.Eval(b, k.rest)
	for _, i := range k.rest {
		switch {
		case !r.Null(int(i)) && r.Bools[i] == k.or:
			k.out.SetBool(int(i), k.or)
		case !r.Null(int(i)) && !l.Null(int(i)):
			k.out.SetBool(int(i), !k.or)
		}
	}
	return k.out
}

type notKernel struct {
	x   Kernel
	out *column.Vector
}

func (c *compiler) not(n *Not) (Kernel, error) {
	x, err := c.compile(n.X)
	if err != nil {
		return nil, err
	}
	return &notKernel{x: x, out: column.New(types.Boolean, 0)}, nil
}

func (k *notKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	v := k.x.Eval(b, selection)
	k.out.Reset(b.Len)
	both(k.out, v, v)
	for _, i := range selection {
		k.out.Bools[i] = !v.Bools[i]
	}
	return k.out
}

type isNullKernel struct {
	x   Kernel
	not bool
	out *column.Vector
}

func (c *compiler) isNull(n *IsNull) (Kernel, error) {
	x, err := c.compile(n.X)
	if err != nil {
		return nil, err
	}
	return &isNullKernel{x: x, not: n.Not, out: column.New(types.Boolean, 0)}, nil
}

func (k *isNullKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	v := k.x.Eval(b, selection)
	k.out.Reset(b.Len)
	for _, i := range selection {
		k.out.SetBool(int(i), v.Null(int(i)) != k.not)
	}
	return k.out
}

type caseKernel struct {
	whens, thens []Kernel
	otherwise    Kernel
	out          *column.Vector
	rest, taken  []int32
}

func (c *compiler) caseOf(n *Case) (Kernel, error) {
	whens, err := c.compileAll(n.Whens)
	if err != nil {
		return nil, err
	}
	thens, err := c.compileAll(n.Thens)
	if err != nil {
		return nil, err
	}
	otherwise, err := c.compile(n.Otherwise)
	if err != nil {
		return nil, err
	}
	return &caseKernel{whens: whens, thens: thens, otherwise: otherwise, out: column.New(n.T, 0)}, nil
}

func (k *caseKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	k.out.Reset(b.Len)
	k.rest = append(k.rest[:0], selection...)
	for w, when := range k.whens {
		if len(k.rest) == 0 {
			return k.out
		}
		condition := when.Eval(b, k.rest)
		k.taken = k.taken[:0]
		n := 0
		for _, i := range k.rest {
			if !condition.Null(int(i)) && condition.Bools[i] {
				k.taken = append(k.taken, i)
				continue
			}
			k.rest[n] = i
			n++
		}
		k.rest = k.rest[:n]
		k.copyBranch(b, k.thens[w], k.taken)
	}
	k.copyBranch(b, k.otherwise, k.rest)
	return k.out
}

func (k *caseKernel) copyBranch(b *column.Batch, branch Kernel, rows []int32) {
	if len(rows) == 0 {
		return
	}
	v := branch.Eval(b, rows)
	for _, i := range rows {
		k.out.CopyRow(int(i), v, int(i))
	}
}
