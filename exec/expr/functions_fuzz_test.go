package expr

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/exec/fn"
	"millrace/sql/types"
)

// functionColumns has a column of each type that signatures name.
var functionColumns = map[string]*Column{
	"P": NewColumn(0, "P", types.Boolean),
	"I": NewColumn(1, "I", types.Integer),
	"B": NewColumn(2, "B", types.Bigint),
	"D": NewColumn(3, "D", types.Double),
	"N": NewColumn(4, "N", types.DecimalOf(38, 10)),
	"S": NewColumn(5, "S", types.String),
	"Y": NewColumn(6, "Y", types.Bytes),
	"E": NewColumn(7, "E", types.Date),
	"T": NewColumn(8, "T", types.Time),
	"M": NewColumn(9, "M", types.Timestamp),
	"A": NewColumn(10, "A", types.ArrayOf(types.Bigint)),
	"L": NewColumn(11, "L", types.ArrayOf(types.String)),
	"K": NewColumn(12, "K", types.MapOf(types.String, types.Bigint)),
	"R": NewColumn(13, "R", types.StructOf(types.Field{Name: "F", Type: types.Integer}, types.Field{Name: "G", Type: types.String})),
}

// extremeTexts are texts that functions have to read as something.
var extremeTexts = []string{
	"", " ", "a", "ab,c", "\x00", "\xff\xfe", "é😀", strings.Repeat("x", 300), "0", "-1", "1e309", "NaN", "2020-01-02", "-99999-12-31",
	"+999999999-01-01T00:00:00.000", "yyyy-MM-dd", "[[[", "'", "(a+)+$", "(?i)a|b", "[", "\\", "$1", "{}", "[]", `{"a":[1,{"b":null}]}`,
	"$.a[0].b", "$", "$..", `"`, "null", "http://u:p@h:1/p?q=1&q#f", "http://[::1", "%zz", "UTC", "Nowhere/City", "+25:00", "hex", "base64",
	"BIG_ENDIAN", "DESC", "MILLISECONDS", "DECADES", "utf8", "KM", "\\u0041", "=;", "&#x41;",
}

var extremeIntegers = []int64{0, 1, -1, 2, 7, 63, 64, 1000, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 1577923200000}

var extremeDoubles = []float64{
	0, math.Copysign(0, -1), 1, -1.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 9.3e18, -1e300,
}

// setExtreme sets a row to a value at the edges of its type, or to null.
func setExtreme(r *rand.Rand, v *column.Vector, i int) {
	if r.IntN(6) == 0 {
		v.SetNull(i)
		return
	}
	number := extremeIntegers[r.IntN(len(extremeIntegers))]
	switch v.Type.Kind {
	case types.KindBoolean:
		v.SetBool(i, r.IntN(2) == 0)
	case types.KindInteger, types.KindDate:
		v.SetInt(i, int64(int32(number)))
	case types.KindTime:
		v.SetInt(i, int64(uint64(number)%86_400_000))
	case types.KindBigint, types.KindTimestamp:
		v.SetInt(i, number)
	case types.KindDouble:
		v.SetDouble(i, extremeDoubles[r.IntN(len(extremeDoubles))])
	case types.KindDecimal:
		v.SetDecimal(i, types.DecimalFromInt(number))
	case types.KindString, types.KindBytes:
		v.SetText(i, extremeTexts[r.IntN(len(extremeTexts))])
	default:
		setExtremeNested(r, v, i)
	}
}

func setExtremeNested(r *rand.Rand, v *column.Vector, i int) {
	v.Valid.Set(i)
	if v.Type.Kind == types.KindStruct {
		for _, child := range v.Children {
			setExtreme(r, child, i)
		}
		return
	}
	n, first := r.IntN(5), 0
	for _, child := range v.Children {
		first = child.Extend(n)
		for k := range n {
			setExtreme(r, child, first+k)
		}
	}
	if v.Type.Kind == types.KindMap {
		for k := range n { // keys are different and not null
			v.Children[0].SetText(first+k, strings.Repeat("k", k))
		}
	}
	v.SetSpan(i, first, n)
}

func extremeBatch(r *rand.Rand, n int) *column.Batch {
	b := &column.Batch{Len: n, Arena: new(column.Arena), Columns: make([]*column.Vector, len(functionColumns))}
	for _, c := range functionColumns {
		v := column.New(c.T, n)
		for i := range n {
			setExtreme(r, v, i)
		}
		b.Columns[c.Index] = v
	}
	return b
}

// callGenerator writes calls of functions with arguments that mostly fit.
type callGenerator struct{ r *rand.Rand }

func (g *callGenerator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *callGenerator) call(f *fn.Function) string {
	parameters, variadic := signatureParameters(f.Overloads[g.r.IntN(len(f.Overloads))].Signature)
	if variadic {
		last := parameters[len(parameters)-1]
		parameters = parameters[:len(parameters)-1]
		for range g.r.IntN(4) {
			parameters = append(parameters, last)
		}
	}
	variables := map[string]string{}
	arguments := make([]string, len(parameters))
	for i, p := range parameters {
		arguments[i] = g.argument(p, variables)
	}
	return f.Name + "(" + strings.Join(arguments, ", ") + ")"
}

// signatureParameters splits the parameters of a signature.
func signatureParameters(signature string) (parameters []string, variadic bool) {
	depth, start := 0, 1
	for i := range len(signature) {
		switch c := signature[i]; {
		case c == '(' || c == '<':
			depth++
		case c == ')' || c == '>' && signature[i-1] != '=':
			depth--
		}
		if depth == 0 || depth == 1 && signature[i] == ',' {
			if text := strings.TrimSpace(signature[start:i]); text != "" {
				parameters = append(parameters, text)
			}
			start = i + 1
		}
		if depth == 0 {
			break
		}
	}
	if n := len(parameters); n > 0 {
		parameters[n-1], variadic = strings.CutSuffix(parameters[n-1], "...")
	}
	return parameters, variadic
}

// texts of arguments by the type of the parameter.
var argumentTexts = map[string][]string{
	"BOOLEAN":   {"P", "TRUE", "FALSE"},
	"INTEGER":   {"I", "0", "1", "-1", "3", "2147483647"},
	"BIGINT":    {"B", "I", "9223372036854775807"},
	"DOUBLE":    {"D", "I", "N", "1e308", "0.5"},
	"DECIMAL":   {"N", "1.50", "CAST(I AS DECIMAL(38,0))"},
	"STRING":    {"S", "'a'", "''", "'yyyy-MM-dd'", "'UTC'", "'$.a'", "'utf8'", "'(a'", "'hex'", "'DAYS'"},
	"BYTES":     {"Y", "CAST('AAAB' AS BYTES)"},
	"DATE":      {"E"},
	"TIME":      {"T"},
	"TIMESTAMP": {"M"},
}

func (g *callGenerator) argument(pattern string, variables map[string]string) string {
	if g.r.IntN(25) == 0 {
		return "NULL"
	}
	if left, right, lambda := cutLambda(pattern); lambda {
		return g.lambda(left, right, variables)
	}
	switch {
	case len(pattern) == 1:
		if variables[pattern] == "" {
			variables[pattern] = g.pick("INTEGER", "BIGINT", "STRING", "DOUBLE", "DECIMAL", "DATE", "TIMESTAMP", "BOOLEAN", "BYTES")
		}
		return g.argument(variables[pattern], variables)
	case strings.HasPrefix(pattern, "ARRAY<"):
		return g.array(pattern[len("ARRAY<"):len(pattern)-1], variables)
	case strings.HasPrefix(pattern, "MAP<"):
		key, value, _ := strings.Cut(pattern[len("MAP<"):len(pattern)-1], ", ")
		if len(key) == 1 {
			variables[key] = "STRING"
		}
		if value == "BIGINT" || len(value) == 1 && (variables[value] == "" || variables[value] == "BIGINT") && g.r.IntN(2) == 0 {
			if len(value) == 1 {
				variables[value] = "BIGINT"
			}
			return "K"
		}
		return fmt.Sprintf("MAP('a' := %s, S := %s)", g.argument(value, variables), g.argument(value, variables))
	}
	return g.pick(argumentTexts[pattern]...)
}

func (g *callGenerator) array(element string, variables map[string]string) string {
	if len(element) == 1 && variables[element] == "" {
		variables[element] = g.pick("BIGINT", "STRING", "DOUBLE", "INTEGER", "DECIMAL")
	}
	if len(element) == 1 {
		element = variables[element]
	}
	if element == "BIGINT" && g.r.IntN(2) == 0 {
		return "A"
	}
	if element == "STRING" && g.r.IntN(2) == 0 {
		return "L"
	}
	items := make([]string, 1+g.r.IntN(4))
	for i := range items {
		items[i] = g.argument(element, variables)
	}
	return "ARRAY[" + strings.Join(items, ", ") + "]"
}

func cutLambda(pattern string) (parameters []string, result string, ok bool) {
	left, right, ok := strings.Cut(pattern, " => ")
	return strings.Split(strings.Trim(left, "()"), ", "), right, ok
}

// lambda returns one of its parameters, or a value from outside.
func (g *callGenerator) lambda(parameters []string, result string, variables map[string]string) string {
	names := make([]string, len(parameters))
	var fitting []string
	for i, p := range parameters {
		names[i] = fmt.Sprintf("x%d", i)
		if p == result || variables[result] == "" {
			fitting = append(fitting, names[i])
		}
	}
	body := g.argument(result, map[string]string{result: variables[result]})
	if len(fitting) > 0 && g.r.IntN(3) > 0 {
		body = fitting[g.r.IntN(len(fitting))]
	}
	return "(" + strings.Join(names, ", ") + ") => " + body
}

// checkCall binds a call; what is refused says so with a *types.Error, and what
// is not gives the same in batches of every size.
func checkCall(t *testing.T, text string, table bool, r *rand.Rand, rows int) (bound bool) {
	t.Helper()
	e, err := parseTest(text, functionColumns, table)
	if err != nil {
		if _, user := err.(*types.Error); !user { //nolint:errorlint // it is returned bare
			t.Fatalf("%s: refused with %T: %v", text, err, err)
		}
		return false
	}
	if call, ok := e.(*Call); ok && call.function.Volatile {
		return true
	}
	whole := extremeBatch(r, rows)
	selected := make([]bool, rows)
	for i := range selected {
		selected[i] = r.IntN(4) > 0
	}
	want, wantFailed := evaluateInBatches(t, e, whole, selected, 1)
	for _, size := range []int{7, rows} {
		got, failed := evaluateInBatches(t, e, whole, selected, size)
		for _, i := range slices.Sorted(maps.Keys(want)) {
			if got[i] != want[i] || failed[i] != wantFailed[i] {
				t.Fatalf("%s: row %d in batches of %d is %.200q (failed: %v), alone %.200q (%v)", text, i, size, got[i], failed[i], want[i], wantFailed[i])
			}
		}
	}
	return true
}

// TestFunctionsInBatches calls every function with values at the edges of their
// types, in batches of 1, 7 and 1024 rows.
func TestFunctionsInBatches(t *testing.T) {
	for k, f := range fn.Functions() {
		r := rand.New(rand.NewPCG(uint64(k), 3))
		g := &callGenerator{r}
		bound := 0
		for n := 0; n < 100 && bound < 8; n++ {
			rows := 64
			if bound == 0 {
				rows = column.MaxRows
			}
			if checkCall(t, g.call(f), f.Table, r, rows) {
				bound++
			}
		}
		if bound == 0 {
			t.Errorf("%s: none of 100 calls was bound", f.Name)
		}
	}
}

func FuzzFunctions(f *testing.F) {
	for k := range uint64(20) {
		f.Add(k, "x", int64(k), float64(k))
	}
	functions := fn.Functions()
	f.Fuzz(func(t *testing.T, seed uint64, text string, number int64, double float64) {
		extremeTexts[0], extremeIntegers[0], extremeDoubles[0] = text, number, double
		r := rand.New(rand.NewPCG(seed, 5))
		g := &callGenerator{r}
		function := functions[r.IntN(len(functions))]
		checkCall(t, g.call(function), function.Table, r, 16)
	})
}
