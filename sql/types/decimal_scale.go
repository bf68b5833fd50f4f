package types

import (
	"cmp"
	"math"
	"math/bits"
)

// Rounding says whether a quotient goes away from zero whose rest is not zero:
// sign is that of the dividend, halves the order of the doubled rest's
// absolute value and the divisor.
type Rounding func(sign, halves int) (away bool)

// RoundCeiling rounds towards positive infinity.
func RoundCeiling(sign, _ int) bool { return sign > 0 }

// RoundFloor rounds towards negative infinity.
func RoundFloor(sign, _ int) bool { return sign < 0 }

// RoundDown rounds towards zero.
func RoundDown(int, int) bool { return false }

// RoundHalfAway rounds to the nearest value, a half away from zero.
func RoundHalfAway(_, halves int) bool { return halves >= 0 }

// RoundHalfCeiling rounds to the nearest value, a half towards positive infinity.
func RoundHalfCeiling(sign, halves int) bool { return halves > 0 || halves == 0 && sign > 0 }

// Rescale changes the scale of d from one to another, exactly: dropping digits
// that are not zero gives ErrDecimalRounding, a value beyond 128 bits
// ErrDecimalOverflow. The scales may be any numbers, negative ones too.
func (d Decimal) Rescale(from, to int) (Decimal, error) {
	if to >= from {
		return d.MultiplyByPower(to - from)
	}
	quotient, _, exact := d.magnitude().divideByPower(from - to)
	if !exact {
		return Decimal{}, ErrDecimalRounding
	}
	return quotient.signed(d), nil
}

// Round changes the scale of d from one to another; dropped digits round half
// away from zero.
func (d Decimal) Round(from, to int) (Decimal, error) {
	if to >= from {
		return d.MultiplyByPower(to - from)
	}
	return d.DivideByPower(from-to, RoundHalfAway), nil
}

// Truncate changes the scale of d from one to another; dropped digits are lost.
func (d Decimal) Truncate(from, to int) (Decimal, error) {
	if to >= from {
		return d.MultiplyByPower(to - from)
	}
	return d.DivideByPower(from-to, RoundDown), nil
}

// DivideByPower divides d by ten to the power of digits, which is not
// negative, rounded by the mode.
func (d Decimal) DivideByPower(digits int, mode Rounding) Decimal {
	quotient, halves, exact := d.magnitude().divideByPower(digits)
	if !exact && mode(d.Sign(), halves) {
		quotient = quotient.Add(Decimal{Low: 1})
	}
	return quotient.signed(d)
}

// MultiplyByPower multiplies d by ten to the power of digits, which is not
// negative. A product beyond 128 bits gives ErrDecimalOverflow.
func (d Decimal) MultiplyByPower(digits int) (Decimal, error) {
	if digits == 0 || d == (Decimal{}) {
		return d, nil
	}
	if digits > MaxPrecision {
		return Decimal{}, ErrDecimalOverflow
	}
	m, power := d.magnitude(), powers[digits]
	if m.High != 0 && power.High != 0 {
		return Decimal{}, ErrDecimalOverflow
	}
	high, low := bits.Mul64(m.Low, power.Low)
	overflow, cross := bits.Mul64(uint64(m.High), power.Low)
	overflow2, cross2 := bits.Mul64(m.Low, uint64(power.High))
	// One of the two is zero, so that their sum has no carry.
	high, carry := bits.Add64(high, cross+cross2, 0)
	if overflow|overflow2|carry != 0 || high > math.MaxInt64 {
		return Decimal{}, ErrDecimalOverflow
	}
	return Decimal{High: int64(high), Low: low}.signed(d), nil
}

// magnitude is the absolute value of d as an unsigned number, which -2^127 has too.
func (d Decimal) magnitude() Decimal {
	if d.High < 0 {
		return d.Negate()
	}
	return d
}

// signed is d, a magnitude, with the sign of like.
func (d Decimal) signed(like Decimal) Decimal {
	if like.High < 0 {
		return d.Negate()
	}
	return d
}

// maxPower is the largest power of ten in 64 bits.
const maxPower = 19

// divideByPower divides d, a magnitude, by ten to the power of digits. A rest
// makes the quotient inexact; halves is the order of the doubled rest and the
// divisor.
func (d Decimal) divideByPower(digits int) (quotient Decimal, halves int, exact bool) {
	high, low := uint64(d.High), d.Low
	lower, rest, unit := false, uint64(0), uint64(1)
	for left := min(digits, 2*MaxPrecision); left > 0; left -= maxPower {
		// What the steps before left over is below the rest of this one.
		lower = lower || rest != 0
		unit = powers[min(left, maxPower)].Low
		var carry uint64
		if high != 0 {
			high, carry = high/unit, high%unit
		}
		low, rest = bits.Div64(carry, low, unit)
	}
	halves = cmp.Compare(rest, unit/2)
	if halves == 0 && lower {
		halves = 1
	}
	return Decimal{High: int64(high), Low: low}, halves, rest == 0 && !lower
}
