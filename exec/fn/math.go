package fn

import (
	"math"
	"math/rand/v2"
	"strings"

	"millrace/sql/types"
)

// doubleFunction is a function of one DOUBLE; other numbers widen to it.
func doubleFunction(name, doc string, f func(float64) float64) *Function {
	return &Function{Name: name, Doc: doc, Overloads: []*Overload{{
		Signature: "(DOUBLE) DOUBLE", Row: func(c *Call, i int) error {
			c.Out.SetDouble(i, f(c.double(0, i)))
			return nil
		},
	}}}
}

// doubleFunction2 is a function of two DOUBLEs.
func doubleFunction2(name, doc string, f func(x, y float64) float64) *Function {
	return &Function{Name: name, Doc: doc, Overloads: []*Overload{{
		Signature: "(DOUBLE, DOUBLE) DOUBLE", Row: func(c *Call, i int) error {
			c.Out.SetDouble(i, f(c.double(0, i), c.double(1, i)))
			return nil
		},
	}}}
}

var mathFunctions = []*Function{
	{
		Name: "ABS", Doc: "Returns the absolute value of a number.",
		Overloads: []*Overload{
			{Signature: "(INTEGER) INTEGER", Row: absoluteInteger},
			{Signature: "(BIGINT) BIGINT", Row: absoluteInteger},
			{Signature: "(DECIMAL) DECIMAL", Row: func(c *Call, i int) error {
				d := c.decimal(0, i)
				if d.Sign() < 0 {
					d = d.Negate()
				}
				c.Out.SetDecimal(i, d)
				return nil
			}},
			{Signature: "(DOUBLE) DOUBLE", Row: func(c *Call, i int) error {
				c.Out.SetDouble(i, math.Abs(c.double(0, i)))
				return nil
			}},
		},
	},
	{
		Name: "SIGN", Doc: "Returns -1, 0 or 1 for a negative number, zero and a positive number.",
		Overloads: []*Overload{
			{Signature: "(INTEGER) INTEGER", Row: signOfInteger},
			{Signature: "(BIGINT) INTEGER", Row: signOfInteger},
			{Signature: "(DOUBLE) INTEGER", Row: func(c *Call, i int) error {
				v := c.double(0, i)
				sign := int64(0)
				if v > 0 {
					sign = 1
				} else if v < 0 {
					sign = -1
				}
				c.Out.SetInt(i, sign)
				return nil
			}},
		},
	},
	{
		Name: "GREATEST", Doc: "Returns the largest argument; nulls are left out.",
		Overloads: orderedOverloads(1),
	},
	{
		Name: "LEAST", Doc: "Returns the smallest argument; nulls are left out.",
		Overloads: orderedOverloads(-1),
	},
	{
		Name: "PI", Doc: "Returns the number pi.",
		Overloads: []*Overload{{Signature: "() DOUBLE", Row: func(c *Call, i int) error {
			c.Out.SetDouble(i, math.Pi)
			return nil
		}}},
	},
	{
		Name: "RANDOM", Doc: "Returns a random number from 0 up to but not including 1.", Volatile: true,
		Overloads: []*Overload{{Signature: "() DOUBLE", Row: func(c *Call, i int) error {
			c.Out.SetDouble(i, float64(c.random()>>11)/(1<<53))
			return nil
		}}},
	},
	{
		Name: "LOG", Doc: "Returns the natural logarithm, or the logarithm of the second argument to the base of the first.",
		Overloads: []*Overload{
			{Signature: "(DOUBLE) DOUBLE", Row: func(c *Call, i int) error {
				c.Out.SetDouble(i, math.Log(c.double(0, i)))
				return nil
			}},
			{Signature: "(DOUBLE, DOUBLE) DOUBLE", Row: func(c *Call, i int) error {
				c.Out.SetDouble(i, logarithm(c.double(0, i), c.double(1, i)))
				return nil
			}},
		},
	},
	doubleFunction("SQRT", "Returns the square root of a number.", math.Sqrt),
	doubleFunction("CBRT", "Returns the cube root of a number.", math.Cbrt),
	doubleFunction("EXP", "Returns e raised to the power of a number.", math.Exp),
	doubleFunction("LN", "Returns the natural logarithm of a number.", math.Log),
	doubleFunction("SIN", "Returns the sine of an angle in radians.", math.Sin),
	doubleFunction("COS", "Returns the cosine of an angle in radians.", math.Cos),
	doubleFunction("TAN", "Returns the tangent of an angle in radians.", math.Tan),
	doubleFunction("COT", "Returns the cotangent of an angle in radians.", func(x float64) float64 { return 1 / math.Tan(x) }),
	doubleFunction("ASIN", "Returns the arc sine of a number in radians.", math.Asin),
	doubleFunction("ACOS", "Returns the arc cosine of a number in radians.", math.Acos),
	doubleFunction("ATAN", "Returns the arc tangent of a number in radians.", math.Atan),
	doubleFunction("SINH", "Returns the hyperbolic sine of a number.", math.Sinh),
	doubleFunction("COSH", "Returns the hyperbolic cosine of a number.", math.Cosh),
	doubleFunction("TANH", "Returns the hyperbolic tangent of a number.", math.Tanh),
	doubleFunction("DEGREES", "Converts radians to degrees.", func(x float64) float64 { return x * (180 / math.Pi) }),
	doubleFunction("RADIANS", "Converts degrees to radians.", func(x float64) float64 { return x * (math.Pi / 180) }),
	doubleFunction2("POWER", "Returns the first number raised to the power of the second.", math.Pow),
	doubleFunction2("ATAN2", "Returns the angle of the point with the ordinate y and the abscissa x.", math.Atan2),
}

func (c *Call) random() uint64 {
	if c.Random != nil {
		return c.Random()
	}
	return rand.Uint64()
}

func absoluteInteger(c *Call, i int) error {
	v := c.integer(0, i)
	if v < 0 {
		v = -v
	}
	if c.Out.Type.Kind == types.KindInteger {
		v = int64(int32(v))
	}
	c.Out.SetInt(i, v)
	return nil
}

func signOfInteger(c *Call, i int) error {
	v := c.integer(0, i)
	switch {
	case v > 0:
		v = 1
	case v < 0:
		v = -1
	}
	c.Out.SetInt(i, v)
	return nil
}

func logarithm(base, x float64) float64 {
	if base <= 0 || base == 1 {
		return math.NaN()
	}
	return math.Log(x) / math.Log(base)
}

// orderedOverloads are the overloads of GREATEST, with sign 1, and LEAST, with -1.
func orderedOverloads(sign int) []*Overload {
	var list []*Overload
	for _, kind := range strings.Fields("INTEGER BIGINT DOUBLE DECIMAL STRING BYTES DATE TIME TIMESTAMP") {
		list = append(list, &Overload{
			Signature: "(" + kind + ", " + kind + "...) " + kind, Nulls: true, Row: pickExtreme(sign),
		})
	}
	return list
}

func pickExtreme(sign int) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		best := -1
		for k, v := range c.Args {
			if v.Null(i) {
				continue
			}
			if best < 0 || sign*compareRows(v, i, c.Args[best], i) > 0 {
				best = k
			}
		}
		if best >= 0 {
			c.Out.CopyRow(i, c.Args[best], i)
		}
		return nil
	}
}
