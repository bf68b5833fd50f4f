package fn

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"

	"pgregory.net/rapid"
)

// aggregateUse is one way to call an aggregate; all arguments are of small
// INTEGERs or texts, so that values repeat.
type aggregateUse struct {
	name      string
	inputs    []*types.Type
	constants []any
	distinct  bool
}

func (u aggregateUse) String() string {
	text := fmt.Sprintf("%s%v%v", u.name, u.inputs, u.constants)
	if u.distinct {
		text += "DISTINCT"
	}
	return text
}

var (
	oneInteger   = []*types.Type{types.Integer}
	oneText      = []*types.Type{types.String}
	oneDecimal   = []*types.Type{types.DecimalOf(9, 2)}
	twoIntegers  = []*types.Type{types.Integer, types.Integer}
	valueAndText = []*types.Type{types.Double, types.String}
	oneStruct    = []*types.Type{types.StructOf(types.Field{Name: "A", Type: types.Integer}, types.Field{Name: "B", Type: types.String})}
	oneList      = []*types.Type{types.ArrayOf(types.Integer)}
)

var aggregateUses = []aggregateUse{
	{name: "ATTR", inputs: oneInteger},
	{name: "ATTR", inputs: oneStruct},
	{name: "AVG", inputs: oneInteger},
	{name: "COLLECT_LIST", inputs: oneInteger},
	{name: "COLLECT_LIST", inputs: oneStruct},
	{name: "COLLECT_LIST", inputs: oneText, constants: []any{int64(3)}},
	{name: "COLLECT_SET", inputs: oneText},
	{name: "COLLECT_SET", inputs: oneList, constants: []any{int64(2)}},
	{name: "CORRELATION", inputs: twoIntegers},
	{name: "COUNT", inputs: oneText},
	{name: "COUNT_DISTINCT", inputs: oneInteger},
	{name: "COUNT_DISTINCT", inputs: oneStruct},
	{name: "EARLIEST_BY_OFFSET", inputs: oneInteger},
	{name: "EARLIEST_BY_OFFSET", inputs: oneText, constants: []any{false}},
	{name: "EARLIEST_BY_OFFSET", inputs: oneText, constants: []any{int64(2)}},
	{name: "EARLIEST_BY_OFFSET", inputs: oneStruct, constants: []any{int64(3), false}},
	{name: "HISTOGRAM", inputs: oneText},
	{name: "LATEST_BY_OFFSET", inputs: oneInteger},
	{name: "LATEST_BY_OFFSET", inputs: oneText, constants: []any{false}},
	{name: "LATEST_BY_OFFSET", inputs: oneText, constants: []any{int64(2)}},
	{name: "LATEST_BY_OFFSET", inputs: oneStruct, constants: []any{int64(3), false}},
	{name: "MAX", inputs: oneInteger},
	{name: "MAX", inputs: oneText},
	{name: "MIN", inputs: oneDecimal},
	{name: "MIN", inputs: []*types.Type{types.Double}},
	{name: "STDDEV_POP", inputs: oneInteger},
	{name: "STDDEV_SAMP", inputs: oneInteger},
	{name: "STDDEV_SAMPLE", inputs: oneDecimal},
	{name: "SUM", inputs: oneDecimal},
	{name: "SUM_LIST", inputs: oneList},
	{name: "TOPK", inputs: oneInteger, constants: []any{int64(2)}},
	{name: "TOPK", inputs: oneText, constants: []any{int64(3)}},
	{name: "TOPK", inputs: valueAndText, constants: []any{int64(2)}},
	{name: "TOPKDISTINCT", inputs: oneInteger, constants: []any{int64(2)}},
	{name: "TOPKDISTINCT", inputs: oneDecimal, constants: []any{int64(3)}},
	{name: "AVG", inputs: oneInteger, distinct: true},
	{name: "COLLECT_LIST", inputs: oneText, distinct: true},
	{name: "CORRELATION", inputs: []*types.Type{types.Integer, types.DecimalOf(9, 2)}, distinct: true},
	{name: "COUNT", inputs: oneText, distinct: true},
	{name: "STDDEV_POP", inputs: oneInteger, distinct: true},
	{name: "STDDEV_SAMPLE", inputs: oneDecimal, distinct: true},
	{name: "SUM", inputs: oneInteger, distinct: true},
	{name: "SUM", inputs: oneDecimal, distinct: true},
}

func (u aggregateUse) resolve(t interface{ Fatal(...any) }, use Use) *AggregateSignature {
	s, err := u.signature(use)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (u aggregateUse) signature(use Use) (*AggregateSignature, error) {
	name, wrapped := u.name, false
	if u.distinct {
		a, found := FindAggregate(name)
		if !found {
			return nil, fmt.Errorf("there is no aggregate %s", name)
		}
		var err error
		if name, wrapped, err = a.Distinct(); err != nil {
			return nil, err
		}
	}
	s, err := ResolveAggregate(name, u.inputs, u.constants, use)
	if err == nil && wrapped {
		s = s.Distinct(use)
	}
	return s, err
}

// drawArguments is n rows of the arguments, one column each.
func (u aggregateUse) drawArguments(t *rapid.T, n int) Arguments {
	var out Arguments
	for _, kind := range u.inputs {
		v := column.New(kind, n)
		for i := range n {
			drawValue(t, v, i)
		}
		out = append(out, v)
	}
	return out
}

func drawValue(t *rapid.T, v *column.Vector, i int) {
	n := rapid.IntRange(-1, 3).Draw(t, "value")
	if n < 0 {
		return
	}
	switch v.Type.Kind {
	case types.KindDouble:
		v.SetDouble(i, []float64{-1.5, math.Copysign(0, -1), 0, math.NaN()}[n])
	case types.KindDecimal:
		v.SetDecimal(i, types.DecimalFromInt(int64(n*150-200)))
	case types.KindString:
		v.SetText(i, []string{"", "a", "b", "\U0001F600"}[n])
	case types.KindStruct:
		v.Valid.Set(i)
		for _, child := range v.Children {
			drawValue(t, child, i)
		}
	case types.KindArray:
		start := v.Children[0].Extend(n)
		for k := range n {
			drawValue(t, v.Children[0], start+k)
		}
		v.SetSpan(i, start, n)
	default:
		v.SetInt(i, int64(n))
	}
}

// sameResult compares results, those of floating-point sums by their size.
func sameResult(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) < 1e-6
}

// TestTableIsTheStreamOfItsRows holds a group from which rows are taken out
// against the group of a stream of the rows that are left.
func TestTableIsTheStreamOfItsRows(t *testing.T) {
	for _, u := range aggregateUses {
		t.Run(u.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				const rows = 12
				arguments := u.drawArguments(t, rows)
				g := groupOf(u.resolve(t, TableUse))
				var left []int
				for range rapid.IntRange(1, 30).Draw(t, "steps") {
					if i := rapid.IntRange(0, rows-1).Draw(t, "row"); len(left) == 0 || rapid.IntRange(0, 2).Draw(t, "add") > 0 {
						left = append(left, i)
						if err := g.add(arguments, i); err != nil {
							t.Fatal(err)
						}
						continue
					}
					out := left[rapid.IntRange(0, len(left)-1).Draw(t, "out")]
					left = withoutLastEqual(arguments, left, out)
					if err := g.remove(arguments, out); err != nil {
						t.Fatal(err)
					}
				}
				stream := groupOf(u.resolve(t, StreamUse))
				for _, i := range left {
					if err := stream.add(arguments, i); err != nil {
						t.Fatal(err)
					}
				}
				if got, want := g.text(), stream.text(); !sameResult(got, want) {
					t.Fatalf("rows %v: %s, want %s", left, got, want)
				}
			})
		})
	}
}

func withoutLastEqual(arguments Arguments, left []int, row int) []int {
	for k := len(left) - 1; k >= 0; k-- {
		same := true
		for _, v := range arguments {
			same = same && bytes.Equal(column.AppendRow(nil, []*column.Vector{v}, left[k]), column.AppendRow(nil, []*column.Vector{v}, row))
		}
		if same {
			return append(left[:k:k], left[k+1:]...)
		}
	}
	return left
}

// TestMergeIsTheGroupOfAllRows holds merged groups against one group of all
// rows: those of the first, then those of the second.
func TestMergeIsTheGroupOfAllRows(t *testing.T) {
	for _, u := range aggregateUses {
		if u.name == "LATEST_BY_OFFSET" || u.name == "EARLIEST_BY_OFFSET" {
			continue // they go by arrival
		}
		t.Run(u.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				const rows = 16
				arguments := u.drawArguments(t, rows)
				s := u.resolve(t, SessionUse)
				first, second, all := groupOf(s), groupOf(s), groupOf(s)
				cut := rapid.IntRange(0, rows).Draw(t, "cut")
				for i := range rows {
					part := first
					if i >= cut {
						part = second
					}
					for _, g := range []*group{part, all} {
						if err := g.add(arguments, i); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := first.merge(second); err != nil {
					t.Fatal(err)
				}
				if got, want := first.text(), all.text(); !sameResult(got, want) {
					t.Fatalf("cut at %d: %s, want %s", cut, got, want)
				}
			})
		})
	}
}

// TestMergeByArrival holds EARLIEST_BY_OFFSET, and LATEST_BY_OFFSET of one value
// that may be null, against one group that takes all rows as they arrive.
func TestMergeByArrival(t *testing.T) {
	for _, u := range aggregateUses {
		switch {
		case u.name == "EARLIEST_BY_OFFSET":
		case u.name == "LATEST_BY_OFFSET" && len(u.constants) == 1 && u.constants[0] == false:
		default:
			continue
		}
		t.Run(u.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				const rows = 10
				arguments := u.drawArguments(t, rows)
				arrival := column.New(types.Bigint, rows)
				for i := range rows {
					arrival.SetInt(i, int64(i+1))
				}
				arguments = append(arguments, arrival)
				s := u.resolve(t, SessionUse)
				if !s.Arrival {
					t.Fatal("it does not ask for the arrival")
				}
				groups := []*group{groupOf(s), groupOf(s), groupOf(s)}
				all := groupOf(s)
				for i := range rows {
					for _, g := range []*group{groups[rapid.IntRange(0, 2).Draw(t, "group")], all} {
						if err := g.add(arguments, i); err != nil {
							t.Fatal(err)
						}
					}
				}
				for _, other := range groups[1:] {
					if err := groups[0].merge(other); err != nil {
						t.Fatal(err)
					}
				}
				if got, want := groups[0].text(), all.text(); got != want {
					t.Fatalf("%s, want %s", got, want)
				}
			})
		})
	}
}

// FuzzAggregateState gives accumulators bytes that are no state: they may fail,
// with ErrState, and must not do anything else that a state's owner cannot take.
func FuzzAggregateState(f *testing.F) {
	f.Add([]byte{}, []byte{1, 0, 0})
	f.Add(appendEntry(nil, 1, []byte{1, 4}, nil), []byte{0xFF, 0xFF, 0xFF})
	f.Add(appendEntry(nil, 1, []byte("a"), []byte{1}), appendEntry(appendEntry(nil, 1, nil, nil), 2, []byte{128, 0, 0, 0, 0, 0, 0, 1}, []byte{3, 2}))
	f.Add(append([]byte{exactForm}, make([]byte, 3*identityBytes)...), append([]byte{exactForm}, make([]byte, 3*(identityBytes+8))...))
	f.Add(append(newSketch(), 0)[:1+sketchRegisters], newSketch())
	f.Add(bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 12), make([]byte, 9*8)) // slots of DISTINCT that are not in order
	f.Add(bytes.Repeat([]byte{sketchForm}, 1+sketchRegisters), bytes.Repeat([]byte{200}, 1+sketchRegisters))
	f.Fuzz(func(t *testing.T, state, other []byte) {
		for _, u := range aggregateUses {
			state, other := state, other
			for _, use := range []Use{StreamUse, TableUse, SessionUse} {
				s := u.resolve(t, use)
				if s.Fixed(0) != nil {
					continue
				}
				arguments := Arguments{}
				for _, kind := range u.inputs {
					v := column.New(kind, 1)
					if !kind.Nested() {
						setZero(v)
					}
					arguments = append(arguments, v)
				}
				if s.Arrival {
					arguments = append(arguments, vector(types.Bigint, 7))
				}
				if u.name != "COUNT_DISTINCT" { // only its states are long and take no time a byte
					state, other = state[:min(len(state), 256)], other[:min(len(other), 256)]
				}
				checkState(t, u, s.Variable(), arguments, state, other, s.Result)
			}
		}
	})
}

func setZero(v *column.Vector) {
	switch v.Type.Kind {
	case types.KindDouble:
		v.SetDouble(0, 0)
	case types.KindDecimal:
		v.SetDecimal(0, types.Decimal{})
	case types.KindString:
		v.SetText(0, "a")
	default:
		v.SetInt(0, 0)
	}
}

func checkState(t *testing.T, u aggregateUse, a Variable, arguments Arguments, state, other []byte, result *types.Type) {
	t.Helper()
	_, _, addErr := a.Add(nil, state, arguments, 0)
	_, _, removeErr := a.Remove(nil, state, arguments, 0)
	_, mergeErr := a.Merge(nil, state, other)
	out := column.New(result, 1)
	resultErr := a.Result(state, out, 0)
	if resultErr != nil && !out.Null(0) {
		t.Errorf("%s: a result with the error %v", u, resultErr)
	}
	for _, err := range []error{addErr, removeErr, mergeErr, resultErr} {
		_, outOfRange := errors.AsType[*OutOfRangeError](err)
		known := errors.Is(err, ErrState) || errors.Is(err, errNotTakenOut) || errors.Is(err, types.ErrDecimalOverflow) || outOfRange
		if err != nil && !known {
			t.Errorf("%s: error %v", u, err)
		}
	}
}
