package fn

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/sql/types"
)

// distinctGroup is a group of COUNT_DISTINCT with the numbers from..to in it.
// Adding them one by one would make the same, but takes long.
func distinctGroup(t *testing.T, from, to int) *group {
	t.Helper()
	g := newGroup(t, "COUNT_DISTINCT", types.Bigint)
	accumulator := g.variable.(*countDistinct)
	var identities []string
	v := column.New(types.Bigint, 1)
	for n := from; n < to; n++ {
		v.SetInt(0, int64(n))
		identities = append(identities, string(accumulator.identify(v, 0)))
	}
	slices.Sort(identities)
	state := append([]byte{exactForm}, strings.Join(identities, "")...)
	var err error
	if g.state, err = accumulator.Merge(nil, nil, state); err != nil {
		t.Fatal(err)
	}
	return g
}

func distinctCount(t *testing.T, g *group) float64 {
	t.Helper()
	n, err := strconv.Atoi(g.text())
	if err != nil {
		t.Fatal(err)
	}
	return float64(n)
}

func TestCountDistinctIsExactUpToItsLimit(t *testing.T) {
	g := distinctGroup(t, 0, exactDistinct)
	if n := distinctCount(t, g); n != exactDistinct {
		t.Fatalf("%v values, want %d", n, exactDistinct)
	}
	if isSketch(g.state) {
		t.Fatal("the limit itself is no longer exact")
	}
	v := vector(types.Bigint, 5, exactDistinct)
	for i := range 2 {
		if err := g.add(Arguments{v}, i); err != nil {
			t.Fatal(err)
		}
		if sketch := isSketch(g.state); sketch != (i == 1) {
			t.Fatalf("after row %d: a sketch %v", i, sketch)
		}
	}
	if len(g.state) > 1<<15 {
		t.Fatalf("a sketch of %d bytes", len(g.state))
	}
}

// TestDistinctValuesOneByOne holds the way that the tests make groups against
// adding the values.
func TestDistinctValuesOneByOne(t *testing.T) {
	const n = 500
	g := newGroup(t, "COUNT_DISTINCT", types.Bigint)
	v := column.New(types.Bigint, n)
	for i := range n {
		v.SetInt(i, int64(n-1-i))
		if err := g.add(Arguments{v}, i); err != nil {
			t.Fatal(err)
		}
	}
	if string(g.state) != string(distinctGroup(t, 0, n).state) {
		t.Error("the states differ")
	}
}

func TestCountDistinctBeyondItsLimit(t *testing.T) {
	for _, n := range []int{40_000, 100_000} {
		g := distinctGroup(t, 0, n)
		// Four standard errors of a sketch of this size; the values are fixed.
		if got := distinctCount(t, g); math.Abs(got/float64(n)-1) > 4*1.04/math.Sqrt(sketchRegisters) {
			t.Errorf("%d values: %v", n, got)
		}
		before := g.text()
		if err := g.merge(distinctGroup(t, 0, 1000)); err != nil {
			t.Fatal(err)
		}
		if g.text() != before {
			t.Errorf("%d values: merging some of them again gives %s, before %s", n, g.text(), before)
		}
	}
}

// TestSketchesMerge holds merged sketches against the sketch of all values,
// whichever side is exact.
func TestSketchesMerge(t *testing.T) {
	all := distinctGroup(t, 0, 40_000)
	for _, cut := range []int{100, 39_900} {
		first, second := distinctGroup(t, 0, cut), distinctGroup(t, cut, 40_000)
		if err := first.merge(second); err != nil {
			t.Fatal(err)
		}
		if string(first.state) != string(all.state) {
			t.Errorf("cut at %d: %s values, want %s", cut, first.text(), all.text())
		}
	}
	if empty, err := estimate(newSketch()); empty != 0 || err != nil {
		t.Errorf("an empty sketch: %d, %v", empty, err)
	}
}
