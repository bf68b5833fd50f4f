package types

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func drawDecimal(t *rapid.T, name string) (Decimal, *Type) {
	precision := rapid.IntRange(1, MaxPrecision).Draw(t, name+" precision")
	kind := DecimalOf(precision, rapid.IntRange(0, precision).Draw(t, name+" scale"))
	digits := rapid.StringMatching(`-?[0-9]{1,38}`).Draw(t, name)
	v, _ := new(big.Int).SetString(digits, 10)
	v.Rem(v, pow10(precision))
	d, err := DecimalFromBig(v)
	if err != nil {
		t.Fatal(err)
	}
	return d, kind
}

func ratio(d Decimal, scale int) *big.Rat { return new(big.Rat).SetFrac(d.Big(), pow10(scale)) }

// TestDecimalArithmeticIsExact compares with fractions: a result is the exact
// value, and a failure means that the exact value does not fit the type.
func TestDecimalArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, aType := drawDecimal(t, "a")
		b, bType := drawDecimal(t, "b")
		op := rapid.SampledFrom([]byte("+-*/")).Draw(t, "op")
		result := DecimalResult(op, aType, bType)
		x, y := ratio(a, aType.Scale), ratio(b, bType.Scale)
		if op == '/' && y.Sign() == 0 {
			if _, err := DecimalArithmetic(op, a, aType.Scale, b, bType.Scale, result); !errors.Is(err, ErrDivisionByZero) {
				t.Fatalf("division by zero gives %v", err)
			}
			return
		}
		want := new(big.Rat)
		switch op {
		case '+':
			want.Add(x, y)
		case '-':
			want.Sub(x, y)
		case '*':
			want.Mul(x, y)
		case '/':
			want.Quo(x, y)
		}
		unscaled := new(big.Rat).Mul(want, new(big.Rat).SetInt(pow10(result.Scale)))
		fits := unscaled.IsInt() && unscaled.Num().CmpAbs(pow10(result.Precision)) < 0
		got, err := DecimalArithmetic(op, a, aType.Scale, b, bType.Scale, result)
		if fits != (err == nil) {
			t.Fatalf("%s %c %s as %s: %v, exact %s", x, op, y, result, err, want)
		}
		if err == nil && ratio(got, result.Scale).Cmp(want) != 0 {
			t.Fatalf("%s %c %s = %s, want %s", x, op, y, got.Text(result.Scale), want)
		}
	})
}

func TestCompareDecimalsOfAnyScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, aType := drawDecimal(t, "a")
		b, bType := drawDecimal(t, "b")
		want := ratio(a, aType.Scale).Cmp(ratio(b, bType.Scale))
		if got := CompareDecimals(a, aType.Scale, b, bType.Scale); got != want {
			t.Fatalf("%s and %s: %d, want %d", a.Text(aType.Scale), b.Text(bType.Scale), got, want)
		}
	})
}
