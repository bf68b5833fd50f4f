package types

import (
	"math/big"
	"math/bits"
)

// DecimalResult is the type of the decimal arithmetic a op b, of two DECIMAL
// types. With (p1,s1) and (p2,s2) it is
//
//   - -  scale max(s1,s2), precision max(p1-s1,p2-s2) + scale + 1
//   - scale s1+s2, precision p1+p2+1
//     /    scale max(6, s1+p2+1), precision p1-s1+s2+scale
//     %    scale max(s1,s2), precision min(p1-s1,p2-s2) + scale
//
// A precision over 38 becomes 38 and the scale is kept, so that the value has
// to fit; a scale over 38 gives way to the digits before the point, down to 6.
func DecimalResult(op byte, a, b *Type) *Type {
	var precision, scale int
	switch op {
	case '*':
		scale = a.Scale + b.Scale
		precision = a.Precision + b.Precision + 1
	case '/':
		scale = max(6, a.Scale+b.Precision+1)
		precision = a.Precision - a.Scale + b.Scale + scale
	case '%':
		scale = max(a.Scale, b.Scale)
		precision = min(a.Precision-a.Scale, b.Precision-b.Scale) + scale
	default:
		scale = max(a.Scale, b.Scale)
		precision = max(a.Precision-a.Scale, b.Precision-b.Scale) + scale + 1
	}
	if scale > MaxPrecision {
		scale = max(MaxPrecision-(precision-scale), 6)
	}
	return DecimalOf(max(min(precision, MaxPrecision), scale, 1), scale)
}

// DecimalArithmetic computes a op b exactly, for op one of + - * / %, into a
// value of type result. A value that would need rounding gives
// ErrDecimalRounding, one with too many digits ErrDecimalOverflow, and a zero
// divisor ErrDivisionByZero.
func DecimalArithmetic(op byte, a Decimal, aScale int, b Decimal, bScale int, result *Type) (Decimal, error) {
	if v, ok := smallArithmetic(op, a, aScale, b, bScale, result); ok {
		if !v.Fits(result.Precision) {
			return Decimal{}, ErrDecimalOverflow
		}
		return v, nil
	}
	x, y := a.Big(), b.Big()
	scale := 0
	switch op {
	case '*':
		x.Mul(x, y)
		scale = aScale + bScale
	case '/':
		if y.Sign() == 0 {
			return Decimal{}, ErrDivisionByZero
		}
		shift := result.Scale - aScale + bScale
		if shift < 0 {
			y.Mul(y, pow10(-shift))
		} else {
			x.Mul(x, pow10(shift))
		}
		rest := new(big.Int)
		if x.QuoRem(x, y, rest); rest.Sign() != 0 {
			return Decimal{}, ErrDecimalRounding
		}
		scale = result.Scale
	default:
		scale = max(aScale, bScale)
		x.Mul(x, pow10(scale-aScale))
		y.Mul(y, pow10(scale-bScale))
		switch {
		case op == '+':
			x.Add(x, y)
		case op == '-':
			x.Sub(x, y)
		case y.Sign() == 0:
			return Decimal{}, ErrDivisionByZero
		default:
			x.Rem(x, y)
		}
	}
	v, err := rescaleBig(x, scale, result.Scale)
	if err != nil {
		return Decimal{}, err
	}
	if !v.Fits(result.Precision) {
		return Decimal{}, ErrDecimalOverflow
	}
	return v, nil
}

// smallArithmetic covers sums of equal scales and products of values in 64
// bits, which are nearly all there are in practice.
func smallArithmetic(op byte, a Decimal, aScale int, b Decimal, bScale int, result *Type) (Decimal, bool) {
	switch op {
	case '+', '-':
		if aScale != bScale || aScale != result.Scale {
			return Decimal{}, false
		}
		if op == '-' {
			return a.Sub(b), true
		}
		return a.Add(b), true
	case '*':
		x, ok := a.Small()
		y, okY := b.Small()
		if !ok || !okY || aScale+bScale != result.Scale {
			return Decimal{}, false
		}
		high, low := bits.Mul64(absolute(x), absolute(y))
		if high>>63 != 0 {
			return Decimal{}, false
		}
		v := Decimal{High: int64(high), Low: low}
		if x < 0 != (y < 0) {
			v = v.Negate()
		}
		return v, true
	}
	return Decimal{}, false
}

// CompareDecimals orders two values of any scales.
func CompareDecimals(a Decimal, aScale int, b Decimal, bScale int) int {
	if aScale == bScale {
		return a.Compare(b)
	}
	if x, err := a.Rescale(aScale, max(aScale, bScale)); err == nil {
		if y, err := b.Rescale(bScale, max(aScale, bScale)); err == nil {
			return x.Compare(y)
		}
	}
	scale := max(aScale, bScale)
	x, y := a.Big(), b.Big()
	x.Mul(x, pow10(scale-aScale))
	return x.Cmp(y.Mul(y, pow10(scale-bScale)))
}
