package types

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// AppendDouble appends v as Java's Double.toString writes it: plain with at
// least one fraction digit from 0.001 up to 10 million, else as 1.0E10, and
// NaN, Infinity, -Infinity.
func AppendDouble(dst []byte, v float64) []byte {
	abs := math.Abs(v)
	switch {
	case v != v:
		return append(dst, "NaN"...)
	case abs > math.MaxFloat64:
		if v < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	case abs == 0 || abs >= 1e-3 && abs < 1e7:
		// A double of at most 15 decimal digits is printed as these digits,
		// since no two such decimals give the same double.
		if n := uint64(abs*1e4 + 0.5); float64(n)/1e4 == abs {
			if math.Signbit(v) {
				dst = append(dst, '-')
			}
			return appendTenThousandths(dst, n)
		}
		start := len(dst)
		dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
		for _, c := range dst[start:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, '.', '0')
	}
	return appendScientific(dst, v)
}

// appendTenThousandths appends n/10000 with one to four fraction digits.
func appendTenThousandths(dst []byte, n uint64) []byte {
	dst = append(strconv.AppendUint(dst, n/1e4, 10), '.')
	rest := n % 1e4
	dst = append(dst, byte('0'+rest/1000))
	for unit := uint64(1000); rest%unit != 0; {
		rest %= unit
		unit /= 10
		dst = append(dst, byte('0'+rest/unit))
	}
	return dst
}

// smallestNormal is the least double with all bits of precision.
const smallestNormal = 0x1p-1022

// appendScientific rewrites Go's 1.5e+10 or 1e-05 as Java's 1.5E10 or 1.0E-5.
// Java takes the nearest of the decimals with two digits where one would do,
// which differs for doubles of few bits only: 4.9E-324, not 5.0E-324.
func appendScientific(dst []byte, v float64) []byte {
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], v, 'e', -1, 64)
	if math.Abs(v) < smallestNormal && !bytes.ContainsRune(text, '.') {
		text = strconv.AppendFloat(buf[:0], v, 'e', 1, 64)
	}
	point := false
	for i, c := range text {
		switch c {
		case '.':
			point = true
		case 'e':
			if !point {
				dst = append(dst, '.', '0')
			}
			exponent, _ := strconv.Atoi(string(text[i+1:]))
			return strconv.AppendInt(append(dst, 'E'), int64(exponent), 10)
		}
		dst = append(dst, c)
	}
	return dst
}

const millisPerDay = 24 * 60 * 60 * 1000

// AppendDate appends a DATE, days since 1970-01-01, as yyyy-MM-dd.
func AppendDate(dst []byte, days int64) []byte {
	return time.Unix(days*86400, 0).UTC().AppendFormat(dst, "2006-01-02")
}

// AppendTime appends a TIME, milliseconds of the day, as HH:mm or HH:mm:ss:
// without milliseconds, and without seconds when these are 0.
func AppendTime(dst []byte, millis int64) []byte {
	seconds := millis / 1000
	layout := "15:04:05"
	if seconds%60 == 0 {
		layout = "15:04"
	}
	return time.Unix(seconds, 0).UTC().AppendFormat(dst, layout)
}

// AppendTimestamp appends a TIMESTAMP, milliseconds since 1970 in UTC, as
// yyyy-MM-ddTHH:mm:ss.SSS.
func AppendTimestamp(dst []byte, millis int64) []byte {
	return time.UnixMilli(millis).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000")
}

// FloorDay splits a TIMESTAMP into its DATE and TIME; also before 1970 the
// TIME counts forward from midnight.
func FloorDay(millis int64) (days, millisOfDay int64) {
	days, rest := millis/millisPerDay, millis%millisPerDay
	if rest < 0 {
		days, rest = days-1, rest+millisPerDay
	}
	return days, rest
}
