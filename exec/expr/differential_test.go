package expr

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/exec/fn"
	"millrace/sql/types"
)

var testColumns = []*Column{
	NewColumn(0, "I", types.Integer),
	NewColumn(1, "J", types.Integer),
	NewColumn(2, "B", types.Bigint),
	NewColumn(3, "D", types.Double),
	NewColumn(4, "N", types.DecimalOf(9, 2)),
	NewColumn(5, "S", types.String),
	NewColumn(6, "U", types.String),
	NewColumn(7, "P", types.Boolean),
	NewColumn(8, "T", types.Timestamp),
}

var testTexts = []string{"", "a", "ab", "abc", "b%", "héllo", "12", "-7", "1.50", "true", "😀x", "￿", "2020-01-02", "a,b"}

// randomBatch has n rows of the test columns, a fifth of the values null.
func randomBatch(r *rand.Rand, n int) *column.Batch {
	b := &column.Batch{Len: n, Arena: new(column.Arena)}
	for _, c := range testColumns {
		v := column.New(c.T, n)
		for i := range n {
			if r.IntN(5) > 0 {
				setRandom(r, v, i)
			}
		}
		b.Columns = append(b.Columns, v)
	}
	return b
}

func setRandom(r *rand.Rand, v *column.Vector, i int) {
	small := int64(r.IntN(7) - 3)
	switch v.Type.Kind {
	case types.KindBoolean:
		v.SetBool(i, r.IntN(2) == 0)
	case types.KindInteger:
		if r.IntN(8) == 0 {
			small = 1<<31 - 1
		}
		v.SetInt(i, small)
	case types.KindBigint:
		if r.IntN(8) == 0 {
			small = -1 << 63
		}
		v.SetInt(i, small)
	case types.KindTimestamp:
		v.SetInt(i, 1577923200000+small*3600_000)
	case types.KindDouble:
		v.SetDouble(i, float64(small)/2)
	case types.KindDecimal:
		v.SetDecimal(i, types.DecimalFromInt(small*50))
	case types.KindString:
		v.SetText(i, testTexts[r.IntN(len(testTexts))])
	}
}

// generator writes random expressions of a type; most bind.
type generator struct{ r *rand.Rand }

func (g *generator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *generator) number(depth int) string {
	if depth == 0 {
		return g.pick("I", "J", "B", "D", "N", "2", "0", "1.5", "3e0", "-1", "I", "N")
	}
	switch g.r.IntN(10) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("(%s %s %s)", g.number(depth-1), g.pick("+", "-", "*", "/", "%"), g.number(depth-1))
	case 4:
		return fmt.Sprintf("CASE WHEN %s THEN CAST(%s AS DOUBLE) ELSE CAST(%s AS DOUBLE) END",
			g.condition(depth-1), g.number(depth-1), g.number(depth-1))
	case 5:
		return fmt.Sprintf("CAST(%s AS %s)", g.text(depth-1), g.pick("INT", "DOUBLE", "DECIMAL(6,1)"))
	case 6:
		return fmt.Sprintf("%s(%s)", g.pick("ABS", "ROUND", "FLOOR", "SIGN"), g.number(depth-1))
	case 7:
		return fmt.Sprintf("LEN(%s)", g.text(depth-1))
	case 8:
		return fmt.Sprintf("ARRAY[%s, %s][%s]", g.number(depth-1), g.number(depth-1), g.pick("I", "1", "-1"))
	}
	return fmt.Sprintf("REDUCE(ARRAY[%s, %s], %s, (s, x) => s + x * I)", g.pick("I", "J"), g.pick("I", "1 / I"), g.pick("I", "J"))
}

func (g *generator) text(depth int) string {
	if depth == 0 {
		return g.pick("S", "U", "'a'", "'12'")
	}
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("UCASE(%s)", g.text(depth-1))
	case 1:
		return fmt.Sprintf("(%s %s %s)", g.text(depth-1), g.pick("+", "||"), g.text(depth-1))
	case 2:
		return fmt.Sprintf("SUBSTRING(%s, %s)", g.text(depth-1), g.pick("I", "2"))
	case 3:
		return fmt.Sprintf("CAST(%s AS STRING)", g.number(depth-1))
	case 4:
		return fmt.Sprintf("COALESCE(%s, %s)", g.text(depth-1), g.text(depth-1))
	}
	return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.condition(depth-1), g.text(depth-1), g.text(depth-1))
}

func (g *generator) condition(depth int) string {
	if depth == 0 {
		return g.pick("P", "I > 0", "B <= 1", "D < 0.5", "N = 1.50", "S = 'a'", "S < U", "I = J", "T >= '2020-01-02'", "TRUE")
	}
	switch g.r.IntN(9) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", g.condition(depth-1), g.pick("AND", "OR"), g.condition(depth-1))
	case 2:
		return fmt.Sprintf("(NOT %s)", g.condition(depth-1))
	case 3:
		return fmt.Sprintf("(%s %s %s)", g.number(depth-1), g.pick("=", "<>", "<", ">=", "IS DISTINCT FROM"), g.number(depth-1))
	case 4:
		return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", g.number(depth-1), g.pick("", "NOT "), g.number(0), g.number(depth-1))
	case 5:
		return fmt.Sprintf("(%s %sIN (1, %s, NULL))", g.pick("I", "B", "N", "D"), g.pick("", "NOT "), g.pick("2", "J", "1.5"))
	case 6:
		return fmt.Sprintf("(%s LIKE %s)", g.text(depth-1), g.pick("'a%'", "'%b'", "'_b_'", "U", "'%é%o'"))
	case 7:
		return fmt.Sprintf("(%s IS %sNULL)", g.number(depth-1), g.pick("", "NOT "))
	}
	return fmt.Sprintf("(%s %s %s)", g.text(depth-1), g.pick("=", "<>", "<", ">="), g.text(depth-1))
}

// rowErrors notes the failed rows by their offset in the whole input.
type rowErrors struct {
	first int
	rows  map[int]bool
}

func (e *rowErrors) RowError(_ *column.Batch, i int, _ string, _ error) { e.rows[e.first+i] = true }

// evaluateInBatches evaluates selected rows in batches of a size; results are
// texts by row.
func evaluateInBatches(t *testing.T, e Expr, whole *column.Batch, selected []bool, size int) (map[int]string, map[int]bool) {
	failures := &rowErrors{rows: map[int]bool{}}
	kernel, err := Compile(e, testEnvironment(failures))
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	results := map[int]string{}
	for first := 0; first < whole.Len; first += size {
		b, selection := part(whole, selected, first, min(size, whole.Len-first))
		failures.first = first
		before := slices.Clone(selection)
		v := kernel.Eval(b, selection)
		if !slices.Equal(before, selection) {
			t.Fatalf("%s: Eval changed the selection", e)
		}
		for _, i := range selection {
			results[first+int(i)] = fmt.Sprintf("%v %s", v.Null(int(i)), fn.AppendText(nil, v, int(i)))
		}
	}
	return results, failures.rows
}

func part(whole *column.Batch, selected []bool, first, n int) (*column.Batch, []int32) {
	b := &column.Batch{Len: n, Arena: new(column.Arena)}
	for _, v := range whole.Columns {
		copied := column.New(v.Type, n)
		for i := range n {
			copied.CopyRow(i, v, first+i)
		}
		b.Columns = append(b.Columns, copied)
	}
	var selection []int32
	for i := range n {
		if selected[first+i] {
			selection = append(selection, int32(i))
		}
	}
	return b, selection
}

// rowLiterals evaluates row i with its values written into the expression,
// which goes through constant folding.
func rowLiterals(t *testing.T, e Expr, whole *column.Batch, i int) string {
	constant := Rewrite(e, func(e Expr) (Expr, bool) {
		c, ok := e.(*Column)
		if !ok {
			return nil, false
		}
		if v := whole.Columns[c.Index]; !v.Null(i) {
			return literalAt(v, i), true
		}
		return typedNull(c.T), true
	})
	v, err := Evaluate(constant, testEnvironment(nil))
	if err != nil {
		t.Fatalf("%s: %v", constant, err)
	}
	return fmt.Sprintf("%v %s", v.Null(0), fn.AppendText(nil, v, 0))
}

func TestBatchesEqualRows(t *testing.T) {
	byName := map[string]*Column{}
	for _, c := range testColumns {
		byName[c.Name] = c
	}
	r := rand.New(rand.NewPCG(1, 2))
	g := &generator{r: r}
	bound := 0
	for range 300 {
		text := [](func(int) string){g.number, g.text, g.condition}[r.IntN(3)](1 + r.IntN(3))
		e, err := parseTest(text, byName, false)
		if err != nil {
			continue
		}
		bound++
		whole := randomBatch(r, 150)
		selected := make([]bool, whole.Len)
		for i := range selected {
			selected[i] = r.IntN(4) > 0
		}
		checkBatches(t, e, whole, selected)
		if e.Type().Kind == types.KindBoolean {
			checkPredicate(t, e, whole, selected)
		}
	}
	if bound < 150 {
		t.Errorf("only %d expressions were bound", bound)
	}
}

func checkBatches(t *testing.T, e Expr, whole *column.Batch, selected []bool) {
	t.Helper()
	want, wantFailed := evaluateInBatches(t, e, whole, selected, 1)
	for _, size := range []int{7, 64, whole.Len} {
		got, failed := evaluateInBatches(t, e, whole, selected, size)
		for i, value := range want {
			if got[i] != value {
				t.Fatalf("%s: row %d in batches of %d is %q, alone %q", e, i, size, got[i], value)
			}
			if failed[i] != wantFailed[i] {
				t.Fatalf("%s: row %d in batches of %d: failed %v, alone %v", e, i, size, failed[i], wantFailed[i])
			}
		}
	}
	for i := 0; i < whole.Len; i += 10 {
		if !selected[i] {
			continue
		}
		if got := rowLiterals(t, e, whole, i); got != want[i] {
			t.Fatalf("%s: row %d as literals is %q, else %q", e, i, got, want[i])
		}
	}
}

func checkPredicate(t *testing.T, e Expr, whole *column.Batch, selected []bool) {
	t.Helper()
	values, _ := evaluateInBatches(t, e, whole, selected, whole.Len)
	predicate, err := CompilePredicate(e, testEnvironment(nil))
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	b, selection := part(whole, selected, 0, whole.Len)
	var want []int32
	for _, i := range selection {
		if strings.HasSuffix(values[int(i)], "true") {
			want = append(want, i)
		}
	}
	if got := predicate.Narrow(b, selection); !slices.Equal(got, want) {
		t.Fatalf("%s: the predicate keeps %v, the value is true for %v", e, got, want)
	}
}
