package types

import (
	"errors"
	"testing"
)

// checkParsed expects the numbers of the texts that can be read, and ErrText
// for the others.
func checkParsed(t *testing.T, parse func(string) (int64, error), read map[string]int64, refused []string) {
	t.Helper()
	for text, want := range read {
		if got, err := parse(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range refused {
		if got, err := parse(text); !errors.Is(err, ErrText) {
			t.Errorf("%q: %d, %v, want an error", text, got, err)
		}
	}
}

// FuzzParseTimes reads any text without a panic, and what AppendTimestamp
// writes as the same value.
func FuzzParseTimes(f *testing.F) {
	for _, seed := range []string{
		"2020", "2020-05-06T07:08:09.123Z", "T10:11", "-5-1-1", "2020-05-06 07+0200", "999999-12-31", "", "T", "2020-05-06T+",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = ParseTime(text)
		_, _ = ParseDate(text)
		millis, err := ParseTimestamp(text)
		if err != nil || millis < -60000000000000 || millis > 253000000000000 {
			return
		}
		again, err := ParseTimestamp(string(AppendTimestamp(nil, millis)))
		if err != nil || again != millis {
			t.Errorf("%q is %d, and read back %d: %v", text, millis, again, err)
		}
	})
}

func TestParseDouble(t *testing.T) {
	for text, want := range map[string]string{
		" 1.5 ": "1.5", "1e400": "Infinity", "-Infinity": "-Infinity", "NaN": "NaN", "5f": "5.0", ".5": "0.5",
	} {
		v, err := ParseDouble(text)
		if err != nil || string(AppendDouble(nil, v)) != want {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"", " ", "x", "0x10", "1_000", "inf", "--1", "d"} {
		if v, err := ParseDouble(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}

func TestParseDate(t *testing.T) {
	checkParsed(t, ParseDate, map[string]int64{
		"2024":            19723,
		"2024-02":         19754,
		"2024-02-29":      19782,
		"2024-2-3":        19756,
		" 2024-02-03 ":    19756,
		"+2024-02-03":     19756,
		"-0005-01-01":     -721354,
		"-5":              -721354,
		"0000":            -719528,
		"999999-12-31":    364522971,
		"000002024-01-01": 19723,
		"-+1":             -719893,
	}, []string{
		"2023-02-29", "1000000", "0000002024-01-01", "2024-13-01", "2024-00-01", "2024-01-00", "2024-01-32", "2024-001",
		"2024-02-", "2024-02-03-04", "2024--3", "", "-", "+-1", "2024/02/03", "2024-02-03Z", "20a4", "٢٠٢٤",
	})
}

func TestParseTime(t *testing.T) {
	checkParsed(t, ParseTime, map[string]int64{
		"0":                  0,
		"23":                 82800000,
		"4:5":                14700000,
		"04:05":              14700000,
		"04:05:06":           14706000,
		"T04:05:06":          14706000,
		" T04:05 ":           14700000,
		"04:05:06.7":         14706700,
		"04:05:06.78":        14706780,
		"04:05:06.789":       14706789,
		"04:05:06.7899":      14706789,
		"04:05:06.000999999": 14706000,
		"04:05:06.123456789": 14706123,
	}, []string{
		"24", "04:60", "04:05:60", "TT04", "t04", "04:05:06.1234567890", "04:05:06.", "04:05.5", "04.5", "04:05:06:07",
		"004:05", "04:", "04::06", ":05", "", "T", ".5", "04:05:06.7.8", "04:05:06Z", "4:-5",
	})
}

func TestParseTimestamp(t *testing.T) {
	checkParsed(t, ParseTimestamp, map[string]int64{
		"1970":                     0,
		"1970Z":                    0,
		"2024-02-03":               1706918400000,
		"2024-02-03T":              1706918400000,
		"2024-02-03T04":            1706932800000,
		"2024-02-03T04:05:06.789Z": 1706933106789,
		"2024-02-03 04:05:06.789":  1706933106789,
		" 2024-02-03  04:05 ":      1706933100000,
		"2024-02-03T04:05+02":      1706925900000,
		"2024-02-03T04:05+0230":    1706924100000,
		"2024-02-03T04:05+02:30":   1706924100000,
		"2024-02-03T04:05-02:30":   1706942100000,
		"2024-02-03T04:05+:02:":    1706925900000,
		"2024-02-03T+02":           1706911200000,
		"2024-02-03T04:05+18:59":   1706864760000,
		"1969-12-31T23:59:59.999":  -1,
		"-0001-01-01T00:00:00-01":  -62198751600000,
	}, []string{
		"2024-02-03T04:05+2", "2024-02-03T04:05+230", "2024-02-03T04:05+02300", "2024-02-03T04:05+02:60",
		"2024-02-03T04:05+19:00", "2024-02-03T04:05+", "2024-02-03T04:05+:", "2024-02-03T04:05+0x", "2024-02-03T04:05Z+02",
		"2024-02-03T04:05+02Z", "2024-02-03Z04", "2024-02-30T00:00", "2024-02-03T25", "2024-02-03TT04", "T04:05", "", " ",
		"2024-02-03T04:05:06 +02:00",
	})
}
