package fuzz

import (
	"fmt"
	"strings"

	"millrace/exec/fn"
	"millrace/sql/types"
)

// variable is a name that an expression may use.
type variable struct {
	text string
	t    *types.Type
}

// expressions writes expressions over the columns in scope.
type expressions struct {
	*choices
	scope []variable
}

var scalarTypes = []string{
	"STRING", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN", "DECIMAL(9, 2)", "TIMESTAMP", "DATE", "TIME", "BYTES",
	"ARRAY<INTEGER>", "MAP<STRING, BIGINT>", "STRUCT<`X` INTEGER, `Y` STRING>", "ARRAY<STRING>", "DECIMAL(38, 10)",
}

func (e *expressions) typeName() string { return scalarTypes[e.n(len(scalarTypes))] }

// anything is an expression of any type, maybe one that does not bind.
func (e *expressions) anything(depth int) string {
	if len(e.scope) > 0 && (depth == 0 || e.n(3) == 0) {
		return e.scope[e.n(len(e.scope))].text
	}
	return e.of(e.typeName(), depth)
}

// of is an expression that is mostly of a type.
func (e *expressions) of(name string, depth int) string {
	if e.chance(40) {
		return e.anything(max(depth-1, 0))
	}
	var fitting []string
	for _, v := range e.scope {
		if v.t.String() == name {
			fitting = append(fitting, v.text)
		}
	}
	switch {
	case depth == 0 && len(fitting) > 0 && e.n(4) < 3:
		return e.pick(fitting...)
	case depth == 0:
		return e.literal(name)
	}
	switch e.n(5) {
	case 0:
		if len(fitting) > 0 {
			return e.pick(fitting...)
		}
		return e.literal(name)
	case 1:
		from := e.pick("STRING", "STRING", "BIGINT", "DOUBLE", e.typeName())
		return fmt.Sprintf("CAST(%s AS %s)", e.of(from, depth-1), name)
	case 2:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", e.of("BOOLEAN", depth-1), e.of(name, depth-1), e.of(name, depth-1))
	case 3:
		if call, ok := e.call(name, depth-1); ok {
			return call
		}
	}
	return e.operator(name, depth-1)
}

func (e *expressions) operator(name string, depth int) string {
	switch name {
	case "BOOLEAN":
		return e.condition(depth)
	case "INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9, 2)", "DECIMAL(38, 10)":
		return fmt.Sprintf("(%s %s %s)", e.of(name, depth), e.pick("+", "-", "*", "/", "%"), e.of(name, depth))
	case "STRING":
		return fmt.Sprintf("(%s %s %s)", e.of(name, depth), e.pick("||", "+"), e.of(name, depth))
	case "TIMESTAMP":
		return fmt.Sprintf("((%s) AT TIME ZONE %s)", e.of(name, depth), e.pick("'Europe/Berlin'", "'+02'", "("+e.of("STRING", depth)+")"))
	}
	return e.literal(name)
}

func (e *expressions) condition(depth int) string {
	t := e.typeName()
	switch e.n(8) {
	case 1:
		return fmt.Sprintf("(%s %s %s)", e.condition(max(depth-1, 0)), e.pick("AND", "OR"), e.of("BOOLEAN", depth))
	case 2:
		return "NOT " + e.of("BOOLEAN", depth)
	case 3:
		return fmt.Sprintf("(%s IS %sNULL)", e.anything(depth), e.pick("", "NOT "))
	case 4:
		return fmt.Sprintf("(%s %sIN (%s, %s, NULL))", e.of(t, depth), e.pick("", "NOT "), e.literal(t), e.of(t, 0))
	case 5:
		return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", e.of(t, depth), e.pick("", "NOT "), e.of(t, 0), e.of(t, 0))
	case 6:
		return fmt.Sprintf("(%s LIKE %s)", e.of("STRING", depth), e.pick("'%a_'", "'%'", "'a!%' ESCAPE '!'", "''"))
	}
	return fmt.Sprintf("(%s %s %s)", e.of(t, depth), e.pick("=", "<>", "<", ">=", "IS DISTINCT FROM"), e.of(t, depth))
}

var literals = map[string][]string{
	"STRING":          {"'a'", "''", "'é''😀'", "'2020-01-02'", "'12'", "'yyyy-MM-dd'", "'$.a'", "'UTC'", "NULL"},
	"BIGINT":          {"1", "9223372036854775807", "0", "-1", "3000000000"},
	"INTEGER":         {"1", "0", "-1", "2147483647", "7"},
	"DOUBLE":          {"1e0", "0e0", "1.5e300", "-2.5e-3"},
	"BOOLEAN":         {"TRUE", "FALSE"},
	"DECIMAL(9, 2)":   {"1.50", "0.01", "1234567.89"},
	"DECIMAL(38, 10)": {"1.0000000001", "9999999999999999999999999999.9999999999"},
	"TIMESTAMP":       {"CAST('2020-01-02T03:04:05' AS TIMESTAMP)", "FROM_UNIXTIME(0)", "FROM_UNIXTIME(-1)", "FROM_UNIXTIME(9223372036854775807)"},
	"DATE":            {"CAST('2020-01-02' AS DATE)", "FROM_DAYS(-1)", "FROM_DAYS(2147483647)"},
	"TIME":            {"CAST('03:04:05' AS TIME)", "CAST('23:59:59.999' AS TIME)"},
	"BYTES":           {"CAST('AAEC' AS BYTES)", "TO_BYTES('a', 'utf8')"},
}

func (e *expressions) literal(name string) string {
	if list, ok := literals[name]; ok {
		return e.pick(list...)
	}
	switch name {
	case "ARRAY<INTEGER>":
		return e.pick("ARRAY[1, 2, NULL]", "ARRAY[0]", "GENERATE_SERIES(1, 5)")
	case "ARRAY<STRING>":
		return e.pick("ARRAY['a', 'b', NULL]", "SPLIT('a,b', ',')")
	case "MAP<STRING, BIGINT>":
		return e.pick("MAP('a' := CAST(1 AS BIGINT))", "MAP('a' := CAST(NULL AS BIGINT), 'b' := CAST(2 AS BIGINT))")
	case "STRUCT<`X` INTEGER, `Y` STRING>":
		return e.pick("STRUCT(X := 1, Y := 'a')", "STRUCT(X := CAST(NULL AS INTEGER), Y := '')")
	}
	return "NULL"
}

// functionsByResult are the signatures of scalar functions that give the same
// each time, by their result.
var functionsByResult = func() map[string][][2]string {
	found := map[string][][2]string{}
	for _, f := range fn.Functions() {
		for _, o := range f.Overloads {
			if f.Table || f.Volatile {
				continue
			}
			end := strings.LastIndexByte(o.Signature, ')')
			result := strings.TrimSpace(o.Signature[end+1:])
			found[result] = append(found[result], [2]string{f.Name, o.Signature[1:end]})
		}
	}
	return found
}()

// call is a function call with a result of a type.
func (e *expressions) call(name string, depth int) (string, bool) {
	result := name
	if strings.HasPrefix(name, "DECIMAL") {
		result = "DECIMAL"
	}
	list := functionsByResult[result]
	if len(list) == 0 || e.chance(5) {
		list = functionsByResult["T"]
	}
	if len(list) == 0 {
		return "", false
	}
	f := list[e.n(len(list))]
	return f[0] + "(" + strings.Join(e.arguments(f[1], name, depth), ", ") + ")", true
}

// arguments follow the parameters of a signature; type variables become name.
func (e *expressions) arguments(parameters, name string, depth int) []string {
	var out []string
	for _, p := range splitParameters(parameters) {
		p, variadic := strings.CutSuffix(p, "...")
		count := 1
		if variadic {
			count = e.n(4)
		}
		for range count {
			out = append(out, e.argument(p, name, depth))
		}
	}
	return out
}

func (e *expressions) argument(p, name string, depth int) string {
	left, _, lambda := strings.Cut(p, " => ")
	switch {
	case lambda:
		names := strings.Split(strings.Trim(left, "()"), ", ")
		for i := range names {
			names[i] = fmt.Sprintf("P%d", i)
		}
		return fmt.Sprintf("(%s) => %s", strings.Join(names, ", "), e.pick(append(names, e.of(name, depth), names[0]+" IS NULL")...))
	case len(p) == 1:
		return e.of(name, depth)
	case p == "DECIMAL":
		return e.of("DECIMAL(9, 2)", depth)
	case strings.HasPrefix(p, "ARRAY<"):
		return e.of(e.pick("ARRAY<INTEGER>", "ARRAY<STRING>"), depth)
	case strings.HasPrefix(p, "MAP<"):
		return e.of("MAP<STRING, BIGINT>", depth)
	}
	return e.of(p, depth)
}

// splitParameters splits at the commas outside brackets.
func splitParameters(text string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(' || c == '<':
			depth++
		case c == ')' || c == '>' && text[i-1] != '=':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	if last := strings.TrimSpace(text[start:]); last != "" {
		out = append(out, last)
	}
	return out
}
