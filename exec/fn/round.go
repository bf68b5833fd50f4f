package fn

import (
	"cmp"
	"math"
	"math/bits"
	"strconv"

	"millrace/sql/types"
)

var roundFunctions = []*Function{
	{
		Name: "CEIL", Doc: "Returns the least whole number that is not below a number.",
		Overloads: wholeOverloads(math.Ceil, roundingCeiling),
	},
	{
		Name: "FLOOR", Doc: "Returns the greatest whole number that is not above a number.",
		Overloads: wholeOverloads(math.Floor, roundingFloor),
	},
	{
		Name: "ROUND", Doc: "Rounds a number to a whole one or to a number of decimal places; halves go up, towards positive infinity.",
		Overloads: roundOverloads(roundDouble, roundingHalf),
	},
	{
		Name: "TRUNC", Doc: "Cuts a number off to a whole one or to a number of decimal places.",
		Overloads: roundOverloads(math.Trunc, roundingDown),
	},
}

// rounding says which way a quotient goes whose rest is not zero; halves is
// the order of the doubled rest's absolute value and the divisor.
type rounding func(sign, halves int) (away bool)

func roundingCeiling(sign, _ int) bool { return sign > 0 }

func roundingFloor(sign, _ int) bool { return sign < 0 }

func roundingDown(int, int) bool { return false }

func roundingHalf(sign, halves int) bool { return halves > 0 || halves == 0 && sign > 0 }

// roundDouble is Java's Math.round as a DOUBLE.
func roundDouble(v float64) float64 {
	floor := math.Floor(v)
	if v-floor >= 0.5 {
		return floor + 1
	}
	return floor
}

func wholeOverloads(double func(float64) float64, mode rounding) []*Overload {
	return []*Overload{
		{Signature: "(INTEGER) INTEGER", Row: copyArgument(0)},
		{Signature: "(BIGINT) BIGINT", Row: copyArgument(0)},
		{Signature: "(DECIMAL) DECIMAL", Row: roundDecimalTo(mode, false)},
		{Signature: "(DOUBLE) DOUBLE", Row: func(c *Call, i int) error {
			c.Out.SetDouble(i, double(c.double(0, i)))
			return nil
		}},
	}
}

func roundOverloads(double func(float64) float64, mode rounding) []*Overload {
	return []*Overload{
		{Signature: "(INTEGER) BIGINT", Row: copyInteger},
		{Signature: "(BIGINT) BIGINT", Row: copyInteger},
		{Signature: "(DOUBLE) BIGINT", Row: func(c *Call, i int) error {
			c.Out.SetInt(i, saturateBigint(double(c.double(0, i))))
			return nil
		}},
		{Signature: "(DOUBLE, INTEGER) DOUBLE", Row: func(c *Call, i int) error {
			v, places := c.double(0, i), int(c.integer(1, i))
			rounded, err := roundDoubleTo(v, places, mode)
			if err == nil {
				c.Out.SetDouble(i, rounded)
			}
			return err
		}},
		{Signature: "(DECIMAL) DECIMAL", Result: wholeDecimal, Row: roundDecimalTo(mode, false)},
		{Signature: "(DECIMAL, INTEGER) DECIMAL", Row: roundDecimalTo(mode, true)},
	}
}

func copyInteger(c *Call, i int) error {
	c.Out.SetInt(i, c.integer(0, i))
	return nil
}

func saturateBigint(v float64) int64 {
	switch {
	case v != v:
		return 0
	case v <= math.MinInt64:
		return math.MinInt64
	case v >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(v)
}

// wholeDecimal is the type of a DECIMAL without its fraction.
func wholeDecimal(arguments []*types.Type) (*types.Type, error) {
	t := arguments[0]
	return types.DecimalOf(max(t.Precision-t.Scale, 1), 0), nil
}

// roundDoubleTo rounds the decimal number that v prints as.
func roundDoubleTo(v float64, places int, mode rounding) (float64, error) {
	if v != v || math.IsInf(v, 0) {
		return v, nil
	}
	unscaled, scale := shortestDigits(v)
	if places >= scale {
		return v, nil
	}
	if places < -400 {
		return 0, nil
	}
	rounded := divideDecimal(types.DecimalFromInt(unscaled), scale-places, mode)
	whole, _ := rounded.Small()
	if places >= -maxExactPower && places <= maxExactPower && whole > -maxExactInteger && whole < maxExactInteger {
		// Both are exact doubles, so one operation gives the nearest one.
		if places < 0 {
			return float64(whole) * math.Pow10(-places), nil
		}
		return float64(whole) / math.Pow10(places), nil
	}
	var room [48]byte
	text := append(strconv.AppendInt(room[:0], whole, 10), 'e')
	return strconv.ParseFloat(string(strconv.AppendInt(text, int64(-places), 10)), 64)
}

// Integers below 2^53 and powers of ten up to 10^22 are exact as doubles.
const (
	maxExactInteger = 1 << 53
	maxExactPower   = 22
)

// shortestDigits is the shortest decimal number that reads back as v, which is
// finite: at most 17 digits, and their scale.
func shortestDigits(v float64) (unscaled int64, scale int) {
	var room [32]byte
	text := strconv.AppendFloat(room[:0], v, 'e', -1, 64)
	for at, b := range text {
		switch {
		case b >= '0' && b <= '9':
			unscaled = unscaled*10 + int64(b-'0')
			scale++
		case b == 'e':
			exponent, sign := 0, 1
			if text[at+1] == '-' {
				sign = -1
			}
			for _, digit := range text[at+2:] {
				exponent = exponent*10 + int(digit-'0')
			}
			if v < 0 {
				unscaled = -unscaled
			}
			return unscaled, scale - 1 - sign*exponent
		}
	}
	return 0, 0
}

// maxPower is the largest power of ten in 64 bits.
const maxPower = 19

// divideDecimal divides d by ten to the power of digits, rounded by the mode.
func divideDecimal(d types.Decimal, digits int, mode rounding) types.Decimal {
	sign := d.Sign()
	if sign < 0 {
		d = d.Negate()
	}
	high, low := uint64(d.High), d.Low
	lower, rest, unit := false, uint64(0), uint64(1)
	for left := min(digits, 2*types.MaxPrecision); left > 0; left -= maxPower {
		// What the steps before left over is below the rest of this one.
		lower = lower || rest != 0
		unit = types.PowerOfTen(min(left, maxPower)).Low
		var carry uint64
		high, carry = high/unit, high%unit
		low, rest = bits.Div64(carry, low, unit)
	}
	quotient := types.Decimal{High: int64(high), Low: low}
	if rest != 0 || lower {
		halves := cmp.Compare(rest, unit/2)
		if halves == 0 && lower {
			halves = 1
		}
		if mode(sign, halves) {
			quotient = quotient.Add(types.DecimalFromInt(1))
		}
	}
	if sign < 0 {
		quotient = quotient.Negate()
	}
	return quotient
}

// multiplyDecimal multiplies d by ten to the power of digits.
func multiplyDecimal(d types.Decimal, digits int) (types.Decimal, error) {
	sign := d.Sign()
	if sign == 0 {
		return d, nil
	}
	if digits > types.MaxPrecision {
		return d, types.ErrDecimalOverflow
	}
	if sign < 0 {
		d = d.Negate()
	}
	power := types.PowerOfTen(digits)
	if d.High != 0 && power.High != 0 {
		return d, types.ErrDecimalOverflow
	}
	high, low := bits.Mul64(d.Low, power.Low)
	overflow, cross := bits.Mul64(uint64(d.High), power.Low)
	overflow2, cross2 := bits.Mul64(d.Low, uint64(power.High))
	cross, carry := bits.Add64(cross, cross2, 0)
	high, carry2 := bits.Add64(high, cross, 0)
	if overflow|overflow2|carry|carry2 != 0 || high > math.MaxInt64 {
		return d, types.ErrDecimalOverflow
	}
	product := types.Decimal{High: int64(high), Low: low}
	if sign < 0 {
		product = product.Negate()
	}
	return product, nil
}

// roundDecimalTo rounds to whole numbers or to the places of the second
// argument; the value keeps the scale of the result type.
func roundDecimalTo(mode rounding, withPlaces bool) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		scale, places := c.Args[0].Type.Scale, 0
		if withPlaces {
			places = int(c.integer(1, i))
		}
		d, result := c.decimal(0, i), c.Out.Type.Scale
		if places < scale {
			drop := min(scale-places, 2*types.MaxPrecision)
			d = divideDecimal(d, drop, mode)
			scale -= drop
		}
		d, err := multiplyDecimal(d, result-scale)
		if err != nil {
			return err
		}
		if !d.Fits(c.Out.Type.Precision) {
			return types.ErrDecimalOverflow
		}
		c.Out.SetDecimal(i, d)
		return nil
	}
}
