package fn

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var errDateText = errors.New("the text does not fit the pattern")

// dateFields is what a text says about a time.
type dateFields struct {
	year, month, day, yearDay     int
	hour, minute, second, nano    int
	hour12, half                  int // half of the day: 0 AM, 1 PM
	nanoOfDay                     int
	hasDate, hasTime              bool
	has12, hasYearDay, hasNanoDay bool
	beforeChrist                  bool
	zone                          *time.Location
}

// parse reads all of a text.
func (p *datePattern) parse(text string) (dateFields, error) {
	r := newDateReader(text)
	if !r.parts(p.parts) || r.at != len(text) {
		return r.fields, fmt.Errorf("'%s': %w", text, errDateText)
	}
	return r.fields, nil
}

// parsePrefix reads the beginning of a text, as far as the pattern goes, which
// is how PARSE_DATE takes a text with more behind the date.
func (p *datePattern) parsePrefix(text string) (dateFields, error) {
	r := newDateReader(text)
	if !r.parts(p.parts) {
		return r.fields, fmt.Errorf("'%s': %w", text, errDateText)
	}
	return r.fields, nil
}

// time is the time in the zone of the text, else in the given one. A day
// beyond the month's last becomes the last.
func (f *dateFields) time(zone *time.Location) (time.Time, error) {
	if f.zone != nil {
		zone = f.zone
	}
	if f.beforeChrist {
		f.year = 1 - f.year
	}
	hour, nano := f.hour, f.nano
	if f.has12 {
		hour = f.hour12%12 + 12*f.half
	}
	minute, second := f.minute, f.second
	if f.hasNanoDay {
		hour, minute, second, nano = 0, 0, f.nanoOfDay/1e9, f.nanoOfDay%1e9
	}
	month, day := time.Month(f.month), f.day
	if f.hasYearDay {
		month, day = time.January, f.yearDay
	} else if f.month < 1 || f.month > 12 || f.day < 1 || f.day > 31 {
		return time.Time{}, errDateText
	} else if last := time.Date(f.year, month+1, 0, 0, 0, 0, 0, time.UTC).Day(); day > last {
		day = last
	}
	if hour > 23 || minute > 59 || second > 59 && !f.hasNanoDay {
		return time.Time{}, errDateText
	}
	return instantOf(time.Date(f.year, month, day, hour, minute, second, nano, time.UTC), zone), nil
}

type dateReader struct {
	text   string
	at     int
	fields dateFields
}

func newDateReader(text string) dateReader {
	return dateReader{text: text, fields: dateFields{year: 1970, month: 1, day: 1}}
}

func (r *dateReader) parts(parts []patternPart) bool {
	for k, part := range parts {
		switch {
		case part.letter != 0:
			if !r.field(part, reserved(parts[k+1:])) {
				return false
			}
		case part.optional != nil:
			before := *r
			if !r.parts(part.optional) {
				*r = before
			}
		default:
			end := r.at + len(part.text)
			if end > len(r.text) || !strings.EqualFold(r.text[r.at:end], part.text) {
				return false
			}
			r.at = end
		}
	}
	return true
}

// reserved is the number of digits that the fields right behind need.
func reserved(parts []patternPart) int {
	total := 0
	for _, part := range parts {
		width := part.fixedWidth()
		if width == 0 {
			break
		}
		total += width
	}
	return total
}

// number reads least to most digits, and leaves the reserved ones.
func (r *dateReader) number(least, most, reserve int) (int, bool) {
	end := r.at
	for end < len(r.text) && r.text[end] >= '0' && r.text[end] <= '9' {
		end++
	}
	end = min(end, r.at+most)
	if least != most {
		run := end
		for run < len(r.text) && r.text[run] >= '0' && r.text[run] <= '9' {
			run++
		}
		end = min(end, max(run-reserve, r.at+least))
	}
	if end-r.at < least || end == r.at || end-r.at > 18 || end > len(r.text) {
		return 0, false
	}
	v := 0
	for _, c := range []byte(r.text[r.at:end]) {
		v = v*10 + int(c-'0')
	}
	r.at = end
	return v, true
}

func (r *dateReader) two(part patternPart, reserve int) (int, bool) {
	if part.count == 2 {
		return r.number(2, 2, 0)
	}
	return r.number(1, 18, reserve)
}

func (r *dateReader) field(part patternPart, reserve int) bool {
	ok := true
	f := &r.fields
	switch part.letter {
	case 'y', 'u':
		f.hasDate = true
		return r.year(part, reserve)
	case 'M', 'L':
		f.hasDate = true
		if part.count > 2 {
			f.month, ok = r.name(monthNames, part.count)
			return ok
		}
		f.month, ok = r.two(part, reserve)
	case 'd':
		f.hasDate = true
		f.day, ok = r.two(part, reserve)
	case 'D':
		f.hasDate, f.hasYearDay = true, true
		f.yearDay, ok = r.number(part.count, 3, reserve)
		ok = ok && f.yearDay >= 1 && f.yearDay <= 366
	case 'E':
		_, ok = r.name(dayNames, max(part.count, 3))
	case 'e':
		if part.count > 2 {
			_, ok = r.name(dayNames, part.count)
		} else {
			_, ok = r.number(1, 1, 0)
		}
	case 'G':
		return r.era()
	case 'Q':
		_, ok = r.number(1, part.count, 0)
	case 'z', 'V', 'X', 'x', 'Z', 'O':
		return r.zone()
	default:
		return r.clock(part, reserve)
	}
	return ok
}

func (r *dateReader) year(part patternPart, reserve int) bool {
	sign := 1
	if r.at < len(r.text) && part.count != 2 && (r.text[r.at] == '-' || r.text[r.at] == '+') {
		if r.text[r.at] == '-' {
			sign = -1
		}
		r.at++
	}
	if part.count == 2 {
		v, ok := r.number(2, 2, 0)
		r.fields.year = 2000 + v
		return ok
	}
	v, ok := r.number(part.count, 9, reserve)
	r.fields.year = sign * v
	return ok && v <= 999999
}

func (r *dateReader) era() bool {
	for _, era := range []string{"AD", "BC"} {
		if r.word(era) {
			r.fields.beforeChrist = era == "BC"
			return true
		}
	}
	return false
}

func (r *dateReader) word(word string) bool {
	end := r.at + len(word)
	if end > len(r.text) || !strings.EqualFold(r.text[r.at:end], word) {
		return false
	}
	r.at = end
	return true
}

var (
	monthNames = []string{
		"January", "February", "March", "April", "May", "June",
		"July", "August", "September", "October", "November", "December",
	}
	dayNames = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// name reads a full or short name and returns its number from 1.
func (r *dateReader) name(names []string, count int) (int, bool) {
	for n, name := range names {
		if count == 3 {
			name = name[:3]
		}
		if r.word(name) {
			return n + 1, true
		}
	}
	return 0, false
}

func (r *dateReader) clock(part patternPart, reserve int) bool {
	ok := true
	f := &r.fields
	f.hasTime = true
	switch part.letter {
	case 'a':
		switch {
		case r.word("AM"):
			f.half = 0
		case r.word("PM"):
			f.half = 1
		default:
			return false
		}
	case 'H':
		f.hour, ok = r.two(part, reserve)
	case 'k':
		f.hour, ok = r.two(part, reserve)
		ok = ok && f.hour >= 1 && f.hour <= 24
		f.hour %= 24
	case 'h', 'K':
		f.has12 = true
		f.hour12, ok = r.two(part, reserve)
		ok = ok && f.hour12 <= 12
	case 'm':
		f.minute, ok = r.two(part, reserve)
	case 's':
		f.second, ok = r.two(part, reserve)
	default:
		return r.fraction(part, reserve)
	}
	return ok
}

// fraction reads parts of a second, and times of the day in such parts.
func (r *dateReader) fraction(part patternPart, reserve int) bool {
	ok := true
	f := &r.fields
	switch part.letter {
	case 'S':
		f.nano, ok = r.number(part.count, part.count, 0)
		for range 9 - part.count {
			f.nano *= 10
		}
	case 'n':
		f.nano, ok = r.number(1, 9, reserve)
	case 'A':
		f.hasNanoDay = true
		f.nanoOfDay, ok = r.number(1, 8, reserve)
		ok = ok && f.nanoOfDay < millisPerDay
		f.nanoOfDay *= 1e6
	case 'N':
		f.hasNanoDay = true
		f.nanoOfDay, ok = r.number(1, 14, reserve)
		ok = ok && f.nanoOfDay < millisPerDay*1e6
	}
	return ok
}

const millisPerDay = 24 * 60 * 60 * 1000

// zone reads the longest prefix that names a zone or an offset.
func (r *dateReader) zone() bool {
	end := r.at
	for end < min(len(r.text), r.at+maxZoneName) && isZoneByte(r.text[end]) {
		end++
	}
	for ; end > r.at; end-- {
		if zone, err := zoneOf(r.text[r.at:end]); err == nil {
			r.fields.zone = zone
			r.at = end
			return true
		}
	}
	return false
}

func isZoneByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || strings.IndexByte("+-:/_", b) >= 0
}
