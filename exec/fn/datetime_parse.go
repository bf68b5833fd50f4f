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
	year, month, dayOfMonth, yearDay    int
	hasYear, hasMonth, hasDay           bool
	hasYearDay, hasWeekYear             bool
	weekYear, week, monthWeek, aligned  int // weeks: of the year, of the month, of seven days from its first; 0: not read
	quarter, weekday                    int // weekday from 1, Sunday; 0: not read
	hour, minute, second, nano          int
	hour12, half                        int // half of the day: 0 AM, 1 PM
	nanoOfDay                           int
	hasDate, hasTime, has12, hasNanoDay bool
	beforeChrist                        bool
	zone                                *time.Location
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

// time is the time in the zone of the text, else in the given one.
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
	if hour > 23 || minute > 59 || second > 59 && !f.hasNanoDay {
		return time.Time{}, errDateText
	}
	day, err := f.date()
	if err != nil {
		return day, err
	}
	moment := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return instantOf(day.Add(moment+time.Duration(nano)), zone), nil
}

type dateReader struct {
	text   string
	at     int
	fields dateFields
}

func newDateReader(text string) dateReader {
	return dateReader{text: text, fields: dateFields{year: 1970, month: 1, dayOfMonth: 1}}
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
		f.hasDate, f.hasYear = true, true
		f.year, ok = r.year(part, reserve)
	case 'M', 'L':
		f.hasDate, f.hasMonth = true, true
		if part.count > 2 {
			f.month, ok = r.name(monthNames, part.count)
			return ok
		}
		f.month, ok = r.two(part, reserve)
	case 'd':
		f.hasDate, f.hasDay = true, true
		f.dayOfMonth, ok = r.two(part, reserve)
	case 'D':
		f.hasDate, f.hasYearDay = true, true
		f.yearDay, ok = r.number(part.count, 3, reserve)
		ok = ok && f.yearDay >= 1 && f.yearDay <= 366
	case 'E', 'e', 'c':
		return r.weekday(part)
	case 'G':
		return r.era(part)
	case 'Q', 'q':
		return r.quarter(part)
	case 'Y', 'w', 'W', 'F':
		return r.week(part, reserve)
	case 'z', 'V', 'X', 'x', 'Z', 'O':
		return r.zone()
	default:
		return r.clock(part, reserve)
	}
	return ok
}

func (r *dateReader) weekday(part patternPart) bool {
	f := &r.fields
	ok := true
	if part.letter == 'E' || part.count > 2 {
		f.weekday, ok = r.name(dayNames, max(part.count, 3))
		return ok
	}
	f.weekday, ok = r.number(part.count, part.count, 0)
	return ok && f.weekday >= 1 && f.weekday <= daysPerWeek
}

var quarterNames = []string{"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"}

func (r *dateReader) quarter(part patternPart) bool {
	f := &r.fields
	f.hasDate = true
	ok := true
	switch part.count {
	case 4:
		f.quarter, ok = r.name(quarterNames, part.count)
		return ok
	case 3:
		if !r.word("Q") {
			return false
		}
		f.quarter, ok = r.number(1, 1, 0)
	case 5:
		f.quarter, ok = r.number(1, 1, 0)
	default:
		f.quarter, ok = r.number(part.count, part.count, 0)
	}
	return ok && f.quarter >= 1 && f.quarter <= 4
}

// week reads years of weeks and weeks.
func (r *dateReader) week(part patternPart, reserve int) bool {
	f := &r.fields
	f.hasDate = true
	ok := true
	switch part.letter {
	case 'Y':
		f.hasWeekYear = true
		f.weekYear, ok = r.year(part, reserve)
		return ok
	case 'w':
		f.week, ok = r.number(part.count, 2, reserve)
		return ok && f.week >= 1 && f.week <= 53
	case 'W':
		f.monthWeek, ok = r.number(1, 1, 0)
		return ok && f.monthWeek >= 1 && f.monthWeek <= 6
	}
	f.aligned, ok = r.number(1, 1, 0)
	return ok && f.aligned >= 1 && f.aligned <= 5
}

// year reads a year; of two digits it is one from 2000 to 2099.
func (r *dateReader) year(part patternPart, reserve int) (int, bool) {
	sign := 1
	if r.at < len(r.text) && part.count != 2 && (r.text[r.at] == '-' || r.text[r.at] == '+') {
		if r.text[r.at] == '-' {
			sign = -1
		}
		r.at++
	}
	if part.count == 2 {
		v, ok := r.number(2, 2, 0)
		return 2000 + v, ok
	}
	v, ok := r.number(part.count, 9, reserve)
	return sign * v, ok && v <= 999999
}

// eras are the names of the times after and before Christ, by the number of
// letters.
func eras(count int) []string {
	switch count {
	case 4:
		return []string{"Anno Domini", "Before Christ"}
	case 5:
		return []string{"A", "B"}
	}
	return []string{"AD", "BC"}
}

func (r *dateReader) era(part patternPart) bool {
	for n, era := range eras(part.count) {
		if r.word(era) {
			r.fields.beforeChrist = n == 1
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
