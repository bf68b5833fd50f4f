package op

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"millrace/planner/plan"
	"millrace/state"

	"pgregory.net/rapid"
)

// slidingModel is the aggregation by the rules of Kafka Streams with the rows of
// every window.
type slidingModel struct {
	size, grace int64
	time        int64
	groups      map[int64]map[int64]*modelWindow
	lines       []string // what is put out
	final       bool
	late        []int64 // numbers of the rows that were late
}

// modelWindow are the rows of a window by their numbers, in the order they came.
type modelWindow struct {
	rows []int64
	time int64
}

func newSlidingModel(size, grace int64, final bool) *slidingModel {
	return &slidingModel{size: size, grace: grace, time: -1, groups: map[int64]map[int64]*modelWindow{}, final: final}
}

func (m *slidingModel) closed(start, time int64) bool { return start+m.size+m.grace < time }

// modelOutput is one record: windows come by their start.
type modelOutput struct {
	start int64
	line  string
}

// line is what textSink prints for a window.
func (m *slidingModel) line(group, start int64, w *modelWindow) string {
	list := strings.ReplaceAll(fmt.Sprint(w.rows), " ", ", ")
	return fmt.Sprintf("@%d %d, %d, %d, %d, %s (new)", w.time, group, start, start+m.size, len(w.rows), list)
}

// row takes row number n of a group.
func (m *slidingModel) row(group, t, n int64) {
	if t > m.time {
		if m.final {
			m.putOutClosed(t)
		}
		m.time = t
	}
	first := max(t-m.size, 0)
	if m.closed(first, m.time) {
		m.late = append(m.late, n)
	}
	if m.closed(t, m.time) {
		return
	}
	if m.groups[group] == nil {
		m.groups[group] = map[int64]*modelWindow{}
	}
	change := slidingModelRow{slidingModel: m, windows: m.groups[group], group: group, t: t, n: n}
	if t < m.size {
		change.early()
	} else {
		change.inOrder()
	}
	slices.SortStableFunc(change.outputs, func(a, b modelOutput) int { return cmp.Compare(a.start, b.start) })
	for _, o := range change.outputs {
		if !m.final {
			m.lines = append(m.lines, o.line)
		}
	}
}

func (m *slidingModel) putOutClosed(time int64) {
	type closing struct{ start, group int64 }
	var due []closing
	for group, windows := range m.groups {
		for start := range windows {
			if m.closed(start, time) && !m.closed(start, m.time) {
				due = append(due, closing{start, group})
			}
		}
	}
	slices.SortFunc(due, func(a, b closing) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.group, b.group))
	})
	for _, c := range due {
		m.lines = append(m.lines, m.line(c.group, c.start, m.groups[c.group][c.start]))
	}
}

// slidingModelRow is the work on one row.
type slidingModelRow struct {
	*slidingModel
	windows     map[int64]*modelWindow
	group, t, n int64
	outputs     []modelOutput
}

func (c *slidingModelRow) set(start int64, w modelWindow) {
	c.windows[start] = &w
	c.outputs = append(c.outputs, modelOutput{start, c.line(c.group, start, &w)})
}

// add puts the row into a window that holds the rows of base.
func (c *slidingModelRow) add(start int64, base *modelWindow) {
	if c.closed(start, c.time) {
		return
	}
	w := modelWindow{time: c.t}
	if base != nil {
		w.rows, w.time = slices.Clone(base.rows), max(c.t, base.time)
	}
	w.rows = append(w.rows, c.n)
	c.set(start, w)
}

// starts are those of the group's windows from one time to another, the latest first.
func (c *slidingModelRow) starts(from, to int64) []int64 {
	var list []int64
	for start := range c.windows {
		if start >= from && start <= to {
			list = append(list, start)
		}
	}
	slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
	return list
}

func (c *slidingModelRow) makeRight(base *modelWindow) {
	if base != nil && base.time > c.t && c.windows[c.t+1] == nil {
		c.set(c.t+1, *base)
	}
}

func (c *slidingModelRow) inOrder() {
	var left, right *modelWindow
	newest, own := int64(-1), false
	for _, start := range c.starts(c.t-2*c.size, c.t) {
		w, end := c.windows[start], start+c.size
		if end < c.t {
			if end+c.grace+c.size+1 >= c.time { // else it is forgotten
				left, newest = w, w.time
			}
			break
		}
		if end > c.t && right == nil {
			right = w
		}
		c.add(start, w)
		if end == c.t {
			own = true
			if newest = w.time; newest == c.t {
				return
			}
		}
	}
	if newest >= 0 && c.windows[newest+1] == nil && newest+1+c.size >= c.t {
		c.add(newest+1, nil)
	}
	if !own {
		var base *modelWindow
		if newest >= c.t-c.size {
			base = &modelWindow{rows: left.rows, time: c.t}
		}
		c.add(c.t-c.size, base)
	}
	c.makeRight(right)
}

func (c *slidingModelRow) early() {
	combined, right := c.windows[0], (*modelWindow)(nil)
	for _, start := range c.starts(1, c.t) {
		w := c.windows[start]
		if right == nil {
			right = w
		}
		c.add(start, w)
	}
	if right == nil {
		right = combined
	}
	c.makeRight(right)
	if combined != nil && combined.time < c.t && c.windows[combined.time+1] == nil {
		c.add(combined.time+1, nil)
	}
	c.add(0, combined)
}

// slidingRows puts out the number of rows and their column A for each window.
func slidingRows(size, grace int64, emitFinal bool) *plan.Subgraph {
	a := aggregateOf(stream("K BIGINT key, A BIGINT"), "K", sliding(size, grace), "COUNT", "COLLECT_LIST A")
	a.Output.KeepsBefore = false
	a.Final = emitFinal
	return subgraphOf(a)
}

// drawSlidingRows draws rows of few groups that lie around each other's windows:
// column A is the row's number.
func drawSlidingRows(t *rapid.T, size, grace int64) []record {
	edge := rapid.SampledFrom([]int64{0, 1, size - 1, size, size + 1, 2 * size, 2*size + 1, grace, size + grace, size + grace + 1})
	var records []record
	time := rapid.SampledFrom([]int64{0, 1, size, 5 * size}).Draw(t, "begin")
	for n := range rapid.IntRange(1, 40).Draw(t, "rows") {
		step := rapid.Int64Range(-size, size).Draw(t, "step")
		if rapid.Bool().Draw(t, "at an edge") {
			if step = edge.Draw(t, "edge"); rapid.IntRange(0, 2).Draw(t, "back") == 0 {
				step = -step
			}
		}
		time = max(time+step, 0)
		group := rapid.Int64Range(1, 2).Draw(t, "group")
		records = append(records, record{time: time, present: true, values: []any{group, int64(n)}})
	}
	return records
}

// TestSlidingAgainstRows holds what is put out, at any batch size and with any
// commits, rollbacks and restarts, against a model that keeps all rows.
func TestSlidingAgainstRows(t *testing.T) {
	for _, emitFinal := range []bool{false, true} {
		t.Run(fmt.Sprintf("final=%v", emitFinal), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.Int64Range(1, 12).Draw(t, "size")
				grace := rapid.SampledFrom([]int64{0, 1, 3, 10, 100, 1000}).Draw(t, "grace")
				records := drawSlidingRows(t, size, grace)
				model := newSlidingModel(size, grace, emitFinal)
				for _, r := range records {
					model.row(r.values[0].(int64), r.time, r.values[1].(int64))
				}
				h := newHarness(t, slidingRows(size, grace, emitFinal), false)
				transactions(t, h, []run{{records: records}})
				if !slices.Equal(lineTexts(h.sink.lines), lineTexts(model.lines)) {
					t.Fatalf("size %d, grace %d: got\n%s\nwant\n%s", size, grace,
						strings.Join(h.sink.lines, "\n"), strings.Join(model.lines, "\n"))
				}
				var late []string
				for _, n := range model.late {
					late = append(late, fmt.Sprintf("late: offset %d", n))
				}
				if !slices.Equal(h.notes, late) {
					t.Fatalf("noted %v, want %v", h.notes, late)
				}
			})
		})
	}
}

// lineTexts are lines without what is said of the row before the change.
func lineTexts(lines []string) []string {
	var list []string
	for _, line := range lines {
		text, _, _ := strings.Cut(line, " (")
		list = append(list, text)
	}
	return list
}

// TestSlidingAgainstDefinition holds the windows, while none closes, against
// what sliding windows are: a window for each row and the rows before it, and one
// for the rows behind each row.
func TestSlidingAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const grace = 1 << 40
		size := rapid.Int64Range(1, 12).Draw(t, "size")
		records := drawSlidingRows(t, size, 3)
		h := newHarness(t, slidingRows(size, grace, false), true)
		transactions(t, h, []run{{records: records}})
		got := map[string]string{}
		for _, line := range lineTexts(h.sink.lines) {
			parts := strings.SplitN(line, ", ", 4)
			_, group, _ := strings.Cut(parts[0], " ")
			got[group+", "+parts[1]] = line
		}
		want := map[string]string{}
		define := func(group, start int64) {
			w := modelWindow{}
			for _, r := range records {
				if r.values[0] == group && r.time >= start && r.time <= start+size {
					w.rows, w.time = append(w.rows, r.values[1].(int64)), max(w.time, r.time)
				}
			}
			if len(w.rows) > 0 {
				want[fmt.Sprintf("%d, %d", group, start)] = lineTexts([]string{newSlidingModel(size, grace, false).line(group, start, &w)})[0]
			}
		}
		for _, r := range records {
			define(r.values[0].(int64), max(r.time-size, 0))
			define(r.values[0].(int64), r.time+1)
		}
		for key, line := range want {
			if got[key] != line {
				t.Fatalf("size %d: got %q, want %q", size, got[key], line)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("size %d: got %v, want %v", size, got, want)
		}
	})
}

// TestSlidingAtTheEndOfTime takes rows at the greatest timestamps.
func TestSlidingAtTheEndOfTime(t *testing.T) {
	const end = math.MaxInt64
	h := newHarness(t, slidingRows(10, 5, false), false)
	records := []record{
		{time: end - 3, present: true, values: []any{int64(1), int64(1)}},
		{time: end, present: true, values: []any{int64(1), int64(2)}},
		{time: end, present: true, values: []any{int64(1), int64(3)}},
		{time: end - 1, present: true, values: []any{int64(1), int64(4)}},
	}
	for _, r := range records {
		if err := h.push(0, []record{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.commit(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"@9223372036854775804 1, 9223372036854775794, 9223372036854775804, 1, [1]",
		"@9223372036854775807 1, 9223372036854775797, 9223372036854775807, 2, [1, 2]",
		"@9223372036854775807 1, 9223372036854775805, 9223372036854775807, 1, [2]",
		"@9223372036854775807 1, 9223372036854775797, 9223372036854775807, 3, [1, 2, 3]",
		"@9223372036854775807 1, 9223372036854775805, 9223372036854775807, 2, [2, 3]",
		"@9223372036854775806 1, 9223372036854775796, 9223372036854775806, 2, [1, 4]",
		"@9223372036854775807 1, 9223372036854775797, 9223372036854775807, 4, [1, 2, 3, 4]",
		"@9223372036854775807 1, 9223372036854775805, 9223372036854775807, 3, [2, 3, 4]",
		"@9223372036854775807 1, 9223372036854775807, 9223372036854775807, 2, [2, 3]",
	}
	if got := lineTexts(h.sink.lines); !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSlidingRefuses(t *testing.T) {
	tests := []struct {
		name string
		node *plan.Aggregate
		want string
	}{
		{"no size", aggregateOf(stream(streamColumns), "K", sliding(0, 5), "COUNT"), "sliding window of size 0, grace 5 ms"},
		{"grace", aggregateOf(stream(streamColumns), "K", sliding(10, -1), "COUNT"), "sliding window of size 10, grace -1 ms"},
		{"table", aggregateOf(table(tableColumns), "G", sliding(10, 5), "COUNT"), "a windowed aggregation of a table has no meaning"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := newSlidingAggregate(test.node, &Environment{}, &discard{}); err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestSlidingCorruptPages takes rows over pages that are no pages.
func TestSlidingCorruptPages(t *testing.T) {
	for name, calls := range map[string][]string{"fixed": {"COUNT"}, "variable": {"COUNT", "COLLECT_LIST A"}} {
		t.Run(name, func(t *testing.T) {
			subgraph := subgraphOf(aggregateOf(stream("K BIGINT key, A BIGINT"), "K", sliding(10, 5), calls...))
			for length := 1; length < 60; length++ {
				h := newHarness(t, subgraph, false)
				r := record{time: 50, present: true, values: []any{int64(1), int64(2)}}
				if err := h.push(0, []record{r}); err != nil {
					t.Fatal(err)
				}
				corrupted := false
				h.task.Stores()[0].Touched(func(table *state.Table, row state.Row) {
					page := slices.Clone(table.Variable(row))
					if length < len(page) {
						corrupted = true
						table.SetVariable(row, page[:length])
					}
				})
				if err := h.push(0, []record{r}); corrupted != errors.Is(err, state.ErrCorrupt) {
					t.Fatalf("%d bytes of a page: %v", length, err)
				}
			}
		})
	}
}
