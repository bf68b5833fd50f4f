package types

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
)

// Decimal is the unscaled value of a DECIMAL as a 128-bit two's complement
// number: its type says the scale. It holds every DECIMAL(38, s), has no
// pointers, and is comparable with ==.
type Decimal struct {
	High int64
	Low  uint64
}

// The faults of decimal arithmetic.
var (
	ErrDecimalOverflow = errors.New("the value does not fit the decimal's precision")
	ErrDecimalRounding = errors.New("the value needs rounding to fit the decimal's scale")
	ErrDecimalSyntax   = errors.New("not a decimal number")
	ErrDivisionByZero  = errors.New("division by zero")
)

// DecimalFromInt is v with scale 0.
func DecimalFromInt(v int64) Decimal { return Decimal{High: v >> 63, Low: uint64(v)} }

// DecimalFromBig is v, which must fit 128 bits.
func DecimalFromBig(v *big.Int) (Decimal, error) {
	if v.BitLen() > 127 {
		return Decimal{}, ErrDecimalOverflow
	}
	var buf [16]byte
	new(big.Int).Abs(v).FillBytes(buf[:])
	var d Decimal
	for i := range 8 {
		d.High = d.High<<8 | int64(buf[i])
		d.Low = d.Low<<8 | uint64(buf[8+i])
	}
	if v.Sign() < 0 {
		d = d.Negate()
	}
	return d, nil
}

// Big is d as a big integer.
func (d Decimal) Big() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(d.High), 64)
	return v.Add(v, new(big.Int).SetUint64(d.Low))
}

// Small is d as an int64, if it fits.
func (d Decimal) Small() (int64, bool) {
	v := int64(d.Low)
	return v, d.High == v>>63
}

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int {
	switch {
	case d.High < 0:
		return -1
	case d.High == 0 && d.Low == 0:
		return 0
	}
	return 1
}

// Negate is -d.
func (d Decimal) Negate() Decimal {
	low, carry := bits.Add64(^d.Low, 1, 0)
	return Decimal{High: ^d.High + int64(carry), Low: low}
}

// Compare orders d and e, which have the same scale.
func (d Decimal) Compare(e Decimal) int {
	switch {
	case d.High < e.High || d.High == e.High && d.Low < e.Low:
		return -1
	case d == e:
		return 0
	}
	return 1
}

// Add is d + e, wrapped to 128 bits: the sum of two values of 38 digits fits.
func (d Decimal) Add(e Decimal) Decimal {
	low, carry := bits.Add64(d.Low, e.Low, 0)
	return Decimal{High: d.High + e.High + int64(carry), Low: low}
}

// Sub is d - e, wrapped like Add.
func (d Decimal) Sub(e Decimal) Decimal { return d.Add(e.Negate()) }

var powers = func() (p [MaxPrecision + 1]Decimal) {
	v := big.NewInt(1)
	for i := range p {
		p[i], _ = DecimalFromBig(v)
		v.Mul(v, big.NewInt(10))
	}
	return p
}()

// Fits tells whether d has at most precision digits.
func (d Decimal) Fits(precision int) bool {
	limit := powers[min(precision, MaxPrecision)]
	if d.High < 0 {
		d = d.Negate()
	}
	return d.High >= 0 && d.Compare(limit) < 0
}

func absolute(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// Append appends d of the given scale as plain digits with all of the scale:
// 1.50, -0.05.
func (d Decimal) Append(dst []byte, scale int) []byte {
	if d.High < 0 {
		dst = append(dst, '-')
		d = d.Negate()
	}
	var buf [48]byte
	at := len(buf)
	high, low := uint64(d.High), d.Low
	for n := 0; high != 0 || low != 0 || n <= scale; n++ {
		if n == scale && scale > 0 {
			at--
			buf[at] = '.'
		}
		var rest uint64
		if high == 0 {
			low, rest = low/10, low%10
		} else {
			high, rest = high/10, high%10
			low, rest = bits.Div64(rest, low, 10)
		}
		at--
		buf[at] = byte('0' + rest)
	}
	return append(dst, buf[at:]...)
}

// Text is d of the given scale as Append writes it.
func (d Decimal) Text(scale int) string { return string(d.Append(nil, scale)) }

// Double is the DOUBLE nearest to d of the given scale.
func (d Decimal) Double(scale int) float64 {
	if v, ok := d.Small(); ok && scale <= 22 && absolute(v) < 1<<53 {
		return float64(v) / math.Pow10(scale)
	}
	f, _ := new(big.Rat).SetFrac(d.Big(), pow10(scale)).Float64()
	return f
}
