package expr

import (
	"slices"
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"
)

func parseColumns(t *testing.T, text string) Expr {
	t.Helper()
	byName := map[string]*Column{}
	for _, c := range testColumns {
		byName[c.Name] = c
	}
	e, err := parseTest(text, byName, false)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// treeTexts has every kind of node.
var treeTexts = []string{
	"I + J * 2 - -B",
	"(I + J) * 2",
	"I - (J - 1)",
	"-(I + 1)",
	"S || U || 'x''y'",
	"NOT (P AND I > 0 OR J IS NOT NULL)",
	"(P OR I = 1) AND (J <> 2)",
	"I BETWEEN 1 AND J",
	"I NOT IN (1, 2, J)",
	"S NOT LIKE 'a!%' ESCAPE '!'",
	"CASE WHEN P THEN I ELSE J END",
	"CASE I WHEN 1 THEN 'one' END",
	"CAST(S AS DECIMAL(5,2))",
	"STRUCT(A := I, B := ARRAY[I, J])->B[1]",
	"MAP('k' := I)['k']",
	"I IS DISTINCT FROM J",
	"TRANSFORM(ARRAY[I], X => X + J)",
	"REDUCE(ARRAY[I], 0, (A, X) => A + X)",
	"D = 1.5 AND N < 1e0",
}

// TestText reads the text of an expression again and gets an equal one.
func TestText(t *testing.T) {
	for _, text := range treeTexts {
		e := parseColumns(t, text)
		again := parseColumns(t, e.String())
		if !Equal(e, again) {
			t.Errorf("%s prints as %s, which is %s", text, e, again)
		}
	}
}

func TestEqual(t *testing.T) {
	for i, a := range treeTexts {
		for j, b := range treeTexts {
			if got := Equal(parseColumns(t, a), parseColumns(t, b)); got != (i == j) {
				t.Errorf("%s and %s: %v", a, b, got)
			}
		}
	}
}

func TestRewriteMovesColumns(t *testing.T) {
	for _, text := range treeTexts {
		e := parseColumns(t, text)
		before := ColumnsOf(e)
		moved := Rewrite(e, func(e Expr) (Expr, bool) {
			if c, ok := e.(*Column); ok {
				return NewColumn(c.Index+100, c.Name, c.T), true
			}
			return nil, false
		})
		after := ColumnsOf(moved)
		for i := range after {
			after[i] -= 100
		}
		if !slices.Equal(before, after) || moved.String() != e.String() {
			t.Errorf("%s: columns %v became %v of %s", e, before, after, moved)
		}
		if !slices.Equal(ColumnsOf(e), before) {
			t.Errorf("%s: Rewrite changed its input", e)
		}
	}
}

func TestConstant(t *testing.T) {
	for text, want := range map[string]bool{
		"1 + 2": true, "I + 2": false, "RANDOM()": false, "LEN(UUID())": false,
		"TRANSFORM(ARRAY[1], X => X + 1)": true, "TRANSFORM(ARRAY[1], X => X + I)": false, "PI()": true,
	} {
		if got := Constant(parseColumns(t, text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestAssign(t *testing.T) {
	for _, c := range []struct {
		text string
		t    *types.Type
		want string // the value, or empty if refused
	}{
		{"5", types.Bigint, "5"},
		{"5", types.Double, "5.0"},
		{"5", types.DecimalOf(5, 2), "5.00"},
		{"1.5", types.DecimalOf(5, 2), "1.50"},
		{"1.555", types.DecimalOf(5, 2), ""},
		{"1.5", types.Integer, ""},
		{"2.0", types.Integer, "2"},
		{"3000000000", types.Integer, ""},
		{"'x'", types.Integer, ""},
		{"'2020-01-02'", types.Date, "2020-01-02"},
		{"'nonsense'", types.Date, ""},
		{"1 + 1", types.DecimalOf(5, 2), "2.00"},
		{"ARRAY[1, 2]", types.ArrayOf(types.Double), "[1.0, 2.0]"},
		{"ARRAY['2020']", types.ArrayOf(types.Date), "[2020-01-01]"},
		{"MAP('a' := 1)", types.MapOf(types.String, types.DecimalOf(3, 1)), "{a=1.0}"},
		{
			"STRUCT(B := 1)",
			types.StructOf(types.Field{Name: "A", Type: types.String}, types.Field{Name: "B", Type: types.Bigint}),
			"Struct{B=1}",
		},
		{"STRUCT(C := 1)", types.StructOf(types.Field{Name: "A", Type: types.String}), ""},
		{"NULL", types.Integer, "NULL"},
		{"TRUE", types.String, ""},
	} {
		e, err := Assign(parseColumns(t, c.text), c.t)
		if err != nil {
			if c.want != "" {
				t.Errorf("%s to %s: %v", c.text, c.t, err)
			}
			continue
		}
		v, err := Evaluate(e, nil)
		if err != nil {
			t.Errorf("%s to %s: %v", c.text, c.t, err)
			continue
		}
		if got := renderTest(v); got != c.want || !types.Equal(e.Type(), c.t) {
			t.Errorf("%s to %s: %s %s, want %s", c.text, c.t, e.Type(), got, c.want)
		}
	}
}

func TestCoerceRefusesNarrowing(t *testing.T) {
	for _, c := range []struct {
		from, to *types.Type
		ok       bool
	}{
		{types.Integer, types.Bigint, true},
		{types.Bigint, types.Integer, false},
		{types.Bigint, types.DecimalOf(19, 0), true},
		{types.Bigint, types.DecimalOf(18, 0), false},
		{types.DecimalOf(4, 2), types.DecimalOf(5, 2), true},
		{types.DecimalOf(5, 2), types.DecimalOf(5, 3), false},
		{types.DecimalOf(5, 2), types.Double, true},
		{types.Double, types.DecimalOf(38, 10), false},
		{types.String, types.Date, false},
		{types.ArrayOf(types.Integer), types.ArrayOf(types.Bigint), true},
	} {
		if _, err := Coerce(NewColumn(0, "X", c.from), c.to); (err == nil) != c.ok {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

func TestFieldOfNullStruct(t *testing.T) {
	b := &column.Batch{Len: 2, Arena: new(column.Arena)}
	s := column.New(types.StructOf(types.Field{Name: "A", Type: types.Integer}), 2)
	s.Valid.Set(0)
	s.Children[0].SetInt(0, 5)
	s.Children[0].SetInt(1, 6)
	b.Columns = []*column.Vector{s}
	e, err := NewField(NewColumn(0, "S", s.Type), "A")
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := Compile(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := kernel.Eval(b, []int32{0, 1})
	if v.Null(0) || v.Ints[0] != 5 || !v.Null(1) {
		t.Errorf("got %v %d, %v", v.Null(0), v.Ints[0], v.Null(1))
	}
}
