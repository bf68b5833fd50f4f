package fn

import (
	"testing"
	"time"
)

func TestInstantOf(t *testing.T) {
	const layout = "2006-01-02T15:04"
	for _, c := range []struct{ zone, wall, utc string }{
		{"Europe/Berlin", "2024-03-31T01:59", "2024-03-31T00:59"},
		{"Europe/Berlin", "2024-03-31T02:30", "2024-03-31T01:30"}, // skipped: 03:30
		{"Europe/Berlin", "2024-03-31T03:00", "2024-03-31T01:00"},
		{"Europe/Berlin", "2024-10-27T02:30", "2024-10-27T00:30"}, // twice: summer time
		{"Europe/Berlin", "2024-10-27T03:00", "2024-10-27T02:00"},
		{"America/New_York", "2024-03-10T02:30", "2024-03-10T07:30"},
		{"America/New_York", "2024-11-03T01:30", "2024-11-03T05:30"},
		{"America/New_York", "2024-11-03T02:00", "2024-11-03T07:00"},
		{"Australia/Lord_Howe", "2024-04-07T01:45", "2024-04-06T14:45"},
		{"Europe/London", "2024-03-31T01:30", "2024-03-31T01:30"},
		{"Europe/London", "2024-10-27T01:30", "2024-10-27T00:30"},
		{"Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00"}, // a day that was left out
		{"+05:30", "2024-01-01T00:00", "2023-12-31T18:30"},
		{"UTC", "2024-01-01T00:00", "2024-01-01T00:00"},
	} {
		zone, err := zoneOf(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		wall, err := time.Parse(layout, c.wall)
		if err != nil {
			t.Fatal(err)
		}
		if got := instantOf(wall, zone).UTC().Format(layout); got != c.utc {
			t.Errorf("%s in %s is %s, not %s", c.wall, c.zone, got, c.utc)
		}
	}
}

// TestInstantOfIsTheInverse takes instants over a year in zones of many kinds.
func TestInstantOfIsTheInverse(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu"} {
		zone, err := zoneOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for instant := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC); instant.Year() == 2024; instant = instant.Add(10 * time.Minute) {
			_, offset := instant.In(zone).Zone()
			wall := instant.Add(time.Duration(offset) * time.Second)
			got := instantOf(wall, zone)
			if _, shown := got.In(zone).Zone(); got.After(instant) || !got.Add(time.Duration(shown)*time.Second).Equal(wall) {
				t.Errorf("%s: the clocks show %s at %s, not first at %s", name, wall, instant, got)
			}
		}
	}
}
