package types

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ErrText says that a text is no value of the type that it should become.
var ErrText = errors.New("not a value of the type")

func textError(text string, t *Type) error {
	return fmt.Errorf("'%s' is no %s: %w", text, t, ErrText)
}

// ParseBoolean reads a text as CAST does: any prefix of true or yes, in any
// case, is true and everything else, the empty text included, is false.
func ParseBoolean(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return text != "" && (strings.HasPrefix("true", text) || strings.HasPrefix("yes", text))
}

// ParseInteger reads a trimmed text as INTEGER or BIGINT.
func ParseInteger(text string, t *Type) (int64, error) {
	size := 64
	if t.Kind == KindInteger {
		size = 32
	}
	v, err := strconv.ParseInt(strings.TrimSpace(text), 10, size)
	if err != nil {
		return 0, textError(text, t)
	}
	return v, nil
}

// ParseDouble reads a trimmed text as Java's Double.parseDouble does, without
// its hexadecimal forms.
func ParseDouble(text string) (float64, error) {
	trimmed := strings.TrimSpace(text)
	switch strings.TrimLeft(trimmed, "+-") {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		if trimmed[0] == '-' {
			return math.Inf(-1), nil
		}
		return math.Inf(1), nil
	}
	if trimmed != "" && strings.ContainsRune("dDfF", rune(trimmed[len(trimmed)-1])) {
		trimmed = trimmed[:len(trimmed)-1]
	}
	if trimmed == "" || strings.Trim(trimmed, "0123456789+-.eE") != "" {
		return 0, textError(text, Double)
	}
	v, err := strconv.ParseFloat(trimmed, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, textError(text, Double)
	}
	return v, nil
}

// ParseDate reads yyyy[-MM[-dd]] as a DATE, days since 1970-01-01. A missing
// month or day is the first.
func ParseDate(text string) (int64, error) {
	days, ok := parseDate(strings.TrimSpace(text))
	if !ok {
		return 0, textError(text, Date)
	}
	return days, nil
}

func parseDate(text string) (int64, bool) {
	sign := 1
	if strings.HasPrefix(text, "-") {
		sign, text = -1, text[1:]
	}
	text = strings.TrimPrefix(text, "+")
	parts, _, ok := fields(text, '-', 9, [3]int{0, 1, 1})
	if !ok {
		return 0, false
	}
	return civilDays(sign*parts[0], parts[1], parts[2])
}

// fields reads one to three numbers between separators, the first of at most
// width digits and the others of at most two; defaults stand for those that
// are missing.
func fields(text string, separator byte, width int, defaults [3]int) (parts [3]int, count int, ok bool) {
	parts = defaults
	v, length := 0, 0
	for i := 0; ; i++ {
		if i < len(text) && text[i] >= '0' && text[i] <= '9' && length < width {
			v = v*10 + int(text[i]-'0')
			length++
			continue
		}
		if length == 0 || count == len(parts) || i < len(text) && text[i] != separator {
			return parts, count, false
		}
		parts[count] = v
		count++
		if i == len(text) {
			return parts, count, true
		}
		v, length, width = 0, 0, 2
	}
}

func digits(text string, most int) (int, bool) {
	if text == "" || len(text) > most {
		return 0, false
	}
	v := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}

func civilDays(year, month, day int) (int64, bool) {
	if year > 999999 || year < -999999 || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day {
		return 0, false
	}
	return t.Unix() / 86400, true
}

// ParseTime reads [T]HH[:mm[:ss[.fraction]]] as a TIME, milliseconds of the day.
func ParseTime(text string) (int64, error) {
	millis, ok := parseTime(strings.TrimPrefix(strings.TrimSpace(text), "T"))
	if !ok {
		return 0, textError(text, Time)
	}
	return millis, nil
}

func parseTime(text string) (int64, bool) {
	text, fraction, hasFraction := strings.Cut(text, ".")
	parts, count, ok := fields(text, ':', 2, [3]int{})
	if !ok || parts[0] > 23 || parts[1] > 59 || parts[2] > 59 {
		return 0, false
	}
	millis := 0
	if hasFraction {
		if millis, ok = fractionMillis(fraction); !ok || count < len(parts) {
			return 0, false
		}
	}
	return int64(((parts[0]*60+parts[1])*60+parts[2])*1000 + millis), true
}

// fractionMillis is a fraction of a second, of one to nine digits, in whole
// milliseconds.
func fractionMillis(fraction string) (int, bool) {
	v, ok := digits(fraction, 9)
	if !ok {
		return 0, false
	}
	for n := len(fraction); n < 3; n++ {
		v *= 10
	}
	for n := len(fraction); n > 3; n-- {
		v /= 10
	}
	return v, true
}

// ParseTimestamp reads yyyy[-MM[-dd[THH[:mm[:ss[.fraction]]]]]] with an
// optional zone Z, +hh, +hhmm or +hh:mm as a TIMESTAMP, milliseconds since
// 1970 in UTC. Parts that are missing are the first, the zone is UTC. A blank
// may stand for the T.
func ParseTimestamp(text string) (int64, error) {
	trimmed := strings.TrimSpace(text)
	date, clock, hasClock := strings.Cut(trimmed, "T")
	if !hasClock {
		date, clock, hasClock = strings.Cut(trimmed, " ")
	}
	offset, ok := 0, true
	if hasClock {
		clock, offset, ok = cutZone(strings.TrimSpace(clock))
	} else {
		date = strings.TrimSuffix(date, "Z")
	}
	days, okDate := parseDate(date)
	millis := int64(0)
	if ok && clock != "" {
		millis, ok = parseTime(clock)
	}
	if !ok || !okDate {
		return 0, textError(text, Timestamp)
	}
	return days*millisPerDay + millis - int64(offset)*1000, nil
}

// cutZone splits a zone offset, in seconds, from the end of a time of day.
func cutZone(clock string) (rest string, offset int, ok bool) {
	if rest, found := strings.CutSuffix(clock, "Z"); found {
		return rest, 0, true
	}
	at := strings.LastIndexAny(clock, "+-")
	if at < 0 {
		return clock, 0, true
	}
	v, ok := zoneDigits(clock[at+1:])
	if !ok {
		return "", 0, false
	}
	seconds := (v/100)*3600 + (v%100)*60
	if v/100 > 18 || v%100 > 59 {
		return "", 0, false
	}
	if clock[at] == '-' {
		seconds = -seconds
	}
	return clock[:at], seconds, true
}

// zoneDigits reads the digits hh or hhmm of a zone, with colons anywhere, as
// the number hhmm.
func zoneDigits(text string) (v int, ok bool) {
	count := 0
	for _, c := range []byte(text) {
		switch {
		case c == ':':
			continue
		case c < '0' || c > '9' || count == 4:
			return 0, false
		}
		v = v*10 + int(c-'0')
		count++
	}
	if count == 2 {
		v *= 100
	}
	return v, count == 2 || count == 4
}
