package expr

import (
	"fmt"

	"millrace/exec/column"
	"millrace/sql/types"
)

type columnKernel int

func (k columnKernel) Eval(b *column.Batch, _ []int32) *column.Vector { return b.Columns[k] }

// constantKernel holds a vector with the one value in every row, and grows it
// when a larger batch comes.
type constantKernel struct {
	one *column.Vector // of one row
	all *column.Vector
}

func (k *constantKernel) Eval(b *column.Batch, _ []int32) *column.Vector {
	if k.all == nil || k.all.Len() < b.Len {
		k.all = repeat(k.one, max(b.Len, 64))
	}
	return k.all
}

func (k *constantKernel) null() bool { return k.one.Null(0) }

// repeat is a vector with row 0 of one in each of n rows. Elements of an ARRAY
// or MAP stand there once.
func repeat(one *column.Vector, n int) *column.Vector {
	v := column.New(one.Type, n)
	if !one.Null(0) {
		v.Valid.Fill(n, true)
	}
	switch one.Type.Kind {
	case types.KindArray, types.KindMap:
		v.Children = one.Children
		for i := range n {
			v.Spans[i] = one.Spans[0]
		}
	case types.KindStruct:
		for k, child := range one.Children {
			v.Children[k] = repeat(child, n)
		}
	default:
		if !one.Null(0) {
			for i := range n {
				v.CopyRow(i, one, 0)
			}
		}
	}
	return v
}

// frame holds the values of a lambda's parameters during its evaluation.
type frame struct {
	names   []string
	vectors []*column.Vector
	// inner is the batch that the body is evaluated over; columns of the outer
	// batch are spread over it as far as the body reads them.
	inner column.Batch
	outer []int32
}

type parameterKernel struct {
	frame *frame
	index int
}

func (k *parameterKernel) Eval(*column.Batch, []int32) *column.Vector {
	return k.frame.vectors[k.index]
}

func (c *compiler) parameter(n *Parameter) (Kernel, error) {
	for depth := len(c.frames) - 1; depth >= 0; depth-- {
		f := c.frames[depth]
		for i, name := range f.names {
			if name != n.Name {
				continue
			}
			if depth == len(c.frames)-1 {
				return &parameterKernel{frame: f, index: i}, nil
			}
			return &outerParameterKernel{frames: c.frames[depth:], index: i}, nil
		}
	}
	return nil, fmt.Errorf("compile %s: no lambda has this parameter", n)
}

// outerParameterKernel spreads a parameter of an outer lambda over the rows of
// the inner one.
type outerParameterKernel struct {
	frames []*frame // from the parameter's to the innermost
	index  int
	out    *column.Vector
}

func (k *outerParameterKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	source := k.frames[0].vectors[k.index]
	k.out = reset(k.out, source.Type, b.Len)
	for _, i := range selection {
		at := i
		for depth := len(k.frames) - 1; depth > 0; depth-- {
			at = k.frames[depth].outer[at]
		}
		k.out.CopyRow(int(i), source, int(at))
	}
	return k.out
}

// reset makes v, which may be nil at first, a vector of n null rows.
func reset(v *column.Vector, t *types.Type, n int) *column.Vector {
	if v == nil {
		return column.New(t, n)
	}
	v.Reset(n)
	return v
}
