package expr

import (
	"millrace/exec/column"
	"millrace/exec/fn"
)

// callKernel applies a scalar function row by row.
type callKernel struct {
	args  []Kernel // nil for a lambda
	call  fn.Call
	over  *fn.Overload
	scope *scope
	what  *label
	batch *column.Batch
	valid []int32

	failed    column.Bitmap // the rows that failed; undefined without anyFailed
	anyFailed bool
}

func (c *compiler) call(n *Call) (Kernel, error) {
	k := &callKernel{args: make([]Kernel, len(n.Args)), over: n.overload, scope: c.scope, what: &label{make: n.String}}
	k.call = fn.Call{
		Args: make([]*column.Vector, len(n.Args)), Out: column.New(n.T, 0),
		Now: c.env.Now, Random: c.env.Random,
	}
	k.call.Fail = func(i int, err error) { k.fail(int32(i), err) }
	for i, e := range n.Args {
		if lambda, ok := e.(*Lambda); ok {
			compiled, err := c.lambda(lambda, k)
			if err != nil {
				return nil, err
			}
			k.call.Lambdas = append(k.call.Lambdas, compiled)
			continue
		}
		var err error
		if k.args[i], err = c.compile(e); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// fail makes row i null and reports it once.
func (k *callKernel) fail(i int32, err error) {
	if !k.anyFailed {
		k.failed = k.failed.Resize(k.batch.Len)
		k.failed.Fill(k.batch.Len, false)
		k.anyFailed = true
	}
	if !k.failed.Get(int(i)) {
		k.failed.Set(int(i))
		k.scope.report(k.batch, i, k.what, err)
	}
}

func (k *callKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	for i, arg := range k.args {
		if arg != nil {
			k.call.Args[i] = arg.Eval(b, selection)
		}
	}
	k.batch, k.call.Arena = b, b.Arena
	k.call.Out.Reset(b.Len)
	k.anyFailed = false
	if k.over.Rows != nil {
		k.over.Rows(&k.call, selection)
	} else {
		k.rows(selection)
	}
	if k.anyFailed {
		for w := range k.failed {
			k.call.Out.Valid[w] &^= k.failed[w]
		}
	}
	return k.call.Out
}

func (k *callKernel) rows(selection []int32) {
	if !k.over.Nulls {
		selection = k.notNull(selection)
	}
	for _, i := range selection {
		if err := k.over.Row(&k.call, int(i)); err != nil {
			k.fail(i, err)
		}
	}
}

// notNull is the selected rows without a null argument.
func (k *callKernel) notNull(selection []int32) []int32 {
	k.valid = append(k.valid[:0], selection...)
	for _, v := range k.call.Args {
		n := 0
		for _, i := range k.valid {
			k.valid[n] = i
			n += bit(v.Valid, i)
		}
		k.valid = k.valid[:n]
	}
	return k.valid
}

// lambdaKernel evaluates a lambda's body over inner rows.
type lambdaKernel struct {
	body    Kernel
	frame   *frame
	columns []int // of the outer batch that the body reads
	call    *callKernel
	spread  []*column.Vector
	rows    []int32
}

func (c *compiler) lambda(n *Lambda, call *callKernel) (*lambdaKernel, error) {
	k := &lambdaKernel{frame: &frame{names: n.Parameters}, columns: ColumnsOf(n.Body), call: call}
	inner := &compiler{env: c.env, frames: append(append([]*frame{}, c.frames...), k.frame)}
	inner.scope = &scope{lambda: k}
	var err error
	if k.body, err = inner.compile(n.Body); err != nil {
		return nil, err
	}
	k.spread = make([]*column.Vector, len(k.columns))
	return k, nil
}

// Evaluate implements fn.Lambda.
func (k *lambdaKernel) Evaluate(parameters []*column.Vector, outer []int32) *column.Vector {
	n := len(outer)
	for len(k.rows) < n {
		k.rows = append(k.rows, int32(len(k.rows)))
	}
	source := k.call.batch
	inner := &k.frame.inner
	*inner = column.Batch{
		Len: n, Columns: inner.Columns, Selection: k.rows[:n], Arena: source.Arena, Partition: source.Partition,
	}
	if len(inner.Columns) != len(source.Columns) {
		inner.Columns = make([]*column.Vector, len(source.Columns))
	}
	for s, index := range k.columns {
		from := source.Columns[index]
		k.spread[s] = reset(k.spread[s], from.Type, n)
		for e, i := range outer {
			k.spread[s].CopyRow(e, from, int(i))
		}
		inner.Columns[index] = k.spread[s]
	}
	k.frame.vectors, k.frame.outer = parameters, outer
	return k.body.Eval(inner, inner.Selection)
}
