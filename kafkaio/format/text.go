package format

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

const (
	maxMillisOfDay = 24*60*60*1000 - 1
	// maxDay keeps the milliseconds of a DATE's midnight within 64 bits.
	maxDay = math.MaxInt64 / (24 * 60 * 60 * 1000)
)

// wholeRange is the range of the values of a kind that is held in Ints.
func wholeRange(kind types.Kind) (low, high int64) {
	switch kind {
	case types.KindInteger:
		return math.MinInt32, math.MaxInt32
	case types.KindDate:
		return -maxDay, maxDay
	case types.KindTime:
		return 0, maxMillisOfDay
	}
	return math.MinInt64, math.MaxInt64
}

// setFromText sets row i of v, whose type is not nested, from the text form of
// a value, or says why it cannot. Numbers take no blanks around them.
func setFromText(v *column.Vector, i int, text string, arena *column.Arena) string {
	switch v.Type.Kind {
	case types.KindString:
		v.SetText(i, text)
	case types.KindBytes:
		return setBase64(v, i, text, arena)
	case types.KindBoolean:
		switch {
		case strings.EqualFold(text, "true"):
			v.SetBool(i, true)
		case strings.EqualFold(text, "false"):
			v.SetBool(i, false)
		default:
			return noValue(strconv.Quote(clip(text)), v.Type)
		}
	case types.KindDouble:
		value, reason := parseDouble(text)
		if reason != "" {
			return reason
		}
		v.SetDouble(i, value)
	case types.KindDecimal:
		return setDecimal(v, i, text)
	default:
		return setWhole(v, i, text)
	}
	return ""
}

func setWhole(v *column.Vector, i int, text string) string {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return noValue(strconv.Quote(clip(text)), v.Type)
	}
	if low, high := wholeRange(v.Type.Kind); err != nil || value < low || value > high {
		return outOfRange(text, v.Type)
	}
	v.SetInt(i, value)
	return ""
}

func setDecimal(v *column.Vector, i int, text string) string {
	value, err := types.ParseDecimal(text, v.Type)
	switch {
	case errors.Is(err, types.ErrDecimalSyntax):
		return noValue(strconv.Quote(clip(text)), v.Type)
	case errors.Is(err, types.ErrDecimalRounding):
		return fmt.Sprintf("%s has more than the %d fraction digits of %s", clip(text), v.Type.Scale, v.Type)
	case err != nil:
		return outOfRange(text, v.Type)
	}
	v.SetDecimal(i, value)
	return ""
}

func setBase64(v *column.Vector, i int, text string, arena *column.Arena) string {
	buf := arena.Alloc(base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(buf, column.Bytes(text))
	if err != nil {
		return fmt.Sprintf("%s is no base64 text", strconv.Quote(clip(text)))
	}
	v.SetText(i, column.View(buf[:n]))
	return ""
}

// parseDouble reads a decimal number or one of the names that Java prints.
func parseDouble(text string) (value float64, reason string) {
	switch text {
	case "NaN":
		return math.NaN(), ""
	case "Infinity", "+Infinity":
		return math.Inf(1), ""
	case "-Infinity":
		return math.Inf(-1), ""
	}
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, noValue(strconv.Quote(clip(text)), types.Double)
	}
	value, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, outOfRange(text, types.Double)
	}
	if err != nil {
		return 0, noValue(strconv.Quote(clip(text)), types.Double)
	}
	return value, ""
}

// noValue says that something is no value of a type, and what is one where the
// type's name alone would mislead.
func noValue(shown string, t *types.Type) string {
	text := shown + " is no " + t.String()
	switch t.Kind {
	case types.KindDate:
		text += ", which is a number of days since 1970-01-01"
	case types.KindTime:
		text += ", which is a number of ms since midnight"
	case types.KindTimestamp:
		text += ", which is a number of ms since 1970-01-01"
	}
	return text
}

func outOfRange(text string, t *types.Type) string {
	return clip(text) + " is out of the range of " + t.String()
}

// clip shortens a payload's text for a message; it may cut a character, which
// the quoting of messages shows.
func clip(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return text[:most] + ".."
}

// appendText appends the text form of row i of v, which is not null and not
// nested: what setFromText reads.
func appendText(dst []byte, v *column.Vector, i int) []byte {
	switch v.Type.Kind {
	case types.KindBoolean:
		return strconv.AppendBool(dst, v.Bools[i])
	case types.KindDouble:
		return types.AppendDouble(dst, v.Doubles[i])
	case types.KindDecimal:
		return v.Decimals[i].Append(dst, v.Type.Scale)
	case types.KindString:
		return append(dst, v.Texts[i]...)
	case types.KindBytes:
		return base64.StdEncoding.AppendEncode(dst, column.Bytes(v.Texts[i]))
	}
	return strconv.AppendInt(dst, v.Ints[i], 10)
}
