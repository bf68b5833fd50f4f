package types

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawNumber is the text of a decimal number, or nearly one.
func drawNumber(t *rapid.T) string {
	forms := []string{
		`[-+]?[0-9]{0,20}(\.[0-9]{0,20})?`,
		`[-+]?0{0,30}[0-9]{1,19}(\.[0-9]{0,19}(0{0,20}|5))?([eE][-+]?[0-9]{1,2})?`,
		`[-+]?[0-9]{30,50}(\.[0-9]{0,50})?([eE][-+]?[0-9]{1,3})?`,
		`-?0?\.0{30,45}[0-9]{1,3}([eE][-+]?0{0,5}[0-9]{1,2})?`,
		`-?9{17,40}(\.[59]{1,3})?`,
		`[0-9]{1,2}[eE][-+]?[0-9]{1,7}`,
		`[-+.eE0-9x ]{0,8}`,
	}
	return rapid.StringMatching(rapid.SampledFrom(forms).Draw(t, "form")).Draw(t, "text")
}

// exactNumber reads text by ParseUnscaled, whose numbers have no bounds, and
// scales it to a whole number and a rest in units of the scale. An exponent
// that is too large to compute with stands for itself as one of 1000.
func exactNumber(text string, to int) (whole, rest, unit *big.Int, err error) {
	v, scale, err := ParseUnscaled(text)
	if err != nil {
		return nil, nil, nil, err
	}
	shift := max(min(to-scale, 1000), -1000)
	unit, rest = pow10(max(-shift, 0)), new(big.Int)
	whole, rest = v.Mul(v, pow10(max(shift, 0))).QuoRem(v, unit, rest)
	return whole, rest, unit, nil
}

func drawType(t *rapid.T) *Type {
	precision := rapid.IntRange(1, MaxPrecision).Draw(t, "precision")
	return DecimalOf(precision, rapid.IntRange(0, precision).Draw(t, "scale"))
}

func checkNumber(t *rapid.T, text string, kind *Type, got Decimal, err error, want *big.Int, wantErr error) {
	if wantErr == nil && want.CmpAbs(pow10(kind.Precision)) >= 0 {
		wantErr = ErrDecimalOverflow
	}
	if !errors.Is(err, wantErr) || err == nil && got.Big().Cmp(want) != 0 || err != nil && got != (Decimal{}) {
		t.Fatalf("%q as %s: %s, %v, want %s, %v", text, kind, got.Big(), err, want, wantErr)
	}
}

// TestParsedDecimalsAreExact compares with big integers, whatever the length,
// the sign and the exponent.
func TestParsedDecimalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, kind := drawNumber(t), drawType(t)
		whole, rest, _, wantErr := exactNumber(text, kind.Scale)
		if wantErr == nil && rest.Sign() != 0 {
			wantErr = ErrDecimalRounding
		}
		got, err := ParseDecimal(text, kind)
		checkNumber(t, text, kind, got, err, whole, wantErr)
	})
}

func roundedNumber(text string, to int) (*big.Int, error) {
	whole, rest, unit, err := exactNumber(text, to)
	if err == nil && rest.CmpAbs(new(big.Int).Rsh(unit, 1)) >= 0 && rest.Sign() != 0 {
		whole.Add(whole, big.NewInt(int64(rest.Sign())))
	}
	return whole, err
}

func TestRoundedDecimalsAreNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, kind := drawNumber(t), drawType(t)
		want, wantErr := roundedNumber(text, kind.Scale)
		got, err := RoundDecimal(text, kind)
		checkNumber(t, text, kind, got, err, want, wantErr)
	})
}

// TestDecimalFromDouble compares with the number that the double prints as.
func TestDecimalFromDouble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(
			rapid.Float64(), rapid.Float64Range(-1e9, 1e9),
			rapid.Map(rapid.Int64Range(-1e12, 1e12), func(n int64) float64 { return float64(n) / 1e5 }),
			rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}),
		).Draw(t, "v")
		kind := drawType(t)
		text := string(AppendDouble(nil, v))
		want, wantErr := roundedNumber(text, kind.Scale)
		got, err := DecimalFromDouble(v, kind)
		checkNumber(t, text, kind, got, err, want, wantErr)
	})
}

// TestParseLongDecimals reads texts at the bounds of what is read in 128 bits
// and of what is read at all.
func TestParseLongDecimals(t *testing.T) {
	whole := DecimalOf(MaxPrecision, 0)
	for text, want := range map[string]string{
		strings.Repeat("0", 399) + "7":                           "7",
		"-" + strings.Repeat("0", 362) + strings.Repeat("9", 38): "-" + strings.Repeat("9", 38),
		"12." + strings.Repeat("0", 398):                         "12",
		"1" + strings.Repeat("0", 60) + "e-60":                   "1",
		"0.00000000000000000001e+000020":                         "1",
		"0e999999":                                               "0",
		"-0e-999999":                                             "0",
		"170141183460469231731687303715884105728":                ErrDecimalOverflow.Error(),
		"1" + strings.Repeat("0", 38):                            ErrDecimalOverflow.Error(),
		"1e999999":                                               ErrDecimalOverflow.Error(),
		"1." + strings.Repeat("0", 398) + "1":                    ErrDecimalRounding.Error(),
		"1e-999999":                                              ErrDecimalRounding.Error(),
		strings.Repeat("0", 400) + "7":                           ErrDecimalSyntax.Error(),
		"1e1000000":                                              ErrDecimalSyntax.Error(),
		"e5":                                                     ErrDecimalSyntax.Error(),
		"-.e5":                                                   ErrDecimalSyntax.Error(),
		"1e5e5":                                                  ErrDecimalSyntax.Error(),
		"1f":                                                     ErrDecimalSyntax.Error(),
	} {
		d, err := ParseDecimal(text, whole)
		got := d.Text(0)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
