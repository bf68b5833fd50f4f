package fn

import (
	"math"
	"math/big"
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
	unscaled, scale, err := types.ParseUnscaled(strconv.FormatFloat(v, 'e', -1, 64))
	if err != nil {
		return 0, err
	}
	if places >= scale {
		return v, nil
	}
	if places < -400 {
		return 0, nil
	}
	divide(unscaled, scale-places, mode)
	return strconv.ParseFloat(unscaled.String()+"e"+strconv.Itoa(-places), 64)
}

// divide divides v by ten to the power of digits, rounded by the mode.
func divide(v *big.Int, digits int, mode rounding) {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	sign := v.Sign()
	rest := new(big.Int)
	v.QuoRem(v, unit, rest)
	if rest.Sign() == 0 {
		return
	}
	halves := rest.Abs(rest).Lsh(rest, 1).Cmp(unit)
	if mode(sign, halves) {
		v.Add(v, big.NewInt(int64(sign)))
	}
}

// roundDecimalTo rounds to whole numbers or to the places of the second
// argument; the value keeps the scale of the result type.
func roundDecimalTo(mode rounding, withPlaces bool) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		scale, places := c.Args[0].Type.Scale, 0
		if withPlaces {
			places = int(c.integer(1, i))
		}
		v := c.decimal(0, i).Big()
		result := c.Out.Type.Scale
		if places < scale {
			drop := min(scale-places, 2*types.MaxPrecision)
			divide(v, drop, mode)
			v.Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(drop)), nil))
		}
		d, err := types.DecimalFromBig(v)
		if err != nil {
			return err
		}
		if d, err = d.Rescale(scale, result); err != nil {
			return err
		}
		if !d.Fits(c.Out.Type.Precision) {
			return types.ErrDecimalOverflow
		}
		c.Out.SetDecimal(i, d)
		return nil
	}
}
