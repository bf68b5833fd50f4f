package expr

import (
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

type number interface{ int64 | float64 }

// both sets out to the rows that are valid in l and in r.
func both(out, l, r *column.Vector) {
	for w := range out.Valid {
		out.Valid[w] = l.Valid[w] & r.Valid[w]
	}
}

func (c *compiler) arithmetic(n *Arithmetic) (Kernel, error) {
	kernels, err := c.compileAll([]Expr{n.Left, n.Right})
	if err != nil {
		return nil, err
	}
	k := arithmeticKernel{
		left: kernels[0], right: kernels[1], op: n.Op,
		out: column.New(n.T, 0), scope: c.scope, what: &label{make: n.String},
	}
	switch n.T.Kind {
	case types.KindString:
		return &joinTextKernel{k}, nil
	case types.KindDecimal:
		return &decimalKernel{k}, nil
	case types.KindDouble:
		return &doubleKernel{k}, nil
	}
	return &integerKernel{arithmeticKernel: k, wrap: n.T.Kind == types.KindInteger}, nil
}

type arithmeticKernel struct {
	left, right Kernel
	op          byte
	out         *column.Vector
	scope       *scope
	what        *label
}

// operands evaluates both sides and prepares the result's valid rows.
func (k *arithmeticKernel) operands(b *column.Batch, selection []int32) (l, r *column.Vector) {
	l, r = k.left.Eval(b, selection), k.right.Eval(b, selection)
	k.out.Reset(b.Len)
	both(k.out, l, r)
	k.scope.failNulls(b, k.out, selection, k.what)
	return l, r
}

// combine is the hot loop for the operators that cannot fail; a constant right
// side is kept out of memory.
func combine[T number](op byte, out, l, r []T, constant *T, selection []int32) {
	if constant != nil {
		combineConstant(op, out, l, *constant, selection)
		return
	}
	switch op {
	case '+':
		for _, i := range selection {
			out[i] = l[i] + r[i]
		}
	case '-':
		for _, i := range selection {
			out[i] = l[i] - r[i]
		}
	case '*':
		for _, i := range selection {
			out[i] = l[i] * r[i]
		}
	}
}

func combineConstant[T number](op byte, out, l []T, r T, selection []int32) {
	switch op {
	case '+':
		for _, i := range selection {
			out[i] = l[i] + r
		}
	case '-':
		for _, i := range selection {
			out[i] = l[i] - r
		}
	case '*':
		for _, i := range selection {
			out[i] = l[i] * r
		}
	}
}

type integerKernel struct {
	arithmeticKernel
	wrap bool // INTEGER: at 32 bits
}

func (k *integerKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	l, r := k.operands(b, selection)
	if k.op == '/' || k.op == '%' {
		k.divide(b, l, r, selection)
	} else {
		var constant *int64
		if _, ok := k.right.(*constantKernel); ok && len(selection) > 0 {
			constant = &r.Ints[0]
		}
		combine(k.op, k.out.Ints, l.Ints, r.Ints, constant, selection)
	}
	if k.wrap {
		for _, i := range selection {
			k.out.Ints[i] = int64(int32(k.out.Ints[i]))
		}
	}
	return k.out
}

func (k *integerKernel) divide(b *column.Batch, l, r *column.Vector, selection []int32) {
	for _, i := range selection {
		if k.out.Null(int(i)) {
			continue
		}
		divisor := r.Ints[i]
		switch {
		case divisor == 0:
			k.out.SetNull(int(i))
			k.scope.failArithmetic(b, i, k.what, types.ErrDivisionByZero)
		case k.op == '/':
			k.out.Ints[i] = l.Ints[i] / divisor
		default:
			k.out.Ints[i] = l.Ints[i] % divisor
		}
	}
}

type doubleKernel struct{ arithmeticKernel }

func (k *doubleKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	l, r := k.operands(b, selection)
	switch k.op {
	case '/':
		for _, i := range selection {
			k.out.Doubles[i] = l.Doubles[i] / r.Doubles[i]
		}
	case '%':
		for _, i := range selection {
			k.out.Doubles[i] = math.Mod(l.Doubles[i], r.Doubles[i])
		}
	default:
		var constant *float64
		if _, ok := k.right.(*constantKernel); ok && len(selection) > 0 {
			constant = &r.Doubles[0]
		}
		combine(k.op, k.out.Doubles, l.Doubles, r.Doubles, constant, selection)
	}
	return k.out
}

type decimalKernel struct{ arithmeticKernel }

func (k *decimalKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	l, r := k.operands(b, selection)
	for _, i := range selection {
		if k.out.Null(int(i)) {
			continue
		}
		v, err := types.DecimalArithmetic(k.op, l.Decimals[i], l.Type.Scale, r.Decimals[i], r.Type.Scale, k.out.Type)
		if err != nil {
			k.out.SetNull(int(i))
			k.scope.failArithmetic(b, i, k.what, err)
			continue
		}
		k.out.Decimals[i] = v
	}
	return k.out
}

// joinTextKernel is + of texts.
type joinTextKernel struct{ arithmeticKernel }

func (k *joinTextKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	l, r := k.left.Eval(b, selection), k.right.Eval(b, selection)
	k.out.Reset(b.Len)
	for _, i := range selection {
		x, y := textOrNull(l, int(i)), textOrNull(r, int(i))
		text := b.Arena.Alloc(len(x) + len(y))
		copy(text[copy(text, x):], y)
		k.out.SetText(int(i), column.View(text))
	}
	return k.out
}

func textOrNull(v *column.Vector, i int) string {
	if v.Null(i) {
		return "null"
	}
	return v.Texts[i]
}

type negateKernel struct {
	x    Kernel
	out  *column.Vector
	wrap bool
}

func (c *compiler) negate(n *Negate) (Kernel, error) {
	x, err := c.compile(n.X)
	if err != nil {
		return nil, err
	}
	t := n.Type()
	return &negateKernel{x: x, out: column.New(t, 0), wrap: t.Kind == types.KindInteger}, nil
}

func (k *negateKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	v := k.x.Eval(b, selection)
	k.out.Reset(b.Len)
	both(k.out, v, v)
	switch k.out.Type.Kind {
	case types.KindDouble:
		for _, i := range selection {
			k.out.Doubles[i] = -v.Doubles[i]
		}
	case types.KindDecimal:
		for _, i := range selection {
			k.out.Decimals[i] = v.Decimals[i].Negate()
		}
	default:
		for _, i := range selection {
			k.out.Ints[i] = -v.Ints[i]
			if k.wrap {
				k.out.Ints[i] = int64(int32(k.out.Ints[i]))
			}
		}
	}
	return k.out
}
