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
var zones sync.Map

// zoneOf finds a zone by its name, such as Europe/Berlin, UTC or Z, or by its
// offset: +2, +02, +0200, +02:00, also behind UTC, GMT or UT.
func zoneOf(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := loadZone(name)
	if err != nil {
		return nil, fmt.Errorf("'%s': %w", name, err)
	}
	zones.Store(strings.Clone(name), zone)
	return zone, nil
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
	case name == "", strings.EqualFold(name, "local"), len(name) > 64:
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
