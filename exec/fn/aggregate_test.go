package fn

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"

	"pgregory.net/rapid"
)

func TestResolveAggregate(t *testing.T) {
	tests := []struct {
		name      string
		inputs    []*types.Type
		constants []any
		result    string // or the error
	}{
		{"COUNT", nil, nil, "BIGINT"},
		{"count", []*types.Type{types.MapOf(types.String, types.Bytes)}, nil, "BIGINT"},
		{"SUM", []*types.Type{types.Integer}, nil, "INTEGER"},
		{"SUM", []*types.Type{types.Bigint}, nil, "BIGINT"},
		{"SUM", []*types.Type{types.Double}, nil, "DOUBLE"},
		{"SUM", []*types.Type{types.DecimalOf(7, 2)}, nil, "DECIMAL(7, 2)"},
		{"AVG", []*types.Type{types.Integer}, nil, "DOUBLE"},
		{"AVG", []*types.Type{types.DecimalOf(7, 2)}, nil, "DOUBLE"},
		{"MIN", []*types.Type{types.Timestamp}, nil, "TIMESTAMP"},
		{"MAX", []*types.Type{types.String}, nil, "STRING"},
		{"Max", []*types.Type{types.Bytes}, nil, "BYTES"},
		{"SUM", []*types.Type{types.String}, nil, "SUM cannot be applied to (STRING); it takes SUM(INTEGER), SUM(BIGINT), SUM(DOUBLE), SUM(DECIMAL)"},
		{"SUM", nil, nil, "SUM cannot be applied to (); it takes SUM(INTEGER), SUM(BIGINT), SUM(DOUBLE), SUM(DECIMAL)"},
		{"SUM", []*types.Type{types.Null}, nil, "SUM cannot be applied to (NULL); it takes SUM(INTEGER), SUM(BIGINT), SUM(DOUBLE), SUM(DECIMAL)"},
		{"COUNT", []*types.Type{types.String, types.Integer}, nil, "COUNT cannot be applied to (STRING, INTEGER); it takes COUNT(*), COUNT(T)"},
		{"COUNT", []*types.Type{types.String}, []any{int64(1)}, "COUNT cannot be applied to (STRING, 1); it takes COUNT(*), COUNT(T)"},
		{"NOPE", nil, nil, "unknown aggregate function NOPE"},
	}
	for _, test := range tests {
		s, err := ResolveAggregate(test.name, test.inputs, test.constants, StreamUse)
		got := ""
		if err != nil {
			if _, ok := errors.AsType[*types.Error](err); !ok {
				t.Errorf("%s: error of type %T", test.name, err)
			}
			got = err.Error()
		} else {
			got = s.Result.String()
		}
		if got != test.result {
			t.Errorf("%s(%v): %s, want %s", test.name, test.inputs, got, test.result)
		}
	}
}

func TestExtremesRefuse(t *testing.T) {
	for _, refused := range []*types.Type{types.Boolean, types.ArrayOf(types.Integer), types.StructOf(), types.Null} {
		for _, name := range []string{"MIN", "MAX"} {
			if _, err := ResolveAggregate(name, []*types.Type{refused}, nil, StreamUse); err == nil {
				t.Errorf("%s(%s) is accepted", name, refused)
			}
		}
	}
}

func TestAggregatesAreSortedAndDescribed(t *testing.T) {
	list := Aggregates()
	if !slices.IsSortedFunc(list, func(a, b Aggregate) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("aggregates are not sorted by name")
	}
	for _, a := range list {
		if a.Doc == "" || len(a.Forms) == 0 || !IsAggregate(strings.ToLower(a.Name)) {
			t.Errorf("%s has no description, no forms, or is not found", a.Name)
		}
	}
	if IsAggregate("UCASE") {
		t.Error("UCASE is an aggregate")
	}
}

// group is one group's state, of either form.
type group struct {
	fixed    Fixed
	variable Variable
	cells    []byte
	state    []byte
	result   *types.Type
}

func newGroup(t testing.TB, name string, inputs ...*types.Type) *group {
	t.Helper()
	s, err := ResolveAggregate(name, inputs, nil, StreamUse)
	if err != nil {
		t.Fatal(err)
	}
	return groupOf(s)
}

// groupOf is a group without rows. Fixed states do not stand at the front of
// their cells.
func groupOf(s *AggregateSignature) *group {
	g := &group{result: s.Result}
	if g.fixed = s.Fixed(3); g.fixed != nil {
		g.cells = make([]byte, 3+g.fixed.Width())
	} else {
		g.variable = s.Variable()
	}
	return g
}

func (g *group) add(arguments Arguments, i int) error {
	if g.fixed != nil {
		return g.fixed.Add(g.cells, arguments, i)
	}
	return g.change(g.variable.Add, arguments, i)
}

func (g *group) remove(arguments Arguments, i int) error {
	if g.fixed != nil {
		return g.fixed.Remove(g.cells, arguments, i)
	}
	return g.change(g.variable.Remove, arguments, i)
}

// change applies Add or Remove, whose result stands behind other bytes.
func (g *group) change(
	step func(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error), arguments Arguments, i int,
) error {
	const before = "before"
	next, changed, err := step([]byte(before), g.state, arguments, i)
	if err != nil {
		return err
	}
	if !changed && string(next) != before || string(next[:len(before)]) != before {
		return fmt.Errorf("dst became %q", next)
	}
	if changed {
		g.state = next[len(before):]
	}
	return nil
}

func (g *group) merge(other *group) error {
	if g.fixed != nil {
		return g.fixed.Merge(g.cells, other.cells)
	}
	next, err := g.variable.Merge([]byte("before"), g.state, other.state)
	if err == nil {
		g.state = next[len("before"):]
	}
	return err
}

func (g *group) text() string {
	out := column.New(g.result, 1)
	var err error
	if g.fixed != nil {
		err = g.fixed.Result(g.cells, out, 0)
	} else {
		err = g.variable.Result(g.state, out, 0)
	}
	if err != nil {
		if !out.Null(0) {
			return "a value with the error " + err.Error()
		}
		return err.Error()
	}
	return text(out, 0)
}

func text(v *column.Vector, i int) string {
	if v.Null(i) {
		return "null"
	}
	switch v.Type.Kind {
	case types.KindDouble:
		return fmt.Sprint(v.Doubles[i])
	case types.KindDecimal:
		return v.Decimals[i].Text(v.Type.Scale)
	case types.KindString, types.KindBytes:
		return fmt.Sprintf("%q", v.Texts[i])
	}
	if v.Type.Nested() {
		return string(AppendText(nil, v, i))
	}
	return fmt.Sprint(v.Ints[i])
}

// vector makes a column; nil is null.
func vector(t *types.Type, values ...any) *column.Vector {
	v := column.New(t, len(values))
	for i, value := range values {
		switch value := value.(type) {
		case int:
			v.SetInt(i, int64(value))
		case float64:
			v.SetDouble(i, value)
		case string:
			if t.Kind != types.KindDecimal {
				v.SetText(i, value)
				continue
			}
			d, err := types.ParseDecimal(value, t)
			if err != nil {
				panic(err)
			}
			v.SetDecimal(i, d)
		}
	}
	return v
}

func TestAggregates(t *testing.T) {
	nan, negativeZero := math.NaN(), math.Copysign(0, -1)
	wide := types.DecimalOf(38, 0)
	nines := strings.Repeat("9", 38)
	tests := []struct {
		name   string
		values *column.Vector
		want   string // the results after 0, 1, .. rows
	}{
		{"COUNT", vector(types.String, "a", nil, ""), "0 1 1 2"},
		{"SUM", vector(types.Integer, 1, nil, -3), "0 1 1 -2"},
		{
			"SUM", vector(types.Integer, math.MaxInt32, 1, -1, math.MinInt32, math.MinInt32),
			"0 2147483647 the result of SUM is out of range for INTEGER 2147483647 -1 the result of SUM is out of range for INTEGER",
		},
		{
			"SUM", vector(types.Bigint, math.MaxInt64, 1, -1, math.MinInt64, math.MinInt64),
			"0 9223372036854775807 the result of SUM is out of range for BIGINT 9223372036854775807 -1 the result of SUM is out of range for BIGINT",
		},
		{"SUM", vector(types.Double, 1.5, nil, 2.25), "0 1.5 1.5 3.75"},
		{"SUM", vector(types.DecimalOf(5, 2), "1.50", nil, "-2.25"), "0.00 1.50 1.50 -0.75"},
		{"SUM", vector(wide, nines, "-"+nines, "-"+nines), "0 " + nines + " 0 -" + nines},
		{"AVG", vector(types.Integer, nil, 1, 2), "0 0 1 1.5"},
		{"AVG", vector(types.Bigint, math.MaxInt64, math.MaxInt64), "0 9.223372036854775807e+18 9.223372036854775807e+18"},
		{"AVG", vector(types.Double, 1.0, nil, 4.0), "0 1 1 2.5"},
		{"AVG", vector(types.DecimalOf(5, 2), "1.50", nil, "-2.50"), "0 1.5 1.5 -0.5"},
		{"MIN", vector(types.Integer, nil, 3, 5, -1), "null null 3 3 -1"},
		{"MAX", vector(types.Integer, nil, -3, -5, 1), "null null -3 -3 1"},
		{"MAX", vector(types.Date, 3, 3, 2), "null 3 3 3"},
		{"MIN", vector(types.Time, 3, 3, 2), "null 3 3 2"},
		{"MAX", vector(types.Timestamp, math.MinInt64, math.MaxInt64), "null -9223372036854775808 9223372036854775807"},
		{"MIN", vector(types.Double, nan, 0.0, negativeZero, nan), "null NaN 0 -0 -0"},
		{"MAX", vector(types.Double, negativeZero, 0.0, nan, 5.0), "null -0 0 NaN NaN"},
		{"MIN", vector(types.DecimalOf(5, 2), nil, "-1.00", "1.00", "-1.01"), "null null -1.00 -1.00 -1.01"},
		{"MAX", vector(types.DecimalOf(5, 2), nil, "-1.00", "1.00", "-1.01"), "null null -1.00 1.00 1.00"},
		{"MIN", vector(types.String, "b", nil, "", "a"), `null "b" "b" "" ""`},
		{"MAX", vector(types.String, "b", nil, "ba", "a"), `null "b" "b" "ba" "ba"`},
		{"MAX", vector(types.String, "\U0001F600", "\uFFFD"), `null "😀" "�"`},
		{"MAX", vector(types.Bytes, "\xff", "\x01"), `null "\xff" "\xff"`},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.values.Type.String(), func(t *testing.T) {
			g := newGroup(t, test.name, test.values.Type)
			got := []string{g.text()}
			for i := range test.values.Len() {
				if err := g.add(Arguments{test.values}, i); err != nil {
					t.Fatal(err)
				}
				got = append(got, g.text())
			}
			if joined := strings.Join(got, " "); normalDouble(joined) != normalDouble(test.want) {
				t.Errorf("results %s, want %s", joined, test.want)
			}
		})
	}
}

// normalDouble is for expected values written with more digits than a DOUBLE has.
func normalDouble(s string) string {
	return strings.ReplaceAll(s, "9.223372036854775807e+18", "9.223372036854776e+18")
}

func TestCountRows(t *testing.T) {
	g := newGroup(t, "COUNT")
	for range 3 {
		if err := g.add(nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.remove(nil, 0); err != nil {
		t.Fatal(err)
	}
	if got := g.text(); got != "2" {
		t.Errorf("COUNT(*) of 3 rows less one: %s", got)
	}
}

func TestDecimalSumOverflowEndsTheQuery(t *testing.T) {
	for _, values := range []*column.Vector{
		vector(types.DecimalOf(3, 1), "99.9", "0.1"),
		vector(types.DecimalOf(38, 0), strings.Repeat("9", 38), strings.Repeat("9", 38)),
		vector(types.DecimalOf(38, 0), "-"+strings.Repeat("9", 38), "-1"),
	} {
		g := newGroup(t, "SUM", values.Type)
		if err := g.add(Arguments{values}, 0); err != nil {
			t.Fatal(err)
		}
		if err := g.add(Arguments{values}, 1); !errors.Is(err, types.ErrDecimalOverflow) {
			t.Errorf("SUM of %s: error %v", values.Type, err)
		}
		if got, want := g.text(), text(values, 0); got != want {
			t.Errorf("SUM of %s after the overflow: %s, want %s", values.Type, got, want)
		}
		k, err := g.fixed.AddAll([][]byte{make([]byte, len(g.cells)), g.cells}, Arguments{values}, []int32{0, 1})
		if k != 1 || !errors.Is(err, types.ErrDecimalOverflow) {
			t.Errorf("AddAll: step %d, error %v", k, err)
		}
	}
}

// TestUndo holds sums, counts and averages after adds and removes against those
// of the rows that are left.
func TestUndo(t *testing.T) {
	kinds := []*types.Type{types.Integer, types.Bigint, types.DecimalOf(38, 2)}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "type")
		numbers := rapid.SliceOfN(rapid.Int64(), 1, 20).Draw(t, "values")
		values := column.New(kind, len(numbers)+1)
		for i, n := range numbers {
			switch kind.Kind {
			case types.KindInteger:
				numbers[i] = int64(int32(n))
				values.SetInt(i, numbers[i])
			case types.KindBigint:
				values.SetInt(i, n)
			default:
				values.SetDecimal(i, types.DecimalFromInt(n))
			}
		}
		numbers = append(numbers, 0) // the last row is null
		groups := map[string]*group{}
		for _, name := range []string{"COUNT", "SUM", "AVG"} {
			groups[name] = resolved(name, kind)
		}
		left := map[int]int{}
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			i := rapid.IntRange(0, len(numbers)-1).Draw(t, "row")
			undo := left[i] > 0 && rapid.Bool().Draw(t, "remove")
			for _, g := range groups {
				apply := g.add
				if undo {
					apply = g.remove
				}
				if err := apply(Arguments{values}, i); err != nil {
					t.Fatal(err)
				}
			}
			if undo {
				left[i]--
			} else {
				left[i]++
			}
		}
		checkSums(t, groups, kind, numbers, left)
	})
}

func resolved(name string, kind *types.Type) *group {
	s, err := ResolveAggregate(name, []*types.Type{kind}, nil, StreamUse)
	if err != nil {
		panic(err)
	}
	fixed := s.Fixed(0)
	return &group{result: s.Result, fixed: fixed, cells: make([]byte, fixed.Width())}
}

func checkSums(t *rapid.T, groups map[string]*group, kind *types.Type, numbers []int64, left map[int]int) {
	total, n := new(big.Int), 0
	for i, times := range left {
		if i == len(numbers)-1 {
			continue
		}
		n += times
		total.Add(total, new(big.Int).Mul(big.NewInt(numbers[i]), big.NewInt(int64(times))))
	}
	if got := groups["COUNT"].text(); got != fmt.Sprint(n) {
		t.Fatalf("COUNT %s, want %d", got, n)
	}
	want := total.String()
	switch {
	case kind.Kind == types.KindInteger && (!total.IsInt64() || total.Int64() != int64(int32(total.Int64()))),
		kind.Kind == types.KindBigint && !total.IsInt64():
		want = "the result of SUM is out of range for " + kind.String()
	case kind.Kind == types.KindDecimal:
		d, err := types.DecimalFromBig(total)
		if err != nil {
			t.Fatal(err)
		}
		want = d.Text(kind.Scale)
	}
	if got := groups["SUM"].text(); got != want {
		t.Fatalf("SUM %s, want %s", got, want)
	}
	if kind.Kind == types.KindDecimal {
		return // its average is a sum of DOUBLEs and has their rounding
	}
	average := 0.0
	if n > 0 {
		sum, _ := new(big.Float).SetInt(total).Float64()
		average = sum / float64(n)
	}
	if got := groups["AVG"].text(); got != fmt.Sprint(average) {
		t.Fatalf("AVG %s, want %v", got, average)
	}
}

// TestAddAll holds AddAll against Add, row by row.
func TestAddAll(t *testing.T) {
	kinds := []*types.Type{types.Integer, types.Bigint, types.Double, types.DecimalOf(38, 2), types.Timestamp}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "type")
		names := []string{"COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV_SAMP", "STDDEV_SAMPLE", "STDDEV_POP"}
		if kind.Temporal() {
			names = []string{"COUNT", "MIN", "MAX"}
		}
		name := rapid.SampledFrom(names).Draw(t, "function")
		n := rapid.IntRange(1, 30).Draw(t, "rows")
		values := column.New(kind, n)
		for i := range n {
			x := rapid.Int64Range(-1000, 1000).Draw(t, "value")
			switch {
			case rapid.IntRange(0, 3).Draw(t, "null") == 0:
			case kind.Kind == types.KindDouble:
				values.SetDouble(i, float64(x)/8)
			case kind.Kind == types.KindDecimal:
				values.SetDecimal(i, types.DecimalFromInt(x))
			default:
				values.SetInt(i, x)
			}
		}
		batch, single := resolved(name, kind), resolved(name, kind)
		width := len(batch.cells)
		const groups = 3
		together, apart := make([]byte, groups*width), make([]byte, groups*width)
		var rows []int32
		var cells [][]byte
		for i := range n {
			at := rapid.IntRange(0, groups-1).Draw(t, "group") * width
			rows, cells = append(rows, int32(i)), append(cells, together[at:at+width])
			if err := single.fixed.Add(apart[at:at+width], Arguments{values}, i); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := batch.fixed.AddAll(cells, Arguments{values}, rows); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(together, apart) {
			t.Fatalf("%s of %s: AddAll gives %x, Add %x", name, kind, together, apart)
		}
	})
}
