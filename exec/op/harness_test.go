package op

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/exec/fn"
	"millrace/planner/plan"
	"millrace/sql/types"
	"millrace/state"
)

// record is one row of an input.
type record struct {
	time    int64
	present bool
	values  []any // nil, bool, int64, float64, string, types.Decimal
}

// harness runs a subgraph over rows and keeps what it puts out as text.
type harness struct {
	subgraph *plan.Subgraph
	task     *state.Task
	env      *Environment
	pipeline *Pipeline
	sink     *textSink
	notes    []string // counted rows and row errors
	offset   int64
	arena    column.Arena
}

// reporter is what a harness needs of *testing.T and *rapid.T.
type reporter interface {
	Helper()
	Fatal(arguments ...any)
	Fatalf(format string, arguments ...any)
}

func newHarness(t reporter, subgraph *plan.Subgraph, holdBack bool) *harness {
	t.Helper()
	return newHarnessOver(t, subgraph, holdBack, state.Options{})
}

// newHarnessOver keeps the state as the options say.
func newHarnessOver(t reporter, subgraph *plan.Subgraph, holdBack bool, options state.Options) *harness {
	t.Helper()
	task, err := state.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{subgraph: subgraph, task: task}
	for _, s := range subgraph.Stores {
		layout, err := StoreLayout(subgraph, s.Name)
		if err != nil {
			t.Fatal(err)
		}
		task.AddStore(s.Name, layout, s.Windowed)
	}
	if _, _, ok := task.Trusted(); ok {
		t.Fatal("a state in memory is trusted")
	}
	h.env = &Environment{
		Store: func(name string) (*state.Store, error) {
			if s := task.Store(name); s != nil {
				return s, nil
			}
			return nil, fmt.Errorf("no store %s", name)
		},
		Expressions: &expr.Environment{Errors: h},
		Count: func(counter Counter, b *column.Batch, row int32) {
			h.note("%s: offset %d", [...]string{"late", "null key", "null value"}[counter], b.Offsets[row])
		},
		HoldBack: holdBack,
	}
	h.sink = &textSink{schema: subgraph.Root.Schema()}
	h.restart(t)
	return h
}

func (h *harness) note(format string, args ...any) {
	h.notes = append(h.notes, fmt.Sprintf(format, args...))
}

// RowError implements column.Errors.
func (h *harness) RowError(b *column.Batch, i int, what string, err error) {
	place := ""
	if b.Offsets != nil {
		place = fmt.Sprintf(" at offset %d", b.Offsets[i])
	}
	h.note("row error%s: %s: %v", place, what, err)
}

// restart builds the operators anew over the same stores.
func (h *harness) restart(t reporter) {
	t.Helper()
	var err error
	if h.pipeline, err = Build(h.subgraph, h.env, h.sink); err != nil {
		t.Fatal(err)
	}
}

// push hands rows to an input as one batch.
func (h *harness) push(input int, records []record) error {
	schema := h.subgraph.Inputs[input].Schema()
	h.arena.Reset()
	b := makeBatch(schema, records, &h.arena)
	for i := range records {
		b.Offsets[i] = h.offset
		h.offset++
	}
	return h.pipeline.Push(input, b)
}

func makeBatch(schema plan.Schema, records []record, arena *column.Arena) *column.Batch {
	b := &column.Batch{
		Len: len(records), Present: column.NewBitmap(len(records)), Arena: arena,
		Times: make([]int64, len(records)), Offsets: make([]int64, len(records)),
	}
	for _, c := range schema.Columns {
		b.Columns = append(b.Columns, column.New(c.Type, len(records)))
	}
	for i, r := range records {
		b.Times[i] = r.time
		b.Present.SetTo(i, r.present)
		for c, value := range r.values {
			set(b.Columns[c], i, value)
		}
	}
	b.SelectAll()
	return b
}

func set(v *column.Vector, i int, value any) {
	switch value := value.(type) {
	case bool:
		v.SetBool(i, value)
	case int64:
		v.SetInt(i, value)
	case float64:
		v.SetDouble(i, value)
	case string:
		v.SetText(i, value)
	case types.Decimal:
		v.SetDecimal(i, value)
	}
}

func (h *harness) flush() error { return h.pipeline.Flush() }

func (h *harness) commit() error {
	if err := h.flush(); err != nil {
		return err
	}
	for _, s := range h.task.Stores() {
		s.Commit()
	}
	h.sink.committed = len(h.sink.lines)
	return nil
}

// rollback takes the transaction back, with its output.
func (h *harness) rollback() {
	for _, s := range h.task.Stores() {
		s.Rollback()
	}
	h.sink.lines = h.sink.lines[:h.sink.committed]
}

// textSink keeps batches as lines of text.
type textSink struct {
	schema    plan.Schema
	lines     []string
	committed int // lines
	batches   int
}

func (s *textSink) Push(_ int, b *column.Batch) error {
	s.batches++
	if b.Len > column.MaxRows || len(b.Selection) == 0 {
		return fmt.Errorf("a batch of %d rows, %d selected", b.Len, len(b.Selection))
	}
	for _, i := range b.Selection {
		s.lines = append(s.lines, s.line(b, int(i)))
	}
	return nil
}

func (s *textSink) Flush() error { return nil }

// line is `@time values`, with `novalue` or `delete` and the key where there is
// no row, and the row before a change in parentheses.
func (s *textSink) line(b *column.Batch, i int) string {
	text := fmt.Sprintf("@%d ", b.Times[i])
	switch {
	case !s.schema.Changes && !b.Present.Get(i):
		text += "novalue " + rowText(b.Columns, i)
	case !b.Present.Get(i):
		text += "delete " + keyText(s.schema, b.Columns, i)
	default:
		text += rowText(b.Columns, i)
	}
	switch {
	case !s.schema.Changes || !s.schema.KeepsBefore:
	case b.PresentBefore.Get(i):
		text += " (was " + rowText(b.Before, i) + ")"
	default:
		text += " (new)"
	}
	return text
}

func keyText(schema plan.Schema, columns []*column.Vector, i int) string {
	var parts []string
	for _, c := range schema.Key {
		parts = append(parts, valueText(columns[c], i))
	}
	if schema.Window != nil {
		parts = append(parts, valueText(columns[schema.WindowStart], i), valueText(columns[schema.WindowEnd], i))
	}
	return strings.Join(parts, ", ")
}

func rowText(columns []*column.Vector, i int) string {
	var parts []string
	for _, v := range columns {
		parts = append(parts, valueText(v, i))
	}
	return strings.Join(parts, ", ")
}

func valueText(v *column.Vector, i int) string {
	if v.Null(i) {
		return "null"
	}
	switch v.Type.Kind {
	case types.KindBoolean:
		return strconv.FormatBool(v.Bools[i])
	case types.KindDouble:
		return string(types.AppendDouble(nil, v.Doubles[i]))
	case types.KindDecimal:
		return v.Decimals[i].Text(v.Type.Scale)
	case types.KindString, types.KindBytes:
		return "'" + v.Texts[i] + "'"
	case types.KindArray, types.KindMap, types.KindStruct:
		return string(fn.AppendText(nil, v, i))
	}
	return strconv.FormatInt(v.Ints[i], 10)
}

// parseRecord reads a line as textSink writes it: `@time values`, or after
// `novalue` or `delete` the first columns only.
func parseRecord(schema plan.Schema, line string) (record, error) {
	time, rest, ok := strings.Cut(strings.TrimPrefix(line, "@"), " ")
	if !ok || line[0] != '@' {
		return record{}, fmt.Errorf("line %q is not `@time values`", line)
	}
	r := record{present: true}
	var err error
	if r.time, err = strconv.ParseInt(time, 10, 64); err != nil {
		return record{}, err
	}
	for _, word := range []string{"novalue ", "delete "} {
		if after, found := strings.CutPrefix(rest, word); found {
			r.present, rest = false, after
		}
	}
	for c, text := range strings.Split(rest, ", ") {
		if c == len(schema.Columns) {
			return record{}, fmt.Errorf("line %q has more than %d values", line, c)
		}
		value, err := parseValue(schema.Columns[c].Type, text)
		if err != nil {
			return record{}, fmt.Errorf("line %q: %w", line, err)
		}
		r.values = append(r.values, value)
	}
	if r.present && len(r.values) < len(schema.Columns) {
		return record{}, fmt.Errorf("line %q has %d values, want %d", line, len(r.values), len(schema.Columns))
	}
	return r, nil
}

func parseValue(t *types.Type, text string) (any, error) {
	if text == "null" {
		return nil, nil
	}
	switch t.Kind {
	case types.KindBoolean:
		return strconv.ParseBool(text)
	case types.KindDouble:
		if text == "-0.0" {
			return math.Copysign(0, -1), nil
		}
		return strconv.ParseFloat(text, 64)
	case types.KindDecimal:
		return types.ParseDecimal(text, t)
	case types.KindString, types.KindBytes:
		return strings.Trim(text, "'"), nil
	}
	return strconv.ParseInt(text, 10, 64)
}
