package fn

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

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
