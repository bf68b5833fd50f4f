package types

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppendDouble(t *testing.T) {
	for _, c := range []struct {
		value float64
		text  string
	}{
		{0, "0.0"},
		{math.Copysign(0, -1), "-0.0"},
		{1, "1.0"},
		{-1.5, "-1.5"},
		{0.1, "0.1"},
		{19.99, "19.99"},
		{100.01, "100.01"},
		{1234.5678, "1234.5678"},
		{1234.5070, "1234.507"},
		{-0.0625, "-0.0625"},
		{0.001, "0.001"},
		{0.00123, "0.00123"},
		{0.000999, "9.99E-4"},
		{9999999, "9999999.0"},
		{9999999.9999, "9999999.9999"},
		{1e7, "1.0E7"},
		{12345678.9, "1.23456789E7"},
		{0.30000000000000004, "0.30000000000000004"},
		{1e10, "1.0E10"},
		{1.5e-7, "1.5E-7"},
		{math.MaxFloat64, "1.7976931348623157E308"},
		{math.SmallestNonzeroFloat64, "4.9E-324"},
		{2e-323, "2.0E-323"},
		{1e23, "1.0E23"},
		{math.NaN(), "NaN"},
		{math.Inf(1), "Infinity"},
		{math.Inf(-1), "-Infinity"},
	} {
		if got := string(AppendDouble([]byte("="), c.value)); got != "="+c.text {
			t.Errorf("%v: %s, expected =%s", c.value, got, c.text)
		}
	}
}

// TestAppendDoubleIsShortest compares the digits with the shortest ones that
// strconv finds, also next to short decimals.
func TestAppendDoubleIsShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(0, 6).Draw(t, "places")
		value := float64(rapid.Int64Range(-1e13, 1e13).Draw(t, "digits")) / math.Pow10(places)
		switch rapid.IntRange(0, 3).Draw(t, "neighbour") {
		case 1:
			value = math.Nextafter(value, math.Inf(1))
		case 2:
			value = math.Nextafter(value, math.Inf(-1))
		case 3:
			value = rapid.Float64Range(-1e7, 1e7).Draw(t, "value")
		}
		got := string(AppendDouble(nil, value))
		if back, err := strconv.ParseFloat(got, 64); err != nil || back != value {
			t.Fatalf("%v is written as %s", value, got)
		}
		if abs := math.Abs(value); abs >= 1e-3 && abs < 1e7 {
			shortest := strconv.FormatFloat(value, 'f', -1, 64)
			if !strings.Contains(shortest, ".") {
				shortest += ".0"
			}
			if got != shortest {
				t.Fatalf("%s, expected %s", got, shortest)
			}
		}
	})
}

func TestAppendTemporal(t *testing.T) {
	const noon = 12 * 60 * 60 * 1000
	for _, c := range []struct{ got, text string }{
		{string(AppendDate(nil, 0)), "1970-01-01"},
		{string(AppendDate(nil, -1)), "1969-12-31"},
		{string(AppendDate(nil, 19000)), "2022-01-08"},
		{string(AppendTime(nil, noon)), "12:00"},
		{string(AppendTime(nil, noon+61_999)), "12:01:01"},
		{string(AppendTimestamp(nil, 1_700_000_000_123)), "2023-11-14T22:13:20.123"},
		{string(AppendTimestamp(nil, -1)), "1969-12-31T23:59:59.999"},
	} {
		if c.got != c.text {
			t.Errorf("%s, expected %s", c.got, c.text)
		}
	}
}

func TestFloorDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		millis := rapid.Int64().Draw(t, "millis")
		days, rest := FloorDay(millis)
		if rest < 0 || rest >= millisPerDay || days*millisPerDay+rest != millis {
			t.Fatalf("%d is day %d and %d", millis, days, rest)
		}
	})
}
