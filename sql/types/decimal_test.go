package types

import (
	"errors"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDecimal(t *testing.T) {
	for _, c := range []struct {
		text             string
		precision, scale int
		expected         string
		err              error
	}{
		{"1", 6, 2, "1.00", nil},
		{"-1.5", 6, 2, "-1.50", nil},
		{"+.5", 6, 2, "0.50", nil},
		{"5.", 6, 2, "5.00", nil},
		{"1.500", 6, 2, "1.50", nil},
		{"15e-1", 6, 2, "1.50", nil},
		{"1E3", 6, 2, "1000.00", nil},
		{"0000000000000000000000001", 1, 0, "1", nil},
		{"9999.99", 6, 2, "9999.99", nil},
		{"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999", nil},
		{"-0.00000000000000000000000000000000000001", 38, 38, "-0.00000000000000000000000000000000000001", nil},
		{"123456789012345678", 38, 20, "123456789012345678.00000000000000000000", nil},
		{"10000", 6, 2, "", ErrDecimalOverflow},
		{"1e400", 6, 2, "", ErrDecimalOverflow},
		{"1.005", 6, 2, "", ErrDecimalRounding},
		{"1e-400", 6, 2, "", ErrDecimalRounding},
		{"1e-99999", 6, 2, "", ErrDecimalRounding},
		{"", 6, 2, "", ErrDecimalSyntax},
		{"-", 6, 2, "", ErrDecimalSyntax},
		{".", 6, 2, "", ErrDecimalSyntax},
		{"1.2.3", 6, 2, "", ErrDecimalSyntax},
		{"--1", 6, 2, "", ErrDecimalSyntax},
		{"1e", 6, 2, "", ErrDecimalSyntax},
		{"1e1.5", 6, 2, "", ErrDecimalSyntax},
		{" 1", 6, 2, "", ErrDecimalSyntax},
		{"1_0", 6, 2, "", ErrDecimalSyntax},
	} {
		got, err := ParseDecimal(c.text, DecimalOf(c.precision, c.scale))
		if !errors.Is(err, c.err) {
			t.Errorf("%q: %v, expected %v", c.text, err, c.err)
			continue
		}
		if err == nil && got.Text(c.scale) != c.expected {
			t.Errorf("%q: %s, expected %s", c.text, got.Text(c.scale), c.expected)
		}
	}
}

// TestParseDecimalAgreesWithUnscaled compares the short way with big integers.
func TestParseDecimalAgreesWithUnscaled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?[0-9]{0,20}(\.[0-9]{0,20})?`).Draw(t, "text")
		precision := rapid.IntRange(1, MaxPrecision).Draw(t, "precision")
		kind := DecimalOf(precision, rapid.IntRange(0, precision).Draw(t, "scale"))
		got, err := ParseDecimal(text, kind)
		v, scale, syntax := ParseUnscaled(text)
		if syntax != nil {
			if !errors.Is(err, ErrDecimalSyntax) {
				t.Fatalf("%q: %v, expected %v", text, err, syntax)
			}
			return
		}
		exact := new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		if err == nil {
			if back, ok := new(big.Rat).SetString(got.Text(kind.Scale)); !ok || back.Cmp(exact) != 0 {
				t.Fatalf("%q: %s", text, got.Text(kind.Scale))
			}
			return
		}
		unscaled := exact.Mul(exact, new(big.Rat).SetInt(pow10(kind.Scale)))
		fits := unscaled.IsInt() && new(big.Int).Abs(unscaled.Num()).Cmp(pow10(precision)) < 0
		if fits {
			t.Fatalf("%q fits %s: %v", text, kind, err)
		}
	})
}

func TestDecimalText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Decimal{High: rapid.Int64().Draw(t, "high"), Low: rapid.Uint64().Draw(t, "low")}
		if rapid.Bool().Draw(t, "small") {
			d = DecimalFromInt(rapid.Int64().Draw(t, "value"))
		}
		if d.High == -1<<63 && d.Low == 0 {
			return
		}
		scale := rapid.IntRange(0, MaxPrecision).Draw(t, "scale")
		text := d.Text(scale)
		back, ok := new(big.Rat).SetString(text)
		exact := new(big.Rat).SetFrac(d.Big(), pow10(scale))
		if !ok || back.Cmp(exact) != 0 {
			t.Fatalf("%v of scale %d is written as %s", d, scale, text)
		}
		if expected := exact.FloatString(scale); text != expected && text != "-"+expected {
			t.Fatalf("%s, expected %s", text, expected)
		}
	})
}

func TestDecimalArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64().Draw(t, "a")
		b := rapid.Int64().Draw(t, "b")
		x, y := DecimalFromInt(a), DecimalFromInt(b)
		sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		if got := x.Add(y).Big(); got.Cmp(sum) != 0 {
			t.Fatalf("%d + %d is %s", a, b, got)
		}
		if got := x.Sub(y).Add(y); got != x {
			t.Fatalf("%d - %d + %d is %v", a, b, b, got)
		}
		if got := x.Compare(y); got != big.NewInt(a).Cmp(big.NewInt(b)) {
			t.Fatalf("%d compared with %d is %d", a, b, got)
		}
		if got := x.Negate().Negate(); got != x || x.Sign() != big.NewInt(a).Sign() {
			t.Fatalf("%d negated twice is %v", a, got)
		}
		if small, ok := x.Small(); !ok || small != a {
			t.Fatalf("%d is %d, %t", a, small, ok)
		}
		digits := len(strconv.FormatUint(absolute(a), 10))
		if !x.Fits(digits) || digits > 1 && x.Fits(digits-1) {
			t.Fatalf("%d has %d digits", a, digits)
		}
	})
}

func TestDecimalRescale(t *testing.T) {
	for _, c := range []struct {
		text     string
		from, to int
		expected string
		rounded  string
		err      error
	}{
		{"1.50", 2, 4, "1.5000", "1.5000", nil},
		{"1.50", 2, 1, "1.5", "1.5", nil},
		{"1.55", 2, 1, "", "1.6", ErrDecimalRounding},
		{"-1.55", 2, 1, "", "-1.6", ErrDecimalRounding},
		{"-1.54", 2, 1, "", "-1.5", ErrDecimalRounding},
		{"99999999999999999999", 0, 18, "99999999999999999999.000000000000000000", "99999999999999999999.000000000000000000", nil},
	} {
		d, err := ParseDecimal(c.text, DecimalOf(MaxPrecision, c.from))
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Rescale(c.from, c.to)
		if !errors.Is(err, c.err) || err == nil && got.Text(c.to) != c.expected {
			t.Errorf("%s to %d: %s, %v", c.text, c.to, got.Text(c.to), err)
		}
		if got, err := d.Round(c.from, c.to); err != nil || got.Text(c.to) != c.rounded {
			t.Errorf("%s rounded to %d: %s, %v", c.text, c.to, got.Text(c.to), err)
		}
	}
}
