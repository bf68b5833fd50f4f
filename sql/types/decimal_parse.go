package types

import (
	"math/big"
	"math/bits"
	"strings"
)

// maxDigits is how many digits the text of a decimal number may have.
const maxDigits = 400

// ParseDecimal reads a decimal number, with or without an exponent, into the
// type. Digits beyond the scale that are not zero give ErrDecimalRounding, too
// many digits before the point ErrDecimalOverflow.
func ParseDecimal(text string, t *Type) (Decimal, error) {
	if d, scale, ok := scanDecimal(text); ok {
		return t.fitting(d.Rescale(scale, t.Scale))
	}
	v, scale, err := ParseUnscaled(text)
	if err != nil {
		return Decimal{}, err
	}
	return t.fitting(rescaleBig(v, scale, t.Scale))
}

// RoundDecimal reads a decimal number into the type; digits beyond the scale
// round half away from zero.
func RoundDecimal(text string, t *Type) (Decimal, error) {
	if d, scale, ok := scanDecimal(text); ok {
		return t.fitting(d.Round(scale, t.Scale))
	}
	v, scale, err := ParseUnscaled(text)
	if err != nil {
		return Decimal{}, err
	}
	return t.fitting(roundBig(v, scale, t.Scale))
}

// DecimalFromDouble is v, exactly as its shortest text says, rounded half away
// from zero to the type.
func DecimalFromDouble(v float64, t *Type) (Decimal, error) {
	var room [32]byte
	d, scale, ok := scanDecimal(string(AppendDouble(room[:0], v)))
	if !ok {
		return Decimal{}, ErrDecimalSyntax
	}
	return t.fitting(d.Round(scale, t.Scale))
}

// fitting is d, if it has no more digits than t.
func (t *Type) fitting(d Decimal, err error) (Decimal, error) {
	if err != nil {
		return Decimal{}, err
	}
	if !d.Fits(t.Precision) {
		return Decimal{}, ErrDecimalOverflow
	}
	return d, nil
}

// scanDecimal reads a decimal number like ParseUnscaled if its digits fit 127
// bits, as up to 38 of them do. It is not ok for longer numbers and for what
// is no number.
func scanDecimal(text string) (d Decimal, scale int, ok bool) {
	start := 0
	if text != "" && (text[0] == '-' || text[0] == '+') {
		start = 1
	}
	d, point, end := scanDigits(text, start)
	digits := end - start
	if point >= 0 {
		digits--
		scale = end - point - 1
	}
	if digits <= 0 || digits > maxDigits {
		return Decimal{}, 0, false
	}
	if end < len(text) {
		if text[end] != 'e' && text[end] != 'E' {
			return Decimal{}, 0, false
		}
		exponent, ok := parseExponent(text[end+1:])
		if !ok {
			return Decimal{}, 0, false
		}
		scale -= exponent
	}
	if text[0] == '-' {
		d = d.Negate()
	}
	return d, scale, true
}

// maxHigh is above the high half of all numbers of 37 digits, and ten times
// such a number fits 127 bits.
const maxHigh = 1 << 59

// scanDigits reads digits with at most one point among them from the start of
// a number, as far as they go and fit 127 bits; the point's place is negative
// without one.
func scanDigits(text string, start int) (d Decimal, point, end int) {
	point = -1
	var high, low uint64
	for end = start; end < len(text); end++ {
		digit := uint64(text[end] - '0')
		switch {
		case digit > 9:
			if text[end] != '.' || point >= 0 {
				return Decimal{High: int64(high), Low: low}, point, end
			}
			point = end
		case high == 0 && low < 1<<60:
			low = low*10 + digit
		case high < maxHigh:
			carry, product := bits.Mul64(low, 10)
			low, digit = bits.Add64(product, digit, 0)
			high = high*10 + carry + digit
		default:
			return Decimal{}, point, end
		}
	}
	return Decimal{High: int64(high), Low: low}, point, end
}

// ParseUnscaled reads a decimal number of up to 400 digits as unscaled value
// and scale; the scale is negative for a large exponent.
func ParseUnscaled(text string) (*big.Int, int, error) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		var ok bool
		if exponent, ok = parseExponent(text[i+1:]); !ok {
			return nil, 0, ErrDecimalSyntax
		}
	}
	sign := ""
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		sign, mantissa = mantissa[:1], mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
		return nil, 0, ErrDecimalSyntax
	}
	v, ok := new(big.Int).SetString(sign+digits, 10)
	if !ok {
		return nil, 0, ErrDecimalSyntax
	}
	return v, len(fraction) - exponent, nil
}

func parseExponent(text string) (int, bool) {
	sign := 1
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	if text == "" || len(text) > 6 {
		return 0, false
	}
	v := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return sign * v, true
}

// rescaleBig changes the scale of v, which has at most maxDigits digits, from
// one to another, exactly like Rescale.
func rescaleBig(v *big.Int, from, to int) (Decimal, error) {
	if to >= from {
		if v.Sign() != 0 && to-from > MaxPrecision {
			return Decimal{}, ErrDecimalOverflow
		}
		return DecimalFromBig(new(big.Int).Mul(v, pow10(min(to-from, MaxPrecision))))
	}
	if from-to > maxDigits {
		if v.Sign() == 0 {
			return Decimal{}, nil
		}
		return Decimal{}, ErrDecimalRounding
	}
	quotient, rest := new(big.Int).QuoRem(v, pow10(from-to), new(big.Int))
	if rest.Sign() != 0 {
		return Decimal{}, ErrDecimalRounding
	}
	return DecimalFromBig(quotient)
}

// roundBig is like rescaleBig, but dropped digits round half away from zero.
func roundBig(v *big.Int, from, to int) (Decimal, error) {
	if from <= to {
		return rescaleBig(v, from, to)
	}
	if from-to > maxDigits {
		return Decimal{}, nil
	}
	unit := pow10(from - to)
	quotient, rest := new(big.Int).QuoRem(v, unit, new(big.Int))
	if rest.Abs(rest).Lsh(rest, 1).Cmp(unit) >= 0 {
		quotient.Add(quotient, big.NewInt(int64(v.Sign())))
	}
	return DecimalFromBig(quotient)
}
