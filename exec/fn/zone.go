package fn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the same zones on every machine
)

var errZone = errors.New("unknown time zone")

// zones holds the zones that were asked for; loading one reads a file.
var (
	zonesLock sync.RWMutex
	zones     = map[string]*time.Location{}
)

const maxZoneName = 64

// zoneOf finds a zone by its name, such as Europe/Berlin, UTC or Z, or by its
// offset: +2, +02, +0200, +02:00, also behind UTC, GMT or UT.
func zoneOf(name string) (*time.Location, error) {
	zonesLock.RLock()
	zone := zones[name]
	zonesLock.RUnlock()
	if zone != nil {
		return zone, nil
	}
	zone, err := loadZone(name)
	if err != nil {
		return nil, fmt.Errorf("'%s': %w", name, err)
	}
	zonesLock.Lock()
	zones[strings.Clone(name)] = zone
	zonesLock.Unlock()
	return zone, nil
}

// IsZone tells whether functions know a zone by this name.
func IsZone(name string) bool {
	_, err := zoneOf(name)
	return err == nil
}

// namedZone is a zone that a call used last, so that no lock is needed.
type namedZone struct {
	name string
	zone *time.Location
}

// namedZone is the zone in argument k, 1 or 2.
func (c *Call) namedZone(k, i int) (*time.Location, error) {
	last, name := &c.scratch.zones[k-1], c.text(k, i)
	if last.zone != nil && last.name == name {
		return last.zone, nil
	}
	zone, err := zoneOf(name)
	if err == nil {
		*last = namedZone{strings.Clone(name), zone}
	}
	return zone, err
}

func loadZone(name string) (*time.Location, error) {
	offset := name
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			offset = rest
			break
		}
	}
	switch {
	case name == "", strings.EqualFold(name, "local"), len(name) > maxZoneName:
		return nil, errZone
	case name == "Z" || name == "z" || name == "UT" || name == "GMT":
		return time.UTC, nil
	case offset[0] == '+' || offset[0] == '-':
		seconds, ok := parseOffset(offset)
		if !ok {
			return nil, errZone
		}
		if seconds == 0 {
			return time.UTC, nil
		}
		return time.FixedZone(string(appendOffset(nil, seconds, ":", true)), seconds), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errZone
	}
	return zone, nil
}

// instantOf is the instant at which the clocks of a zone show a wall clock time,
// given as if it were in UTC. A time that they show twice is the first one, by
// the offset before the change; a time that they skip is read with the offset
// before the change, so it moves on by as much as the clocks do. time.Date does
// not say which offset it takes.
func instantOf(wall time.Time, zone *time.Location) time.Time {
	if zone == time.UTC {
		return wall
	}
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	before := wall.Add(-offset(wall.Add(-24 * time.Hour)))
	after := wall.Add(-offset(wall.Add(24 * time.Hour)))
	if wall.Add(-offset(before)).Equal(before) || !wall.Add(-offset(after)).Equal(after) {
		return before
	}
	return after
}

func parseOffset(text string) (seconds int, ok bool) {
	digits := strings.ReplaceAll(text[1:], ":", "")
	if len(digits) == 1 || len(digits) == 3 || len(digits) == 5 {
		digits = "0" + digits
	}
	if len(digits) < 2 || len(digits) > 6 {
		return 0, false
	}
	digits = (digits + "0000")[:6]
	v, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0, false
	}
	hours, minutes, rest := int(v)/10000, int(v)/100%100, int(v)%100
	if hours > 18 || minutes > 59 || rest > 59 {
		return 0, false
	}
	seconds = hours*3600 + minutes*60 + rest
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}
