package types

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// drawWide is any value of 128 bits, among them the bounds and halves of units.
func drawWide(t *rapid.T) Decimal {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return DecimalFromInt(rapid.Int64().Draw(t, "value"))
	case 1:
		text := rapid.StringMatching(`-?[0-9]{1,20}(5|0{0,17}|[0-9]{0,17})`).Draw(t, "digits")
		v, _ := new(big.Int).SetString(text, 10)
		d, err := DecimalFromBig(v)
		if err != nil {
			t.Fatal(err)
		}
		return d
	case 2:
		return rapid.SampledFrom([]Decimal{
			{}, {High: -1 << 63}, {High: 1<<63 - 1, Low: 1<<64 - 1}, {High: -1 << 63, Low: 1}, {High: 1}, {High: -1}, {Low: 1 << 63},
		}).Draw(t, "bound")
	}
	return Decimal{High: rapid.Int64().Draw(t, "high"), Low: rapid.Uint64().Draw(t, "low")}
}

var roundings = []struct {
	name string
	mode Rounding
	// away is what the mode means for a rest of the sign whose double has the
	// order halves to the divisor.
	away map[[2]int]bool
}{
	{"ceiling", RoundCeiling, map[[2]int]bool{{1, -1}: true, {1, 0}: true, {1, 1}: true}},
	{"floor", RoundFloor, map[[2]int]bool{{-1, -1}: true, {-1, 0}: true, {-1, 1}: true}},
	{"down", RoundDown, nil},
	{"half away", RoundHalfAway, map[[2]int]bool{{1, 0}: true, {-1, 0}: true, {1, 1}: true, {-1, 1}: true}},
	{"half ceiling", RoundHalfCeiling, map[[2]int]bool{{1, 0}: true, {1, 1}: true, {-1, 1}: true}},
}

// TestDivideByPower compares all ways of rounding with big integers.
func TestDivideByPower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawWide(t)
		v := d.Big()
		digits := rapid.IntRange(0, 2*MaxPrecision+10).Draw(t, "digits")
		for _, r := range roundings {
			quotient, rest := new(big.Int).QuoRem(v, pow10(digits), new(big.Int))
			halves := new(big.Int).Lsh(new(big.Int).Abs(rest), 1).Cmp(pow10(digits))
			if rest.Sign() != 0 && r.away[[2]int{v.Sign(), halves}] {
				quotient.Add(quotient, big.NewInt(int64(v.Sign())))
			}
			if got := d.DivideByPower(digits, r.mode).Big(); got.Cmp(quotient) != 0 {
				t.Fatalf("%s / 10^%d, %s: %s, want %s", v, digits, r.name, got, quotient)
			}
		}
	})
}

// TestScalesAgreeWithBigIntegers compares Rescale, Round and Truncate with
// exact arithmetic, also for scales of exponents.
func TestScalesAgreeWithBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawWide(t)
		scales := rapid.OneOf(rapid.IntRange(0, MaxPrecision), rapid.IntRange(-100, 200))
		from, to := scales.Draw(t, "from"), scales.Draw(t, "to")
		if from == to {
			if got, err := d.Rescale(from, to); err != nil || got != d {
				t.Fatalf("%s of the same scale: %s, %v", d.Big(), got.Big(), err)
			}
			return
		}
		exact, rest := d.Big(), new(big.Int)
		unit := pow10(max(from-to, 0))
		exact.Mul(exact, pow10(max(to-from, 0))).QuoRem(exact, unit, rest)
		rounded := new(big.Int).Set(exact)
		if rest.CmpAbs(new(big.Int).Rsh(unit, 1)) >= 0 && rest.Sign() != 0 {
			rounded.Add(rounded, big.NewInt(int64(d.Sign())))
		}
		check := func(what string, got Decimal, err error, want *big.Int, inexact bool) {
			value, wantErr := DecimalFromBig(want)
			if inexact {
				value, wantErr = Decimal{}, ErrDecimalRounding
			}
			if !errors.Is(err, wantErr) || got != value {
				t.Fatalf("%s of %s from %d to %d: %s, %v, want %s, %v", what, d.Big(), from, to, got.Big(), err, value.Big(), wantErr)
			}
		}
		got, err := d.Rescale(from, to)
		check("Rescale", got, err, exact, rest.Sign() != 0)
		got, err = d.Round(from, to)
		check("Round", got, err, rounded, false)
		got, err = d.Truncate(from, to)
		check("Truncate", got, err, exact, false)
	})
}
