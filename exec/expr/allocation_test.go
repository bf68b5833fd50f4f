//go:build !race

package expr

import (
	"testing"

	"millrace/exec/column"
	"millrace/exec/fn"
)

// The race detector makes pools of memory forget at random, so allocations are
// counted without it.

// allocates lists what may allocate for each row, and why.
var allocates = map[string]string{
	`REGEXP_EXTRACT('(\w+)-(\d+)', S, 2)`: matchesAreSlices,
	`REGEXP_EXTRACT_ALL('\d', S)`:         matchesAreSlices,
	`REGEXP_EXTRACT_ALL('(\w)e', S, 1)`:   matchesAreSlices,
	`REGEXP_REPLACE(S, '\d+', '#')`:       matchesAreSlices,
	`REGEXP_REPLACE(S, '(\w)-', '$1+')`:   matchesAreSlices,
	`REGEXP_SPLIT_TO_ARRAY(LIST, ',')`:    matchesAreSlices,
}

const matchesAreSlices = "the standard library returns the places of matches in new slices"

// TestCallsDoNotAllocate evaluates each call over a batch until its buffers
// have grown; then a whole batch may cost only a few allocations.
func TestCallsDoNotAllocate(t *testing.T) {
	const perBatch = 8
	batch, columns := ordinaryBatch()
	called := map[string]bool{}
	for _, m := range measuredCalls(t) {
		called[m.function] = true
		failures := failureCount(0)
		kernel := m.compile(t, columns, &failures)
		evaluate := func() {
			batch.Arena.Reset()
			kernel.Eval(batch, batch.Selection)
		}
		evaluate()
		allocations := testing.AllocsPerRun(3, evaluate)
		if v := kernel.Eval(batch, batch.Selection); failures > 0 || v.Null(0) && v.Null(1) && v.Null(2) {
			t.Errorf("%s: %d failures, or no results", m.text, failures)
		}
		switch excused := allocates[m.text] != ""; {
		case !excused && allocations > perBatch:
			t.Errorf("%s allocates %.2f times a row", m.text, allocations/column.MaxRows)
		case excused && allocations <= perBatch:
			t.Errorf("%s does not allocate and needs no excuse", m.text)
		}
	}
	for _, f := range fn.Functions() {
		if !called[f.Name] {
			t.Errorf("%s is not among the calls of testdata/calls.list", f.Name)
		}
	}
}
