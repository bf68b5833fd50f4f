package window

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestSessionEarliest(t *testing.T) {
	const end = math.MaxInt64
	tests := []struct {
		name       string
		s          Session
		streamTime int64
		want       int64
	}{
		{"without grace", Session{Gap: 5}, 20, 15},
		{"with grace", Session{Gap: 5, Grace: 3}, 20, 12},
		{"before the first row", Session{Gap: 5, Grace: 3}, -1, -9},
		{"grace of all time", Session{Gap: 5, Grace: end}, 20, 20 - end},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.s.Earliest(test.streamTime); got != test.want {
				t.Errorf("earliest end %d, want %d", got, test.want)
			}
		})
	}
}

func TestSessionReaches(t *testing.T) {
	const end = math.MaxInt64
	tests := []struct {
		name                  string
		start, end, timestamp int64
		want                  bool
	}{
		{"gap behind the end", 10, 20, 25, true},
		{"more than the gap behind the end", 10, 20, 26, false},
		{"gap before the start", 10, 20, 5, true},
		{"more than the gap before the start", 10, 20, 4, false},
		{"inside", 10, 20, 15, true},
		{"at the end of time", end - 3, end - 2, end, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := (Session{Gap: 5}).Reaches(test.start, test.end, test.timestamp); got != test.want {
				t.Errorf("reaches: %v, want %v", got, test.want)
			}
		})
	}
}

// TestSlotsAgainstDefinition: slots are longer than the gap, a table is a run of
// slots, and there are not many tables of sessions that take rows.
func TestSlotsAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Session{Gap: anyTime(t, "gap", 1), Grace: anyTime(t, "grace", 0)}
		slots := s.Slots()
		if slots.Width <= s.Gap && s.Gap < math.MaxInt64 {
			t.Fatalf("%+v has slots of %d", s, slots.Width)
		}
		time := anyTime(t, "time", 0)
		slot := slots.Slot(time)
		table := slots.Table(slot)
		first, last := slots.First(table), slots.TableEnd(table)
		if first > slot || slot-first >= slots.PerTable || table > time || last < time {
			t.Fatalf("%d is in slot %d of the table %d .. %d, whose first slot is %d, in %+v", time, slot, table, last, first, slots)
		}
		if first*slots.Width != table || slots.Slot(table) != first {
			t.Fatalf("the table at %d begins with slot %d in %+v", table, first, slots)
		}
		if last < math.MaxInt64 && slots.Table(slots.Slot(last+1)) != last+1 {
			t.Fatalf("no table begins behind %d in %+v", last, slots)
		}
		length := new(big.Int).Mul(big.NewInt(slots.PerTable), big.NewInt(slots.Width))
		all := new(big.Int).Add(big.NewInt(s.Gap), big.NewInt(s.Grace))
		if tables := new(big.Int).Div(all, length); tables.Cmp(big.NewInt(maxTables)) > 0 {
			t.Fatalf("%v tables for %+v", tables, s)
		}
	})
}
