package expr

import (
	"cmp"

	"millrace/exec/column"
	"millrace/sql/types"
)

type compareKernel struct {
	op          Operator
	left, right Kernel
	out         *column.Vector
}

func (c *compiler) compare(n *Compare) (Kernel, error) { return c.compareKernel(n) }

func (c *compiler) compareKernel(n *Compare) (*compareKernel, error) {
	kernels, err := c.compileAll([]Expr{n.Left, n.Right})
	if err != nil {
		return nil, err
	}
	k := &compareKernel{op: n.Op, left: kernels[0], right: kernels[1], out: column.New(types.Boolean, 0)}
	if _, ok := k.left.(*constantKernel); ok {
		k.left, k.right, k.op = k.right, k.left, k.op.mirror()
	}
	return k, nil
}

func (k *compareKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	l, r := k.left.Eval(b, selection), k.right.Eval(b, selection)
	k.out.Reset(b.Len)
	both(k.out, l, r)
	compareRows(k.op, l, r, selection, k.out)
	return k.out
}

// Narrow keeps the rows for which the comparison holds.
func (k *compareKernel) Narrow(b *column.Batch, selection []int32) []int32 {
	l, r := k.left.Eval(b, selection), k.right.Eval(b, selection)
	_, constant := k.right.(*constantKernel)
	return narrowRows(k.op, l, r, constant, selection)
}

// compareRows sets the selected rows of out that are valid.
func compareRows(op Operator, l, r *column.Vector, selection []int32, out *column.Vector) {
	switch l.Type.Kind {
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		compareOrdered(op, l.Ints, r.Ints, selection, out.Bools)
	case types.KindDouble:
		compareOrdered(op, l.Doubles, r.Doubles, selection, out.Bools)
	default:
		for _, i := range selection {
			if !out.Null(int(i)) {
				out.Bools[i] = holds(op, l, r, int(i))
			}
		}
	}
}

func compareOrdered[T cmp.Ordered](op Operator, l, r []T, selection []int32, out []bool) {
	switch op {
	case OperatorEqual:
		for _, i := range selection {
			out[i] = l[i] == r[i]
		}
	case OperatorNotEqual:
		for _, i := range selection {
			out[i] = l[i] != r[i]
		}
	case OperatorLess:
		for _, i := range selection {
			out[i] = l[i] < r[i]
		}
	case OperatorLessEqual:
		for _, i := range selection {
			out[i] = l[i] <= r[i]
		}
	case OperatorGreater:
		for _, i := range selection {
			out[i] = l[i] > r[i]
		}
	case OperatorGreaterEqual:
		for _, i := range selection {
			out[i] = l[i] >= r[i]
		}
	}
}

// holds compares row i of l and r, both valid.
func holds(op Operator, l, r *column.Vector, i int) bool {
	switch op {
	case OperatorEqual:
		return equalValues(l, r, i)
	case OperatorNotEqual:
		return !equalValues(l, r, i)
	}
	order := orderOf(l, r, i)
	switch op {
	case OperatorLess:
		return order < 0
	case OperatorLessEqual:
		return order <= 0
	case OperatorGreater:
		return order > 0
	}
	return order >= 0
}

func equalValues(l, r *column.Vector, i int) bool {
	switch l.Type.Kind {
	case types.KindDecimal:
		return types.CompareDecimals(l.Decimals[i], l.Type.Scale, r.Decimals[i], r.Type.Scale) == 0
	case types.KindDouble:
		return l.Doubles[i] == r.Doubles[i]
	}
	return column.EqualRows(l, i, r, i)
}

// orderOf orders values that are not held in Ints or Doubles.
func orderOf(l, r *column.Vector, i int) int {
	switch l.Type.Kind {
	case types.KindDecimal:
		return types.CompareDecimals(l.Decimals[i], l.Type.Scale, r.Decimals[i], r.Type.Scale)
	case types.KindString:
		return types.CompareText(l.Texts[i], r.Texts[i])
	case types.KindBytes:
		return cmp.Compare(l.Texts[i], r.Texts[i])
	}
	return 0
}

// narrowRows keeps the selected rows that are valid and compare as asked.
// With constant, all rows of r are the same.
func narrowRows(op Operator, l, r *column.Vector, constant bool, selection []int32) []int32 {
	if len(selection) == 0 {
		return selection
	}
	if constant && r.Null(0) {
		return selection[:0]
	}
	switch l.Type.Kind {
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		if constant {
			return narrowConstant(op, l.Ints, r.Ints[0], l.Valid, selection)
		}
		return narrowOrdered(op, l.Ints, r.Ints, l.Valid, r.Valid, selection)
	case types.KindDouble:
		if constant {
			return narrowConstant(op, l.Doubles, r.Doubles[0], l.Valid, selection)
		}
		return narrowOrdered(op, l.Doubles, r.Doubles, l.Valid, r.Valid, selection)
	}
	if !op.ordered() && constant && l.Texts != nil && r.Texts != nil {
		return narrowText(op == OperatorEqual, l.Texts, r.Texts[0], l.Valid, selection)
	}
	n := 0
	for _, i := range selection {
		if !l.Null(int(i)) && !r.Null(int(i)) && holds(op, l, r, int(i)) {
			selection[n] = i
			n++
		}
	}
	return selection[:n]
}

func narrowText(equal bool, texts []string, text string, valid column.Bitmap, selection []int32) []int32 {
	n := 0
	for _, i := range selection {
		if (texts[i] == text) == equal && valid.Get(int(i)) {
			selection[n] = i
			n++
		}
	}
	return selection[:n]
}

// one is 1 for true; the compiler makes it a set instruction, so that the
// loops below have no branch that a random column would mispredict.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func bit(m column.Bitmap, i int32) int { return int(m[i>>6] >> (uint(i) & 63) & 1) }

func narrowConstant[T cmp.Ordered](op Operator, x []T, y T, valid column.Bitmap, selection []int32) []int32 {
	n := 0
	switch op {
	case OperatorEqual:
		for _, i := range selection {
			selection[n] = i
			n += one(x[i] == y) & bit(valid, i)
		}
	case OperatorNotEqual:
		for _, i := range selection {
			selection[n] = i
			n += one(x[i] != y) & bit(valid, i)
		}
	case OperatorLess:
		for _, i := range selection {
			selection[n] = i
			n += one(x[i] < y) & bit(valid, i)
		}
	case OperatorLessEqual:
		for _, i := range selection {
			selection[n] = i
			n += one(x[i] <= y) & bit(valid, i)
		}
	case OperatorGreater:
		for _, i := range selection {
			selection[n] = i
			n += one(x[i] > y) & bit(valid, i)
		}
	case OperatorGreaterEqual:
		for _, i := range selection {
			selection[n] = i
			n += one(x[i] >= y) & bit(valid, i)
		}
	}
	return selection[:n]
}

func narrowOrdered[T cmp.Ordered](op Operator, x, y []T, vx, vy column.Bitmap, selection []int32) []int32 {
	n := 0
	for _, i := range selection {
		selection[n] = i
		var keep bool
		switch op {
		case OperatorEqual:
			keep = x[i] == y[i]
		case OperatorNotEqual:
			keep = x[i] != y[i]
		case OperatorLess:
			keep = x[i] < y[i]
		case OperatorLessEqual:
			keep = x[i] <= y[i]
		case OperatorGreater:
			keep = x[i] > y[i]
		case OperatorGreaterEqual:
			keep = x[i] >= y[i]
		}
		n += one(keep) & bit(vx, i) & bit(vy, i)
	}
	return selection[:n]
}

type distinctKernel struct {
	left, right Kernel
	not         bool
	out         *column.Vector
}

func (c *compiler) isDistinct(n *IsDistinct) (Kernel, error) {
	kernels, err := c.compileAll([]Expr{n.Left, n.Right})
	if err != nil {
		return nil, err
	}
	return &distinctKernel{left: kernels[0], right: kernels[1], not: n.Not, out: column.New(types.Boolean, 0)}, nil
}

func (k *distinctKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	l, r := k.left.Eval(b, selection), k.right.Eval(b, selection)
	k.out.Reset(b.Len)
	for _, i := range selection {
		same := l.Null(int(i)) == r.Null(int(i))
		if same && !l.Null(int(i)) {
			same = equalValues(l, r, int(i))
		}
		k.out.SetBool(int(i), same == k.not)
	}
	return k.out
}
