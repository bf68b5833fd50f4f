package fn

import (
	"errors"
	"time"

	"millrace/sql/types"
)

var timeFunctions = []*Function{
	{
		Name: "FORMAT_TIMESTAMP", Doc: "Writes a timestamp by a pattern, in a time zone or in UTC.",
		Overloads: []*Overload{{Signature: "(TIMESTAMP, STRING[, STRING]) STRING", Row: formatTimestamp}},
	},
	{
		Name: "FORMAT_DATE", Doc: "Writes a date by a pattern.",
		Overloads: []*Overload{{Signature: "(DATE, STRING) STRING", Row: formatDate}},
	},
	{
		Name: "FORMAT_TIME", Doc: "Writes a time of day by a pattern.",
		Overloads: []*Overload{{Signature: "(TIME, STRING) STRING", Row: formatTimestamp}},
	},
	{
		Name: "PARSE_TIMESTAMP", Doc: "Reads a timestamp by a pattern, in a time zone or in UTC.",
		Overloads: []*Overload{{Signature: "(STRING, STRING[, STRING]) TIMESTAMP", Row: parseTimestamp}},
	},
	{
		Name: "PARSE_DATE", Doc: "Reads a date by a pattern.",
		Overloads: []*Overload{{Signature: "(STRING, STRING) DATE", Row: parseDate((*datePattern).parsePrefix)}},
	},
	{
		Name: "PARSE_TIME", Doc: "Reads a time of day by a pattern.",
		Overloads: []*Overload{{Signature: "(STRING, STRING) TIME", Row: parseTime}},
	},
	{
		Name: "DATEADD", Doc: "Adds a number of units to a date; YEARS, QUARTERS and MONTHS by the calendar.",
		Overloads: []*Overload{{Signature: "(STRING, INTEGER, DATE) DATE", Check: checkUnit, Row: addToDate(1)}},
	},
	{
		Name: "DATESUB", Doc: "Takes a number of units from a date; YEARS, QUARTERS and MONTHS by the calendar.",
		Overloads: []*Overload{{Signature: "(STRING, INTEGER, DATE) DATE", Check: checkUnit, Row: addToDate(-1)}},
	},
	{
		Name: "TIMEADD", Doc: "Adds a number of units to a time of day, past midnight from its start.",
		Overloads: []*Overload{{Signature: "(STRING, INTEGER, TIME) TIME", Check: checkTimeUnit, Row: addToTime(1)}},
	},
	{
		Name: "TIMESUB", Doc: "Takes a number of units from a time of day, past midnight from its end.",
		Overloads: []*Overload{{Signature: "(STRING, INTEGER, TIME) TIME", Check: checkTimeUnit, Row: addToTime(-1)}},
	},
	{
		Name: "TIMESTAMPADD", Doc: "Adds a number of units to a timestamp; YEARS, QUARTERS and MONTHS by the calendar, in UTC.",
		Overloads: []*Overload{{Signature: "(STRING, INTEGER, TIMESTAMP) TIMESTAMP", Check: checkUnit, Row: addToTimestamp(1)}},
	},
	{
		Name: "TIMESTAMPSUB", Doc: "Takes a number of units from a timestamp; YEARS, QUARTERS and MONTHS by the calendar, in UTC.",
		Overloads: []*Overload{{Signature: "(STRING, INTEGER, TIMESTAMP) TIMESTAMP", Check: checkUnit, Row: addToTimestamp(-1)}},
	},
	{
		Name: "CONVERT_TZ", Doc: "Converts the wall clock time of one time zone to that of another.",
		Overloads: []*Overload{{Signature: "(TIMESTAMP, STRING, STRING) TIMESTAMP", Row: convertZone}},
	},
	{
		Name: "UNIX_TIMESTAMP", Doc: "Returns the milliseconds since 1970 of a timestamp, or of now.", Volatile: true,
		Overloads: []*Overload{{Signature: "([TIMESTAMP]) BIGINT", Row: func(c *Call, i int) error {
			millis := int64(0)
			if len(c.Args) > 0 {
				millis = c.integer(0, i)
			} else {
				millis = c.now()
			}
			c.Out.SetInt(i, millis)
			return nil
		}}},
	},
	{
		Name: "UNIX_DATE", Doc: "Returns the days since 1970 of a date, or of today in UTC.", Volatile: true,
		Overloads: []*Overload{{Signature: "([DATE]) INTEGER", Row: func(c *Call, i int) error {
			if len(c.Args) > 0 {
				return copyInteger(c, i)
			}
			days, _ := types.FloorDay(c.now())
			c.Out.SetInt(i, days)
			return nil
		}}},
	},
	{
		Name: "FROM_UNIXTIME", Doc: "Returns the timestamp of the milliseconds since 1970.",
		Overloads: []*Overload{{Signature: "(BIGINT) TIMESTAMP", Row: copyInteger}},
	},
	{
		Name: "FROM_DAYS", Doc: "Returns the date of the days since 1970.",
		Overloads: []*Overload{{Signature: "(INTEGER) DATE", Row: copyInteger}},
	},
	{
		Name: "TIMESTAMPTOSTRING", Doc: "Writes milliseconds since 1970 by a pattern; FORMAT_TIMESTAMP is its successor.",
		Overloads: []*Overload{{Signature: "(BIGINT, STRING[, STRING]) STRING", Row: formatTimestamp}},
	},
	{
		Name: "STRINGTOTIMESTAMP", Doc: "Reads milliseconds since 1970 by a pattern; PARSE_TIMESTAMP is its successor.",
		Overloads: []*Overload{{Signature: "(STRING, STRING[, STRING]) BIGINT", Nulls: true, Row: notNullText(parseTimestamp)}},
	},
	{
		Name: "DATETOSTRING", Doc: "Writes days since 1970 by a pattern; FORMAT_DATE is its successor.",
		Overloads: []*Overload{{Signature: "(INTEGER, STRING) STRING", Row: formatDate}},
	},
	{
		Name: "STRINGTODATE", Doc: "Reads days since 1970 by a pattern; PARSE_DATE is its successor.",
		Overloads: []*Overload{{Signature: "(STRING, STRING) INTEGER", Nulls: true, Row: notNullText(parseDate((*datePattern).parse))}},
	},
}

var (
	errNullText  = errors.New("the text is null")
	errTimePart  = errors.New("the pattern of a date has parts of a time")
	errDatePart  = errors.New("the pattern of a time has parts of a date")
	errUnit      = errors.New("the units are YEARS, QUARTERS, MONTHS, WEEKS, DAYS, HOURS, MINUTES, SECONDS and MILLISECONDS")
	errTimeUnit  = errors.New("a time of day takes no years, quarters or months")
	errTimeRange = errors.New("the result is out of range")
)

func (c *Call) now() int64 {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now().UnixMilli()
}

// notNullText makes a null argument a failure.
func notNullText(row func(c *Call, i int) error) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		for k := range c.Args {
			if c.null(k, i) {
				return errNullText
			}
		}
		return row(c, i)
	}
}

// pattern is the compiled pattern in argument 1.
func (c *Call) pattern(i int) (*datePattern, error) {
	return cached(c, c.text(1, i), compileDatePattern)
}

// zone is the zone in argument 2, UTC if there is none.
func (c *Call) zone(i int) (*time.Location, error) {
	if len(c.Args) < 3 {
		return time.UTC, nil
	}
	return c.namedZone(2, i)
}

func (c *Call) setFormatted(i int, t time.Time) error {
	pattern, err := c.pattern(i)
	if err != nil {
		return err
	}
	buf, err := pattern.format(c.begin(), t)
	if err == nil {
		c.end(i, buf)
	}
	return err
}

func formatTimestamp(c *Call, i int) error {
	zone, err := c.zone(i)
	if err != nil {
		return err
	}
	return c.setFormatted(i, time.UnixMilli(c.integer(0, i)).In(zone))
}

func formatDate(c *Call, i int) error {
	return c.setFormatted(i, time.Unix(c.integer(0, i)*86400, 0).UTC())
}

// dateReading reads the fields of a text by a pattern.
type dateReading func(p *datePattern, text string) (dateFields, error)

func (c *Call) parsed(i int, read dateReading) (dateFields, error) {
	pattern, err := c.pattern(i)
	if err != nil {
		return dateFields{}, err
	}
	return read(pattern, c.text(0, i))
}

func parseTimestamp(c *Call, i int) error {
	zone, err := c.zone(i)
	if err != nil {
		return err
	}
	fields, err := c.parsed(i, (*datePattern).parse)
	if err != nil {
		return err
	}
	t, err := fields.time(zone)
	if err == nil {
		c.Out.SetInt(i, t.UnixMilli())
	}
	return err
}

func parseDate(read dateReading) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		fields, err := c.parsed(i, read)
		if err != nil {
			return err
		}
		if fields.hasTime {
			return errTimePart
		}
		fields.zone = nil
		t, err := fields.time(time.UTC)
		if err == nil {
			days, _ := types.FloorDay(t.UnixMilli())
			c.Out.SetInt(i, days)
		}
		return err
	}
}

func parseTime(c *Call, i int) error {
	fields, err := c.parsed(i, (*datePattern).parse)
	if err != nil {
		return err
	}
	if fields.hasDate {
		return errDatePart
	}
	fields.zone = nil
	t, err := fields.time(time.UTC)
	if err == nil {
		c.Out.SetInt(i, t.UnixMilli())
	}
	return err
}

func convertZone(c *Call, i int) error {
	from, err := c.namedZone(1, i)
	if err != nil {
		return err
	}
	to, err := c.namedZone(2, i)
	if err != nil {
		return err
	}
	instant := instantOf(time.UnixMilli(c.integer(0, i)).UTC(), from)
	_, offset := instant.In(to).Zone()
	c.Out.SetInt(i, instant.UnixMilli()+int64(offset)*1000)
	return nil
}
