package fn

import (
	"testing"

	"pgregory.net/rapid"
)

// TestKeySetNumbersKeys compares with a map, below and above the number of keys
// from which on keys are hashed.
func TestKeySetNumbersKeys(t *testing.T) {
	var set keySet
	rapid.Check(t, func(t *rapid.T) {
		set.reset()
		numbers := map[string]int{}
		for _, key := range rapid.SliceOfN(rapid.StringMatching(`[a-d]{0,3}`), 0, 120).Draw(t, "keys") {
			want, known := numbers[key]
			if !known {
				want = len(numbers)
				numbers[key] = want
			}
			if got, added := set.addText(key); got != want || added == known {
				t.Fatalf("%q is number %d (new: %v), want %d (%v)", key, got, added, want, !known)
			}
		}
		if set.count() != len(numbers) {
			t.Fatalf("%d keys, want %d", set.count(), len(numbers))
		}
	})
}
