package format

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"

	"millrace/exec/column"
	"millrace/sql/types"
)

// TestGolden runs the files of testdata. A file declares columns with
// "fields", one "NAME TYPE" a line, then reads payloads with "decode", writes
// rows (given as JSON) with "encode", and asks "check" whether a format takes
// the columns. Arguments: format, delimiter, bare, key, and unwanted with the
// names of columns that no one reads. A payload that starts with go: is a Go
// string literal, one with hex: is hexadecimal.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var fields []Field
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "fields":
				fields = parseFields(t, d.Input)
				return "ok"
			case "decode":
				return goldenDecode(t, d, fields)
			case "encode":
				return goldenEncode(t, d, fields)
			case "check":
				return goldenCheck(t, d, fields)
			}
			t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
			return ""
		})
	})
}

func goldenSpec(t *testing.T, d *datadriven.TestData) (Format, Spec) {
	var spec Spec
	d.ScanArgs(t, "format", &spec.Name)
	if d.HasArg("delimiter") {
		d.ScanArgs(t, "delimiter", &spec.Delimiter)
	}
	spec.Unwrapped = d.HasArg("bare")
	f, ok := Lookup(spec.Name)
	if !ok {
		t.Fatalf("%s: no format %s", d.Pos, spec.Name)
	}
	return f, spec
}

func goldenDecode(t *testing.T, d *datadriven.TestData, fields []Field) string {
	f, spec := goldenSpec(t, d)
	wanted := make([]bool, len(fields))
	for i := range wanted {
		wanted[i] = true
	}
	if arg, ok := d.Arg("unwanted"); ok {
		for i, field := range fields {
			for _, name := range arg.Vals {
				wanted[i] = wanted[i] && field.Name != name
			}
		}
	}
	var payloads [][]byte
	for line := range strings.SplitSeq(d.Input, "\n") {
		payloads = append(payloads, parsePayload(t, line))
	}
	out := vectorsOf(fields, wanted, len(payloads))
	failed := make([]error, len(payloads))
	f.NewDecoder(spec, fields, wanted).Decode(payloads, allRows(len(payloads)), out, &column.Arena{},
		func(row int32, err error) { failed[row] = err })
	var lines strings.Builder
	for i := range payloads {
		if failed[i] != nil {
			fmt.Fprintf(&lines, "error: %v\n", failed[i])
			continue
		}
		lines.WriteString(rowText(out, i) + "\n")
	}
	return lines.String()
}

func goldenEncode(t *testing.T, d *datadriven.TestData, fields []Field) string {
	f, spec := goldenSpec(t, d)
	var payloads [][]byte
	for line := range strings.SplitSeq(d.Input, "\n") {
		payloads = append(payloads, []byte(line))
	}
	rows := vectorsOf(fields, nil, len(payloads))
	jsonFormat{}.NewDecoder(Spec{Name: "JSON"}, fields, nil).Decode(payloads, allRows(len(payloads)), rows,
		&column.Arena{}, func(row int32, err error) { t.Fatalf("%s: row %d: %v", d.Pos, row, err) })
	encoder := f.NewEncoder(spec, fields)
	var lines strings.Builder
	for i := range payloads {
		payload, null, err := encoder.Append(nil, rows, i)
		switch {
		case err != nil:
			fmt.Fprintf(&lines, "error: %v\n", err)
		case null:
			lines.WriteString("null payload\n")
		default:
			lines.WriteString(payloadText(payload) + "\n")
		}
	}
	return lines.String()
}

func goldenCheck(t *testing.T, d *datadriven.TestData, fields []Field) string {
	f, spec := goldenSpec(t, d)
	err := f.Check(spec, d.HasArg("key"), fields)
	if err == nil {
		return "ok"
	}
	refusal, ok := err.(*types.Error)
	if !ok {
		t.Fatalf("%s: %T is no *types.Error", d.Pos, err)
	}
	return fmt.Sprintf("%s: %v", refusal.Code, refusal)
}

func parsePayload(t *testing.T, line string) []byte {
	if text, ok := strings.CutPrefix(line, "go:"); ok {
		payload, err := strconv.Unquote(text)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return []byte(payload)
	}
	if text, ok := strings.CutPrefix(line, "hex:"); ok {
		payload, err := hex.DecodeString(text)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return payload
	}
	return []byte(line)
}

func payloadText(payload []byte) string {
	text := string(payload)
	if !utf8.Valid(payload) {
		return "hex:" + hex.EncodeToString(payload)
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "go:" + strconv.Quote(text)
	}
	return text
}

func rowText(columns []*column.Vector, i int) string {
	var parts []string
	for _, v := range columns {
		if v == nil {
			parts = append(parts, "-")
			continue
		}
		parts = append(parts, valueText(v, i))
	}
	return strings.Join(parts, " | ")
}

func valueText(v *column.Vector, i int) string {
	if v.Null(i) {
		return "null"
	}
	var parts []string
	switch v.Type.Kind {
	case types.KindString:
		return strconv.Quote(v.Texts[i])
	case types.KindBytes:
		return fmt.Sprintf("x'%x'", v.Texts[i])
	case types.KindStruct:
		for k, child := range v.Children {
			parts = append(parts, v.Type.Fields[k].Name+"="+valueText(child, i))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case types.KindArray, types.KindMap:
		for n := v.Spans[i].Start; n < v.Spans[i].Start+v.Spans[i].Len; n++ {
			part := valueText(v.Children[0], int(n))
			if v.Type.Kind == types.KindMap {
				part += ": " + valueText(v.Children[1], int(n))
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(appendText(nil, v, i))
}

// parseFields reads a "NAME TYPE" a line.
func parseFields(t *testing.T, text string) []Field {
	var fields []Field
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line == "" {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		kind, rest := parseType(t, rest)
		if rest != "" {
			t.Fatalf("%q is left of %q", rest, line)
		}
		fields = append(fields, Field{name, kind})
	}
	return fields
}

var plainTypes = []*types.Type{
	types.Boolean, types.Integer, types.Bigint, types.Double, types.String, types.Bytes,
	types.Date, types.Timestamp, types.Time,
}

// parseType reads a type as Type.String writes it, but for blanks and quotes.
func parseType(t *testing.T, text string) (*types.Type, string) {
	for _, plain := range plainTypes {
		if rest, ok := strings.CutPrefix(text, plain.Kind.String()); ok {
			return plain, rest
		}
	}
	if rest, ok := strings.CutPrefix(text, "DECIMAL("); ok {
		var precision, scale int
		if _, err := fmt.Sscanf(rest, "%d,%d)", &precision, &scale); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		_, rest, _ = strings.Cut(rest, ")")
		return types.DecimalOf(precision, scale), rest
	}
	if rest, ok := strings.CutPrefix(text, "ARRAY<"); ok {
		elem, rest := parseType(t, rest)
		return types.ArrayOf(elem), rest[1:]
	}
	if rest, ok := strings.CutPrefix(text, "MAP<"); ok {
		key, rest := parseType(t, rest)
		elem, rest := parseType(t, rest[1:])
		return types.MapOf(key, elem), rest[1:]
	}
	rest, ok := strings.CutPrefix(text, "STRUCT<")
	if !ok {
		t.Fatalf("%q is no type", text)
	}
	var fields []types.Field
	for {
		var field types.Field
		field.Name, rest, _ = strings.Cut(rest, " ")
		field.Type, rest = parseType(t, rest)
		fields = append(fields, field)
		if rest[0] == '>' {
			return types.StructOf(fields...), rest[1:]
		}
		rest = rest[1:]
	}
}
