package fn

import (
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"millrace/sql/types"
)

func drawUnscaled(t *rapid.T) (types.Decimal, *big.Int) {
	text := rapid.StringMatching(`-?[0-9]{1,20}`).Draw(t, "first digits") + rapid.StringMatching(`(5|0{0,17}|[0-9]{0,17})`).Draw(t, "last digits")
	v, _ := new(big.Int).SetString(text, 10)
	d, err := types.DecimalFromBig(v)
	if err != nil {
		t.Fatal(err)
	}
	return d, v
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// TestDivideDecimal compares with big integers.
func TestDivideDecimal(t *testing.T) {
	modes := map[string]rounding{"ceiling": roundingCeiling, "floor": roundingFloor, "down": roundingDown, "half": roundingHalf}
	rapid.Check(t, func(t *rapid.T) {
		d, v := drawUnscaled(t)
		digits := rapid.IntRange(0, 2*types.MaxPrecision).Draw(t, "digits")
		mode := rapid.SampledFrom([]string{"ceiling", "down", "floor", "half"}).Draw(t, "mode")
		quotient, rest := new(big.Int).QuoRem(v, power(digits), new(big.Int))
		halves := new(big.Int).Mul(new(big.Int).Abs(rest), big.NewInt(2)).Cmp(power(digits))
		if rest.Sign() != 0 && modes[mode](v.Sign(), halves) {
			quotient.Add(quotient, big.NewInt(int64(v.Sign())))
		}
		if got := divideDecimal(d, digits, modes[mode]).Big(); got.Cmp(quotient) != 0 {
			t.Fatalf("%s / 10^%d, %s: %s, want %s", v, digits, mode, got, quotient)
		}
	})
}

func TestMultiplyDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, v := drawUnscaled(t)
		digits := rapid.IntRange(0, types.MaxPrecision+2).Draw(t, "digits")
		want, wantErr := types.DecimalFromBig(new(big.Int).Mul(v, power(digits)))
		if got, err := multiplyDecimal(d, digits); (err != nil) != (wantErr != nil) || err == nil && got != want {
			t.Fatalf("%s * 10^%d: %v, %v, want %v, %v", v, digits, got, err, want, wantErr)
		}
	})
}

// TestShortestDigits compares with what the number is printed as.
func TestShortestDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "v")
		unscaled, scale := shortestDigits(v)
		text := strconv.FormatInt(unscaled, 10) + "e" + strconv.Itoa(-scale)
		if back, err := strconv.ParseFloat(text, 64); err != nil || back != v {
			t.Fatalf("%v is %s", v, text)
		}
	})
}
