package fn

import (
	"fmt"
	"math"
	"strings"
	"time"

	"millrace/sql/types"
)

// timeUnit is a unit of time: of a fixed length, or of so many months.
type timeUnit struct{ millis, months int64 }

var timeUnits = map[string]timeUnit{
	"YEAR": {months: 12}, "QUARTER": {months: 3}, "MONTH": {months: 1},
	"WEEK": {millis: daysPerWeek * millisPerDay}, "DAY": {millis: millisPerDay}, "HOUR": {millis: 3600_000},
	"MINUTE": {millis: 60_000}, "SECOND": {millis: 1000}, "MILLISECOND": {millis: 1},
}

func timeUnitOf(name string) (timeUnit, error) {
	unit, ok := timeUnits[strings.TrimSuffix(strings.ToUpper(name), "S")]
	if !ok {
		return unit, fmt.Errorf("'%s': %w", name, errUnit)
	}
	return unit, nil
}

// checkUnit refuses a keyword that is no unit.
func checkUnit(arguments []Argument) error {
	if text, ok := arguments[0].Literal.(string); ok {
		_, err := timeUnitOf(text)
		return err
	}
	return nil
}

// checkTimeUnit refuses a keyword that is no unit for a time of day.
func checkTimeUnit(arguments []Argument) error {
	if text, ok := arguments[0].Literal.(string); ok {
		unit, err := timeUnitOf(text)
		if err == nil && unit.months != 0 {
			err = errTimeUnit
		}
		return err
	}
	return nil
}

// span is what argument 0, a unit, and argument 1, their number, say: some
// milliseconds or some months.
func (c *Call) span(i, sign int) (timeUnit, error) {
	unit, err := cached(c, c.text(0, i), timeUnitOf)
	n := int64(sign) * c.integer(1, i)
	return timeUnit{millis: unit.millis * n, months: unit.months * n}, err
}

func addToTimestamp(sign int) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		span, err := c.span(i, sign)
		if err != nil {
			return err
		}
		start := c.integer(2, i)
		if span.months != 0 {
			day, rest := types.FloorDay(start)
			day = addMonths(day, span.months)
			// The first day of the range, which is not whole, is left out.
			if day > math.MaxInt64/millisPerDay || day < math.MinInt64/millisPerDay {
				return errTimeRange
			}
			start, span.millis = day*millisPerDay, rest
		}
		if span.millis > 0 && start > math.MaxInt64-span.millis || span.millis < 0 && start < math.MinInt64-span.millis {
			return errTimeRange
		}
		c.Out.SetInt(i, start+span.millis)
		return nil
	}
}

func addToDate(sign int) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		span, err := c.span(i, sign)
		if err != nil {
			return err
		}
		days := c.integer(2, i)
		if span.months != 0 {
			days = addMonths(days, span.months)
		} else {
			more, _ := types.FloorDay(span.millis)
			days += more
		}
		if days != int64(int32(days)) {
			return errTimeRange
		}
		c.Out.SetInt(i, days)
		return nil
	}
}

// addMonths adds months to a day since 1970. A day beyond the last of the month
// that comes out becomes the last.
func addMonths(day, months int64) int64 {
	year, month, dayOfMonth := time.Unix(day*secondsPerDay, 0).UTC().Date()
	total := int64(year)*12 + int64(month) - 1 + months
	year = int(floorDivide(total, 12))
	month = time.Month(total-int64(year)*12) + 1
	return date(year, month, min(dayOfMonth, daysIn(year, int(month)))).Unix() / secondsPerDay
}

const secondsPerDay = 24 * 60 * 60

func floorDivide(a, b int64) int64 {
	quotient := a / b
	if a%b < 0 {
		quotient--
	}
	return quotient
}

func addToTime(sign int) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		span, err := c.span(i, sign)
		if err != nil {
			return err
		}
		if span.months != 0 {
			return errTimeUnit
		}
		_, rest := types.FloorDay(c.integer(2, i) + span.millis%millisPerDay)
		c.Out.SetInt(i, rest)
		return nil
	}
}
