package fn

import (
	"strconv"
	"strings"
	"time"
)

// clock is a time taken apart once for all the fields of a pattern.
type clock struct {
	time.Time
	year, day            int
	month                time.Month
	hour, minute, second int
}

// format appends the time t, in t's own zone.
func (p *datePattern) format(dst []byte, t time.Time) ([]byte, error) {
	c := clock{Time: t}
	c.year, c.month, c.day = t.Date()
	c.hour, c.minute, c.second = t.Clock()
	return formatParts(dst, p.parts, &c)
}

func formatParts(dst []byte, parts []patternPart, t *clock) ([]byte, error) {
	var err error
	for _, part := range parts {
		switch {
		case part.letter != 0:
			if dst, err = formatField(dst, part, t); err != nil {
				return nil, err
			}
		case part.optional != nil:
			if dst, err = formatParts(dst, part.optional, t); err != nil {
				return nil, err
			}
		default:
			dst = append(dst, part.text...)
		}
	}
	return dst, nil
}

func appendPadded(dst []byte, v, width int) []byte {
	if width == 2 && v >= 0 && v < 100 {
		return append(dst, byte('0'+v/10), byte('0'+v%10))
	}
	var buf [20]byte
	text := strconv.AppendInt(buf[:0], int64(v), 10)
	for range width - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

func formatField(dst []byte, part patternPart, t *clock) ([]byte, error) {
	switch part.letter {
	case 'y', 'u':
		return formatYear(dst, part, t.year), nil
	case 'Y', 'w', 'W', 'F':
		return formatWeek(dst, part, t), nil
	case 'M', 'L':
		return formatName(dst, part.count, int(t.month), t.month.String()), nil
	case 'd':
		return appendPadded(dst, t.day, part.count), nil
	case 'D':
		return appendPadded(dst, t.YearDay(), part.count), nil
	case 'E':
		return formatName(dst, max(part.count, 3), 0, t.Weekday().String()), nil
	case 'e', 'c':
		return formatName(dst, part.count, int(t.Weekday())+1, t.Weekday().String()), nil
	case 'G':
		if t.year > 0 {
			return append(dst, eras(part.count)[0]...), nil
		}
		return append(dst, eras(part.count)[1]...), nil
	case 'Q', 'q':
		return formatQuarter(dst, part.count, quarterOf(t.month)), nil
	case 'z', 'V', 'X', 'x', 'Z', 'O':
		return formatZone(dst, part, t), nil
	}
	return formatClock(dst, part, t)
}

func formatWeek(dst []byte, part patternPart, t *clock) []byte {
	switch part.letter {
	case 'W':
		return appendPadded(dst, weekOfMonth(t.Time), part.count)
	case 'F':
		return appendPadded(dst, alignedWeek(t.Time), part.count)
	}
	year, week := weekOf(t.Time)
	if part.letter == 'Y' {
		return formatYear(dst, part, year)
	}
	return appendPadded(dst, week, part.count)
}

func formatYear(dst []byte, part patternPart, year int) []byte {
	if part.letter == 'y' && year < 1 {
		year = 1 - year
	}
	if part.count == 2 {
		return appendPadded(dst, magnitude(year)%100, 2)
	}
	if year < 0 {
		dst = append(dst, '-')
		year = -year
	} else if part.count >= 4 && year >= tenTo(part.count) {
		dst = append(dst, '+')
	}
	return appendPadded(dst, year, part.count)
}

func tenTo(n int) int {
	v := 1
	for range min(n, 18) {
		v *= 10
	}
	return v
}

// formatName writes a number for one or two letters, else a name: three
// letters short, four full, five its first letter.
func formatName(dst []byte, count, number int, name string) []byte {
	switch {
	case count <= 2:
		return appendPadded(dst, number, count)
	case count == 3:
		return append(dst, name[:3]...)
	case count == 5:
		return append(dst, name[0])
	}
	return append(dst, name...)
}

func formatQuarter(dst []byte, count, quarter int) []byte {
	switch count {
	case 3:
		return append(dst, 'Q', byte('0'+quarter))
	case 4:
		return append(dst, quarterNames[quarter-1]...)
	case 5:
		return append(dst, byte('0'+quarter))
	}
	return appendPadded(dst, quarter, count)
}

func formatClock(dst []byte, part patternPart, t *clock) ([]byte, error) {
	hour := t.hour
	switch part.letter {
	case 'a':
		if hour < 12 {
			return append(dst, "AM"...), nil
		}
		return append(dst, "PM"...), nil
	case 'H':
		return appendPadded(dst, hour, part.count), nil
	case 'k':
		return appendPadded(dst, (hour+23)%24+1, part.count), nil
	case 'K':
		return appendPadded(dst, hour%12, part.count), nil
	case 'h':
		return appendPadded(dst, (hour+11)%12+1, part.count), nil
	case 'm':
		return appendPadded(dst, t.minute, part.count), nil
	case 's':
		return appendPadded(dst, t.second, part.count), nil
	case 'S':
		start := len(dst)
		return appendPadded(dst, t.Nanosecond(), 9)[:start+part.count], nil
	case 'n':
		return appendPadded(dst, t.Nanosecond(), part.count), nil
	case 'A':
		return appendPadded(dst, secondOfDay(t)*1000+t.Nanosecond()/1e6, part.count), nil
	case 'N':
		return appendPadded(dst, secondOfDay(t)*1e9+t.Nanosecond(), part.count), nil
	}
	return nil, errPattern
}

func secondOfDay(t *clock) int { return (t.hour*60+t.minute)*60 + t.second }

func formatZone(dst []byte, part patternPart, t *clock) []byte {
	name, offset := t.Zone()
	switch part.letter {
	case 'V':
		return append(dst, t.Location().String()...)
	case 'z':
		if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
			name = t.Location().String()
		}
		return append(dst, name...)
	case 'O':
		return formatOffset(append(dst, "GMT"...), part.count, offset)
	case 'X':
		if offset == 0 {
			return append(dst, 'Z')
		}
	case 'Z':
		switch part.count {
		case 4:
			return formatOffset(append(dst, "GMT"...), 4, offset)
		case 5:
			if offset == 0 {
				return append(dst, 'Z')
			}
			return appendSeconds(appendOffset(dst, offset, ":", true), offset, ":")
		}
		return appendOffset(dst, offset, "", true)
	}
	separator := ""
	if part.count == 3 || part.count == 5 {
		separator = ":"
	}
	dst = appendOffset(dst, offset, separator, part.count > 1)
	if part.count > 3 {
		dst = appendSeconds(dst, offset, separator)
	}
	return dst
}

// appendSeconds appends the seconds of an offset if it has any: local mean times,
// before there were zones, do.
func appendSeconds(dst []byte, offset int, separator string) []byte {
	if seconds := magnitude(offset) % 60; seconds != 0 {
		dst = appendPadded(append(dst, separator...), seconds, 2)
	}
	return dst
}

// formatOffset appends an offset as +2 or +2:30, of four letters as +02:00, and
// nothing for UTC.
func formatOffset(dst []byte, count, offset int) []byte {
	if offset == 0 {
		return dst
	}
	if count == 4 {
		return appendSeconds(appendOffset(dst, offset, ":", true), offset, ":")
	}
	dst = appendPadded(append(dst, offsetSign(offset)), magnitude(offset)/3600, 1)
	if rest := magnitude(offset) % 3600; rest != 0 {
		dst = appendPadded(append(dst, ':'), rest/60, 2)
	}
	return appendSeconds(dst, offset, ":")
}

func offsetSign(offset int) byte {
	if offset < 0 {
		return '-'
	}
	return '+'
}

func magnitude(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

func appendOffset(dst []byte, offset int, separator string, minutes bool) []byte {
	dst = appendPadded(append(dst, offsetSign(offset)), magnitude(offset)/3600, 2)
	if rest := magnitude(offset) / 60 % 60; minutes || rest != 0 {
		dst = appendPadded(append(dst, separator...), rest, 2)
	}
	return dst
}
