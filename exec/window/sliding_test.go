package window

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestSlidingBounds(t *testing.T) {
	const end = math.MaxInt64
	tests := []struct {
		name             string
		w                Sliding
		timestamp        int64
		left             int64
		early            bool
		endOfLeft        int64
		closedAt, goneAt int64 // the least stream times at which the left window is so
	}{
		{"in order", Sliding{Size: 10, Grace: 5}, 25, 15, false, 25, 31, 42},
		{"no grace", Sliding{Size: 10}, 25, 15, false, 25, 26, 37},
		{"at the size", Sliding{Size: 10, Grace: 5}, 10, 0, false, 10, 16, 27},
		{"early", Sliding{Size: 10, Grace: 5}, 9, 0, true, 10, 16, 27},
		{"at 0", Sliding{Size: 10, Grace: 5}, 0, 0, true, 10, 16, 27},
		{"last to be forgotten", Sliding{Size: 10, Grace: 5}, end - 17, end - 27, false, end - 17, end - 11, end},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, left := test.w, test.w.Left(test.timestamp)
			if left != test.left || w.Early(test.timestamp) != test.early || w.End(left) != test.endOfLeft {
				t.Errorf("left %d, early %v, end %d", left, w.Early(test.timestamp), w.End(left))
			}
			if w.Closed(left, test.closedAt-1) || !w.Closed(left, test.closedAt) {
				t.Errorf("does not close at %d", test.closedAt)
			}
			if w.Forgotten(left, test.goneAt-1) || !w.Forgotten(left, test.goneAt) {
				t.Errorf("is not forgotten at %d", test.goneAt)
			}
		})
	}
}

// TestSlidingAgainstDefinition holds closing and forgetting against the
// definition, in numbers that cannot overflow.
func TestSlidingAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Sliding{Size: anyTime(t, "size", 1), Grace: anyTime(t, "grace", 0)}
		start, streamTime := anyTime(t, "start", 0), anyTime(t, "stream time", -1)
		sum := func(terms ...int64) *big.Int {
			total := new(big.Int)
			for _, term := range terms {
				total.Add(total, big.NewInt(term))
			}
			return total
		}
		time := big.NewInt(streamTime)
		if got, want := w.Closed(start, streamTime), sum(start, w.Size, w.Grace).Cmp(time) < 0; got != want {
			t.Fatalf("closed: %v, want %v", got, want)
		}
		if got, want := w.Forgotten(start, streamTime), sum(start, w.Size, w.Grace, w.Size, 1).Cmp(time) < 0; got != want {
			t.Fatalf("forgotten: %v, want %v", got, want)
		}
		if end := sum(start, w.Size); end.IsInt64() && end.Int64() != w.End(start) || !end.IsInt64() && w.End(start) != math.MaxInt64 {
			t.Fatalf("end %d, want %v", w.End(start), end)
		}
	})
}
