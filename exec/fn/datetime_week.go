package fn

import (
	"errors"
	"time"
)

// Weeks are those of Java's locales en and en-US: they begin on Sunday, and the
// first one of a year or a month is the one with its first day. A year of weeks
// holds whole weeks, so the last days of December may be in the next one.

const daysPerWeek = 7

// weekOf is the year of weeks and the week that a day is in.
func weekOf(t time.Time) (year, week int) {
	saturday := t.AddDate(0, 0, int(time.Saturday-t.Weekday()))
	return saturday.Year(), (saturday.YearDay()-1)/daysPerWeek + 1
}

// weekOfMonth is the week of its month that a day is in.
func weekOfMonth(t time.Time) int {
	first := t.AddDate(0, 0, 1-t.Day()).Weekday()
	return (t.Day()-1+int(first))/daysPerWeek + 1
}

// alignedWeek is the seven days from the first of a month on that a day is in.
func alignedWeek(t time.Time) int { return (t.Day()-1)/daysPerWeek + 1 }

func quarterOf(month time.Month) int { return (int(month) + 2) / 3 }

var (
	errDateConflict = errors.New("the parts of the date contradict each other")
	errWeekYear     = errors.New("a year of weeks (Y) and a week (w) need each other")
	errNoYear       = errors.New("the calendar's year (y) is missing; Y is the year of weeks")
)

// date is the day that the fields say, at midnight in UTC: by day of the year, by
// day of the month, one beyond the month's last being the last, else by week.
// Parts that are read beside these must agree.
func (f *dateFields) date() (time.Time, error) {
	if f.quarter != 0 && !f.hasMonth {
		f.month = 3*f.quarter - 2
	}
	t, err := f.day()
	switch {
	case err != nil:
	case f.hasWeekYear && !f.hasYear && (f.hasDay || f.hasYearDay):
		err = errNoYear
	case !f.agrees(t):
		err = errDateConflict
	}
	return t, err
}

func (f *dateFields) day() (time.Time, error) {
	if f.hasYearDay {
		t := date(f.year, time.January, f.yearDay)
		if t.Year() != f.year {
			return t, errDateText
		}
		return t, nil
	}
	if !f.hasDay {
		switch {
		case f.hasWeekYear != (f.week != 0):
			return time.Time{}, errWeekYear
		case f.hasWeekYear:
			return f.dayOfWeekYear()
		}
	}
	if f.month < 1 || f.month > 12 || f.hasDay && (f.dayOfMonth < 1 || f.dayOfMonth > 31) {
		return time.Time{}, errDateText
	}
	if f.hasDay {
		return date(f.year, time.Month(f.month), min(f.dayOfMonth, daysIn(f.year, f.month))), nil
	}
	first := date(f.year, time.Month(f.month), 1)
	switch {
	case f.monthWeek != 0:
		return first.AddDate(0, 0, (f.monthWeek-1)*daysPerWeek+f.weekdayIndex()-int(first.Weekday())), nil
	case f.aligned != 0:
		t := first.AddDate(0, 0, (f.aligned-1)*daysPerWeek)
		if f.weekday != 0 {
			t = t.AddDate(0, 0, (f.weekdayIndex()-int(t.Weekday())+daysPerWeek)%daysPerWeek)
		}
		return t, nil
	}
	return first, nil
}

// dayOfWeekYear is a day of a week: Sunday where no other is said. A week beyond
// the year's last becomes the last.
func (f *dateFields) dayOfWeekYear() (time.Time, error) {
	if f.week > 53 {
		return time.Time{}, errDateText
	}
	start := date(f.weekYear, time.January, 1)
	start = start.AddDate(0, 0, -int(start.Weekday()))
	t := start.AddDate(0, 0, (f.week-1)*daysPerWeek)
	if year, _ := weekOf(t); year != f.weekYear {
		t = t.AddDate(0, 0, -daysPerWeek)
	}
	f.weekYear, f.week = weekOf(t)
	return t.AddDate(0, 0, f.weekdayIndex()), nil
}

// weekdayIndex is the day of the week from 0, Sunday where none was read.
func (f *dateFields) weekdayIndex() int { return max(f.weekday-1, 0) }

// agrees tells whether what was read beside the parts that the day follows from
// is true of it. A day of the week alone says nothing.
func (f *dateFields) agrees(t time.Time) bool {
	if f.quarter|f.weekday|f.week|f.monthWeek|f.aligned == 0 && !f.hasWeekYear {
		return true
	}
	weekYear, week := weekOf(t)
	known := f.hasDay || f.hasYearDay || f.hasWeekYear || f.monthWeek != 0 || f.aligned != 0
	for _, part := range []struct {
		read     bool
		said, is int
	}{
		{f.quarter != 0, f.quarter, quarterOf(t.Month())},
		{f.weekday != 0 && known, f.weekday, int(t.Weekday()) + 1},
		{f.hasWeekYear, f.weekYear, weekYear},
		{f.week != 0, f.week, week},
		{f.monthWeek != 0 && f.hasDay, f.monthWeek, weekOfMonth(t)},
		{f.aligned != 0 && f.hasDay, f.aligned, alignedWeek(t)},
		{f.hasYear && f.hasWeekYear, f.year, t.Year()},
		{f.hasMonth && f.hasWeekYear, f.month, int(t.Month())},
	} {
		if part.read && part.said != part.is {
			return false
		}
	}
	return true
}

func daysIn(year, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
