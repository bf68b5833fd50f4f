package format

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

// delimitedFormat is a line of fields as Apache Commons CSV 1.4 reads and
// writes it: double quotes around a field, doubled inside, no trimming.
type delimitedFormat struct{}

// parseDelimiter turns the text of a delimiter property into the delimiter:
// one character other than white space, a quote or a line break, or the name
// TAB or SPACE. The error is a *types.Error.
func parseDelimiter(text string) (string, error) {
	switch strings.ToUpper(text) {
	case "TAB":
		return "\t", nil
	case "SPACE":
		return " ", nil
	}
	if utf8.RuneCountInString(text) != 1 || strings.TrimSpace(text) == "" || text == `"` || !utf8.ValidString(text) {
		return "", types.Errorf(types.CodeProperty, "%q is no delimiter", clip(text)).
			WithHint("give one character, such as ';', or 'TAB' or 'SPACE'")
	}
	return text, nil
}

// delimiterOf is the delimiter of a spec, by its name or as it is.
func delimiterOf(spec Spec) (string, error) {
	switch spec.Delimiter {
	case "":
		return ",", nil
	case "\t", " ":
		return spec.Delimiter, nil
	}
	return parseDelimiter(spec.Delimiter)
}

func (delimitedFormat) Check(spec Spec, key bool, fields []Field) error {
	for _, field := range fields {
		if field.Type.Nested() {
			return unsupportedType(spec, key, field, field.Type)
		}
	}
	_, err := delimiterOf(spec)
	return err
}

func (delimitedFormat) Wraps() bool { return false }

func (delimitedFormat) NewDecoder(spec Spec, fields []Field, _ []bool) Decoder {
	delimiter, err := delimiterOf(spec)
	if err != nil {
		delimiter = ","
	}
	return &delimitedDecoder{delimiter: delimiter, fields: fields, texts: make([]string, len(fields))}
}

func (delimitedFormat) NewEncoder(spec Spec, fields []Field) Encoder {
	delimiter, err := delimiterOf(spec)
	if err != nil {
		delimiter = ","
	}
	return &delimitedEncoder{delimiter: delimiter}
}

type delimitedDecoder struct {
	delimiter string
	fields    []Field
	texts     []string // of the line in hand
	arena     *column.Arena
}

func (d *delimitedDecoder) Decode(
	payloads [][]byte, rows []int32, out []*column.Vector, arena *column.Arena, bad func(int32, error),
) {
	d.arena = arena
	for _, row := range rows {
		if err := d.decodeLine(column.View(payloads[row]), out, int(row)); err != nil {
			bad(row, err)
		}
	}
}

func (d *delimitedDecoder) decodeLine(line string, out []*column.Vector, row int) error {
	if !utf8.ValidString(line) {
		return &RecordError{Reason: "the line is not valid UTF-8"}
	}
	count, reason := d.split(line)
	if reason != "" {
		return &RecordError{Reason: reason}
	}
	if count != len(d.fields) {
		return &RecordError{Reason: fmt.Sprintf("the line has %d fields, but %d columns are declared", count, len(d.fields))}
	}
	for c, v := range out {
		if v == nil {
			continue
		}
		text := d.texts[c]
		if text == "" {
			v.SetNull(row)
			continue
		}
		if reason := setFromText(v, row, text, d.arena); reason != "" {
			return &RecordError{Path: d.fields[c].Name, Reason: reason}
		}
	}
	return nil
}

// split puts the first fields of the line into d.texts and counts them all.
// Empty lines before and after are skipped. A second line is refused: its
// values would be lost.
func (d *delimitedDecoder) split(line string) (count int, reason string) {
	i := skipLineBreaks(line, 0)
	if i == len(line) {
		return 0, "the line is empty"
	}
	for {
		var text string
		if i < len(line) && line[i] == '"' {
			if text, i, reason = d.quotedField(line, i+1); reason != "" {
				return 0, reason
			}
		} else {
			start := i
			for i < len(line) && line[i] != '\n' && line[i] != '\r' && !d.delimits(line, i) {
				i++
			}
			text = line[start:i]
		}
		if count < len(d.texts) {
			d.texts[count] = text
		}
		count++
		if i == len(line) {
			return count, ""
		}
		if !d.delimits(line, i) {
			break
		}
		i += len(d.delimiter)
	}
	if skipLineBreaks(line, i) < len(line) {
		return 0, "there is more than one line"
	}
	return count, ""
}

func skipLineBreaks(line string, i int) int {
	for i < len(line) && (line[i] == '\n' || line[i] == '\r') {
		i++
	}
	return i
}

func (d *delimitedDecoder) delimits(line string, i int) bool {
	return line[i] == d.delimiter[0] && strings.HasPrefix(line[i:], d.delimiter)
}

// quotedField reads a field whose opening quote is at i-1, and the white space
// behind its closing quote.
func (d *delimitedDecoder) quotedField(line string, i int) (text string, next int, reason string) {
	start, doubled := i, false
	for {
		end := strings.IndexByte(line[i:], '"')
		if end < 0 {
			return "", 0, "a quote is not closed"
		}
		i += end + 1
		if i == len(line) || line[i] != '"' {
			break
		}
		doubled = true
		i++
	}
	text = line[start : i-1]
	if doubled {
		text = d.arena.Keep(append(d.arena.Tail(len(text)), strings.ReplaceAll(text, `""`, `"`)...))
	}
	for i < len(line) && line[i] != '\n' && line[i] != '\r' && !d.delimits(line, i) {
		if !strings.ContainsRune(" \t\v\f\x1c\x1d\x1e\x1f", rune(line[i])) {
			return "", 0, "a closing quote is not followed by the delimiter"
		}
		i++
	}
	return text, i, ""
}

type delimitedEncoder struct{ delimiter string }

func (e *delimitedEncoder) Append(dst []byte, columns []*column.Vector, i int) ([]byte, bool, error) {
	if len(columns) == 0 || len(columns) == 1 && columns[0].Null(i) {
		return dst, true, nil
	}
	for c, v := range columns {
		if c > 0 {
			dst = append(dst, e.delimiter...)
		}
		if v.Null(i) {
			continue
		}
		start := len(dst)
		dst = appendText(dst, v, i)
		switch v.Type.Kind {
		case types.KindBoolean, types.KindInteger, types.KindBigint, types.KindDouble:
			dst = e.quote(dst, start, false)
		default:
			dst = e.quote(dst, start, c == 0)
		}
	}
	return dst, false, nil
}

// quote puts the field dst[start:] into quotes if the rules of the reader
// need it. first says that it starts the line.
func (e *delimitedEncoder) quote(dst []byte, start int, first bool) []byte {
	text := column.View(dst[start:])
	if !e.needsQuotes(text, first) {
		return dst
	}
	quotes := strings.Count(text, `"`)
	end := len(dst)
	for range quotes + 2 {
		dst = append(dst, '"')
	}
	to := len(dst) - 1
	for from := end - 1; from >= start; from-- {
		to--
		dst[to] = dst[from]
		if dst[from] == '"' {
			to--
			dst[to] = '"'
		}
	}
	dst[start], dst[len(dst)-1] = '"', '"'
	return dst
}

func (e *delimitedEncoder) needsQuotes(text string, first bool) bool {
	if text == "" {
		return first
	}
	c := text[0]
	if c <= '#' || first && !alphanumeric(c) || text[len(text)-1] <= ' ' {
		return true
	}
	return strings.ContainsAny(text, "\n\r\"") || strings.Contains(text, e.delimiter)
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
