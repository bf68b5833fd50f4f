package fn

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"

	"github.com/cockroachdb/datadriven"
)

var useNames = map[string]Use{"stream": StreamUse, "table": TableUse, "session": SessionUse}

// TestAggregateGolden runs the files of testdata/aggregate; -rewrite writes what
// comes out. The first line of a block is `USE NAME([DISTINCT] types; constants)
// [FILTER]`, then comes a line a step, whose result it prints. With FILTER the first
// value of a row is the condition.
//
//   - values    a row comes in
//   - values    a row is taken out
//     next        another group begins
//     merge       the group takes in the one before
//
// In sessions rows arrive in the order of the lines.
func TestAggregateGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/aggregate", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "call" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			out, err := goldenCall(d)
			if err != nil {
				return out + "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

// goldenCall runs a block; its first line is the call.
func goldenCall(d *datadriven.TestData) (string, error) {
	head, steps, _ := strings.Cut(d.Input, "\n")
	use, written, _ := strings.Cut(head, " ")
	written, filtered := strings.CutSuffix(written, " FILTER")
	name, arguments, _ := strings.Cut(strings.TrimSuffix(written, ")"), "(")
	arguments, distinct := strings.CutPrefix(arguments, "DISTINCT ")
	columns, constants, _ := strings.Cut(arguments, ";")
	var inputs []*types.Type
	for _, part := range splitTop(columns) {
		inputs = append(inputs, parseType(part))
	}
	var literals []any
	for _, part := range splitTop(constants) {
		literals = append(literals, parseLiteral(part))
	}
	call := aggregateUse{name: name, inputs: inputs, constants: literals, distinct: distinct}
	s, err := call.signature(useNames[use])
	if err != nil {
		return "", err
	}
	if filtered {
		s = s.Filtered()
	}
	out := s.Result.String() + "\n"
	run := goldenRun{signature: s, groups: []*group{groupOf(s)}}
	for step := range strings.Lines(steps) {
		result, err := run.step(strings.TrimSpace(step))
		if err != nil {
			return out, err
		}
		out += result + "\n"
	}
	return out, nil
}

type goldenRun struct {
	signature *AggregateSignature
	groups    []*group // the last one is at work
	arrival   int64
}

func (r *goldenRun) step(line string) (string, error) {
	g := r.groups[len(r.groups)-1]
	kind, values, _ := strings.Cut(line, " ")
	var err error
	switch kind {
	case "+":
		err = g.add(r.arguments(values), 0)
	case "-":
		err = g.remove(r.arguments(values), 0)
	case "next":
		g = groupOf(r.signature)
		r.groups = append(r.groups, g)
	case "merge":
		former := r.groups[len(r.groups)-2]
		r.groups = append(r.groups[:len(r.groups)-2], former)
		err = former.merge(g)
		g = former
	default:
		err = fmt.Errorf("unknown step %q", line)
	}
	return g.text(), err
}

func (r *goldenRun) arguments(text string) Arguments {
	var out Arguments
	for k, part := range splitTop(text) {
		v := column.New(r.signature.Inputs[k], 1)
		setText(v, 0, part)
		out = append(out, v)
	}
	if r.signature.Arrival {
		r.arrival++
		out = append(out, vector(types.Bigint, int(r.arrival)))
	}
	return out
}

// splitTop splits at the commas outside of brackets.
func splitTop(text string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range text {
		switch c {
		case '[', '{', '<', '(':
			depth++
		case ']', '}', '>', ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(text[start:]); last != "" {
		parts = append(parts, last)
	}
	return parts
}

func parseType(text string) *types.Type {
	for _, t := range []*types.Type{
		types.Boolean, types.Integer, types.Bigint, types.Double, types.DecimalOf(5, 2), types.String, types.Bytes,
		types.Date, types.Time, types.Timestamp, types.Null,
	} {
		if strings.ReplaceAll(t.String(), ", ", ",") == text {
			return t
		}
	}
	inner := splitTop(strings.TrimSuffix(text[strings.Index(text, "<")+1:], ">"))
	switch {
	case strings.HasPrefix(text, "ARRAY"):
		return types.ArrayOf(parseType(inner[0]))
	case strings.HasPrefix(text, "MAP"):
		return types.MapOf(parseType(inner[0]), parseType(inner[1]))
	}
	var fields []types.Field
	for _, field := range inner {
		name, t, _ := strings.Cut(field, " ")
		fields = append(fields, types.Field{Name: name, Type: parseType(t)})
	}
	return types.StructOf(fields...)
}

func parseLiteral(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	switch text {
	case "true", "false":
		return text == "true"
	case "NULL":
		return nil
	}
	return strings.Trim(text, "'")
}

// setText sets row i of v: 'text', [elements], {fields}, {key=value}, null.
func setText(v *column.Vector, i int, text string) {
	if text == "null" {
		return
	}
	inner := text
	if v.Type.Nested() {
		inner = text[1 : len(text)-1]
	}
	switch v.Type.Kind {
	case types.KindBoolean:
		v.SetBool(i, text == "true")
	case types.KindDouble:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(err)
		}
		v.SetDouble(i, f)
	case types.KindDecimal:
		d, err := types.ParseDecimal(text, v.Type)
		if err != nil {
			panic(err)
		}
		v.SetDecimal(i, d)
	case types.KindString, types.KindBytes:
		v.SetText(i, strings.Trim(text, "'"))
	case types.KindArray, types.KindMap:
		setElements(v, i, splitTop(inner))
	case types.KindStruct:
		v.Valid.Set(i)
		for k, part := range splitTop(inner) {
			setText(v.Children[k], i, part)
		}
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic(err)
		}
		v.SetInt(i, n)
	}
}

func setElements(v *column.Vector, i int, parts []string) {
	start := 0
	for k, child := range v.Children {
		start = child.Extend(len(parts))
		for n, part := range parts {
			setText(child, start+n, strings.Split(part, "=")[k])
		}
	}
	v.SetSpan(i, start, len(parts))
}
