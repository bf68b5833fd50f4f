package window

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func starts(w Time, timestamp int64) []int64 {
	var list []int64
	for start, ok := w.First(timestamp); ok; start, ok = w.Next(start, timestamp) {
		list = append(list, start)
	}
	return list
}

func TestStarts(t *testing.T) {
	const end = math.MaxInt64
	tests := []struct {
		name      string
		w         Time
		timestamp int64
		want      []int64
	}{
		{"tumbling at the start", Time{Size: 10, Advance: 10}, 20, []int64{20}},
		{"tumbling before the end", Time{Size: 10, Advance: 10}, 29, []int64{20}},
		{"tumbling first window", Time{Size: 10, Advance: 10}, 0, []int64{0}},
		{"hopping", Time{Size: 10, Advance: 5}, 27, []int64{20, 25}},
		{"hopping on a start", Time{Size: 10, Advance: 5}, 25, []int64{20, 25}},
		{"hopping near zero", Time{Size: 10, Advance: 3}, 4, []int64{0, 3}},
		{"advance does not divide the size", Time{Size: 10, Advance: 4}, 21, []int64{12, 16, 20}},
		{"advance does not divide the size, edge", Time{Size: 10, Advance: 4}, 22, []int64{16, 20}},
		{"advance greater than the size, between", Time{Size: 5, Advance: 10}, 7, nil},
		{"advance greater than the size, inside", Time{Size: 5, Advance: 10}, 12, []int64{10}},
		{"negative", Time{Size: 10, Advance: 5}, -1, nil},
		{"end of time", Time{Size: 10, Advance: 10}, end, []int64{end / 10 * 10}},
		{"size of all time", Time{Size: end, Advance: end}, end - 1, []int64{0}},
		{"size of all time, its end", Time{Size: end, Advance: end}, end, []int64{end}},
		{"no window starts beyond the end of time", Time{Size: 1, Advance: end}, end - 1, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := starts(test.w, test.timestamp); !slices.Equal(got, test.want) {
				t.Errorf("windows of %d: %v, want %v", test.timestamp, got, test.want)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	const end = math.MaxInt64
	tests := []struct {
		name              string
		w                 Time
		start, streamTime int64
		want              bool
	}{
		{"before the end", Time{Size: 10, Advance: 10}, 20, 29, false},
		{"at the end", Time{Size: 10, Advance: 10}, 20, 30, true},
		{"in grace", Time{Size: 10, Advance: 10, Grace: 5}, 20, 34, false},
		{"grace over", Time{Size: 10, Advance: 10, Grace: 5}, 20, 35, true},
		{"no stream time yet", Time{Size: 10, Advance: 10}, 0, -1, false},
		{"the end overflows", Time{Size: 10, Advance: 10}, end - 5, end, false},
		{"the grace overflows", Time{Size: 10, Advance: 10, Grace: end}, 20, end, false},
		{"the last window that closes", Time{Size: 10, Advance: 10}, end - 10, end, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.w.Closed(test.start, test.streamTime); got != test.want {
				t.Errorf("closed: %v, want %v", got, test.want)
			}
		})
	}
}

// anyTime draws times of all magnitudes, often next to the ends.
func anyTime(t *rapid.T, name string, least int64) int64 {
	switch rapid.IntRange(0, 2).Draw(t, name+" magnitude") {
	case 0:
		return rapid.Int64Range(least, 300).Draw(t, name)
	case 1:
		return rapid.Int64Range(math.MaxInt64-300, math.MaxInt64).Draw(t, name)
	}
	return rapid.Int64Range(least, math.MaxInt64).Draw(t, name)
}

// TestStartsAgainstDefinition holds the windows of a timestamp against the
// definition, in numbers that cannot overflow.
func TestStartsAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := anyTime(t, "size", 1)
		advance := max(size/rapid.Int64Range(1, 40).Draw(t, "windows"), 1)
		if size <= 300 {
			advance = rapid.Int64Range(1, size).Draw(t, "advance")
		}
		w := Time{Size: size, Advance: advance}
		timestamp := anyTime(t, "timestamp", -5)
		list := starts(w, timestamp)
		if timestamp < 0 {
			if list != nil {
				t.Fatalf("windows of a negative time: %v", list)
			}
			return
		}
		if len(list) == 0 {
			t.Fatalf("no window of %d in %+v", timestamp, w)
		}
		for k, start := range list {
			if start < 0 || start > timestamp || start%advance != 0 || timestamp-start >= size {
				t.Fatalf("window %d of %+v does not hold %d", start, w, timestamp)
			}
			if k > 0 && start-list[k-1] != advance {
				t.Fatalf("windows %d and %d are no neighbours of %+v", list[k-1], start, w)
			}
		}
		if first := list[0]; first >= advance && timestamp-(first-advance) < size {
			t.Fatalf("window %d of %+v is missing for %d", first-advance, w, timestamp)
		}
		if last := list[len(list)-1]; timestamp-last >= advance {
			t.Fatalf("window after %d of %+v is missing for %d", last, w, timestamp)
		}
	})
}

func TestClosedAgainstDefinition(t *testing.T) {
	limit := big.NewInt(math.MaxInt64)
	rapid.Check(t, func(t *rapid.T) {
		w := Time{Size: anyTime(t, "size", 1), Advance: 1, Grace: anyTime(t, "grace", 0)}
		start := anyTime(t, "start", 0)
		streamTime := anyTime(t, "stream time", -1)
		end := new(big.Int).Add(big.NewInt(start), big.NewInt(w.Size))
		closing := new(big.Int).Add(end, big.NewInt(w.Grace))
		if got, want := w.Closed(start, streamTime), closing.Cmp(big.NewInt(streamTime)) <= 0; got != want {
			t.Fatalf("closed: %v, want %v", got, want)
		}
		if end.Cmp(limit) > 0 {
			end = limit
		}
		if closing.Cmp(limit) > 0 {
			closing = limit
		}
		if w.End(start) != end.Int64() || w.CloseTime(start) != closing.Int64() {
			t.Fatalf("end %d, close time %d, want %v and %v", w.End(start), w.CloseTime(start), end, closing)
		}
	})
}
