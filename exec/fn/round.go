package fn

import (
	"math"
	"strconv"

	"millrace/sql/types"
)

var roundFunctions = []*Function{
	{
		Name: "CEIL", Doc: "Returns the least whole number that is not below a number.",
		Overloads: wholeOverloads(math.Ceil, types.RoundCeiling),
	},
	{
		Name: "FLOOR", Doc: "Returns the greatest whole number that is not above a number.",
		Overloads: wholeOverloads(math.Floor, types.RoundFloor),
	},
	{
		Name: "ROUND", Doc: "Rounds a number to a whole one or to a number of decimal places; halves go up, towards positive infinity.",
		Overloads: roundOverloads(roundDouble, types.RoundHalfCeiling),
	},
	{
		Name: "TRUNC", Doc: "Cuts a number off to a whole one or to a number of decimal places.",
		Overloads: roundOverloads(math.Trunc, types.RoundDown),
	},
}

// roundDouble is Java's Math.round as a DOUBLE.
func roundDouble(v float64) float64 {
	floor := math.Floor(v)
	if v-floor >= 0.5 {
		return floor + 1
	}
	return floor
}

func wholeOverloads(double func(float64) float64, mode types.Rounding) []*Overload {
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

func roundOverloads(double func(float64) float64, mode types.Rounding) []*Overload {
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
func roundDoubleTo(v float64, places int, mode types.Rounding) (float64, error) {
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
	rounded := types.DecimalFromInt(unscaled).DivideByPower(scale-places, mode)
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

// roundDecimalTo rounds to whole numbers or to the places of the second
// argument; the value keeps the scale of the result type.
func roundDecimalTo(mode types.Rounding, withPlaces bool) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		scale, places := c.Args[0].Type.Scale, 0
		if withPlaces {
			places = int(c.integer(1, i))
		}
		d, result := c.decimal(0, i), c.Out.Type.Scale
		if places < scale {
			drop := min(scale-places, 2*types.MaxPrecision)
			d = d.DivideByPower(drop, mode)
			scale -= drop
		}
		d, err := d.MultiplyByPower(result - scale)
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
