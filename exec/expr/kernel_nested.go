package expr

import (
	"millrace/exec/column"
	"millrace/sql/types"
)

// fieldKernel is a view of the field's vector with its own valid rows.
type fieldKernel struct {
	x     Kernel
	index int
	out   column.Vector
	valid column.Bitmap
}

func (c *compiler) field(n *Field) (Kernel, error) {
	x, err := c.compile(n.X)
	if err != nil {
		return nil, err
	}
	return &fieldKernel{x: x, index: n.Index}, nil
}

func (k *fieldKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	v := k.x.Eval(b, selection)
	k.out = *v.Children[k.index]
	k.valid = k.valid.Resize(b.Len)
	for w := range k.valid {
		k.valid[w] = v.Valid[w] & k.out.Valid[w]
	}
	k.out.Valid = k.valid
	return &k.out
}

type subscriptKernel struct {
	x, index Kernel
	out      *column.Vector
}

func (c *compiler) subscript(n *Subscript) (Kernel, error) {
	kernels, err := c.compileAll([]Expr{n.X, n.Index})
	if err != nil {
		return nil, err
	}
	return &subscriptKernel{x: kernels[0], index: kernels[1], out: column.New(n.Type(), 0)}, nil
}

func (k *subscriptKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	x, index := k.x.Eval(b, selection), k.index.Eval(b, selection)
	k.out.Reset(b.Len)
	for _, i := range selection {
		if x.Null(int(i)) || index.Null(int(i)) {
			continue
		}
		if x.Type.Kind == types.KindMap {
			k.lookup(x, index, int(i))
			continue
		}
		span, at := x.Spans[i], index.Ints[i]
		if at < 0 {
			at += int64(span.Len) + 1
		}
		if at >= 1 && at <= int64(span.Len) {
			k.out.CopyRow(int(i), x.Children[0], int(span.Start)+int(at)-1)
		}
	}
	return k.out
}

func (k *subscriptKernel) lookup(x, key *column.Vector, i int) {
	span := x.Spans[i]
	for at := int(span.Start + span.Len - 1); at >= int(span.Start); at-- {
		if column.EqualRows(x.Children[0], at, key, i) {
			k.out.CopyRow(i, x.Children[1], at)
			return
		}
	}
}

type arrayKernel struct {
	elements []Kernel
	values   []*column.Vector
	out      *column.Vector
}

func (c *compiler) array(n *Array) (Kernel, error) {
	elements, err := c.compileAll(n.Elements)
	if err != nil {
		return nil, err
	}
	return &arrayKernel{elements: elements, values: make([]*column.Vector, len(elements)), out: column.New(n.T, 0)}, nil
}

func (k *arrayKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	for e, element := range k.elements {
		k.values[e] = element.Eval(b, selection)
	}
	k.out.Reset(b.Len)
	child := k.out.Children[0]
	for _, i := range selection {
		start := child.Extend(len(k.values))
		for e, v := range k.values {
			child.CopyRow(start+e, v, int(i))
		}
		k.out.SetSpan(int(i), start, len(k.values))
	}
	return k.out
}

type mapKernel struct {
	keys, values             []Kernel
	keyVectors, valueVectors []*column.Vector
	out                      *column.Vector
}

func (c *compiler) mapOf(n *Map) (Kernel, error) {
	keys, err := c.compileAll(n.Keys)
	if err != nil {
		return nil, err
	}
	values, err := c.compileAll(n.Values)
	if err != nil {
		return nil, err
	}
	return &mapKernel{
		keys: keys, values: values, out: column.New(n.T, 0),
		keyVectors: make([]*column.Vector, len(keys)), valueVectors: make([]*column.Vector, len(values)),
	}, nil
}

func (k *mapKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	for e := range k.keys {
		k.keyVectors[e] = k.keys[e].Eval(b, selection)
		k.valueVectors[e] = k.values[e].Eval(b, selection)
	}
	k.out.Reset(b.Len)
	keys, values := k.out.Children[0], k.out.Children[1]
	for _, i := range selection {
		start, count := keys.Len(), 0
		for e, v := range k.keyVectors {
			at := start
			for at < start+count && !column.EqualRows(keys, at, v, int(i)) {
				at++
			}
			if at == start+count {
				keys.Extend(1)
				values.Extend(1)
				keys.CopyRow(at, v, int(i))
				count++
			}
			values.CopyRow(at, k.valueVectors[e], int(i))
		}
		k.out.SetSpan(int(i), start, count)
	}
	return k.out
}

// structKernel has the vectors of its fields as children.
type structKernel struct {
	values   []Kernel
	children []*column.Vector
	out      *column.Vector
}

func (c *compiler) structOf(n *Struct) (Kernel, error) {
	values, err := c.compileAll(n.Values)
	if err != nil {
		return nil, err
	}
	return &structKernel{values: values, children: make([]*column.Vector, len(values)), out: &column.Vector{Type: n.T}}, nil
}

func (k *structKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	for e, value := range k.values {
		k.children[e] = value.Eval(b, selection)
	}
	// The children belong to others and must not be reset with the struct.
	k.out.Children = nil
	k.out.Reset(b.Len)
	k.out.Children = k.children
	k.out.Valid.Fill(b.Len, true)
	return k.out
}
