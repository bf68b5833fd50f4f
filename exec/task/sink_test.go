package task

import (
	"fmt"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/kafkaio"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// written collects what a sink writes.
type written struct {
	lines   strings.Builder
	records []record
	to      []int32
}

func (w *written) write(partition int32, timestamp int64, key, value, headers []byte) error {
	fmt.Fprintf(&w.lines, "%d@%d %s = %s%s\n", partition, timestamp, bytesText(key), bytesText(value), strings.ToValidUTF8(string(headers), "?"))
	clone := func(b []byte) []byte {
		if b == nil {
			return nil
		}
		return append([]byte{}, b...)
	}
	w.records = append(w.records, record{time: timestamp, key: clone(key), value: clone(value)})
	w.to = append(w.to, partition)
	return nil
}

func (w *written) drop(_ *column.Batch, i int32, reason Reason, path, detail string) {
	fmt.Fprintf(&w.lines, "row %d dropped: %s: %s: %s\n", i, reason, path, detail)
}

func bytesText(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%q", b)
}

// change is one row of a batch: the row before and after, each nil or (K, A).
type change struct {
	time          int64
	before, after []any
}

// batchOf makes a batch of K STRING, A BIGINT, and the bounds of a window [10, 20).
func batchOf(changes ...change) *column.Batch {
	n := len(changes)
	kinds := []*types.Type{types.String, types.Bigint, types.Bigint, types.Bigint}
	b := &column.Batch{
		Len: n, Present: column.NewBitmap(n), PresentBefore: column.NewBitmap(n), Times: make([]int64, n), Partition: 5, Arena: &column.Arena{},
	}
	for _, kind := range kinds {
		b.Columns = append(b.Columns, column.New(kind, n))
		b.Before = append(b.Before, column.New(kind, n))
	}
	set := func(columns []*column.Vector, i int, values []any) {
		if text, ok := values[0].(string); ok {
			columns[0].SetText(i, text)
		}
		if number, ok := values[1].(int); ok {
			columns[1].SetInt(i, int64(number))
		}
		columns[2].SetInt(i, 10)
		columns[3].SetInt(i, 20)
	}
	for i, c := range changes {
		b.Times[i] = c.time
		if c.before != nil {
			b.PresentBefore.Set(i)
			set(b.Before, i, c.before)
			set(b.Columns, i, []any{c.before[0], nil})
		}
		if c.after != nil {
			b.Present.Set(i)
			set(b.Columns, i, c.after)
		}
	}
	b.SelectAll()
	return b
}

func schemaWith(changes bool) plan.Schema {
	return plan.Schema{
		Columns: []plan.Column{columnOf("K", types.String), columnOf("A", types.Bigint), columnOf("S", types.Bigint), columnOf("E", types.Bigint)},
		Key:     []int{0}, Changes: changes, KeepsBefore: changes, WindowStart: -1, WindowEnd: -1,
	}
}

func TestSink(t *testing.T) {
	row := func(values ...any) []any { return values }
	changes := []change{
		{time: 1, after: row("a", 1)},
		{time: 2, before: row("a", 1), after: row("a", -2)},
		{time: 3, before: row("a", 2)},
		{time: 4},
		{time: 5, after: row(nil, 3)},
	}
	for name, c := range map[string]struct {
		schema plan.Schema
		adjust func(*plan.Sink)
		want   string
	}{
		"table": {schemaWith(true), func(*plan.Sink) {}, `
0@1 "a" = "{\"A\":1}"
0@2 "a" = "{\"A\":-2}"
0@3 "a" = null
1@5 null = "{\"A\":3}"`},
		"stream": {schemaWith(false), func(*plan.Sink) {}, `
0@1 "a" = "{\"A\":1}"
0@2 "a" = "{\"A\":-2}"
0@3 "a" = null
1@4 null = null
1@5 null = "{\"A\":3}"`},
		"timestamp column": {schemaWith(true), func(s *plan.Sink) { s.Timestamp = &plan.Timestamp{Column: 1} }, `
0@1 "a" = "{\"A\":1}"
row 1 dropped: invalid timestamp: A: -2 is negative
0@3 "a" = null
1@3 null = "{\"A\":3}"`},
		"no key, no value": {schemaWith(false), func(s *plan.Sink) { s.Key, s.Value = nil, nil }, `
1@1 null = null
1@2 null = null
1@3 null = null
1@4 null = null
1@5 null = null`},
		"several keys": {schemaWith(false), func(s *plan.Sink) {
			s.KeyFormat, s.PassesNullKeys = catalog.Format{Name: "JSON"}, true
			s.Key = append(s.Key, plan.Field{Name: "A", Type: types.Bigint, Column: 1})
		}, `
1@1 "{\"K\":\"a\",\"A\":1}" = "{\"A\":1}"
2@2 "{\"K\":\"a\",\"A\":-2}" = "{\"A\":-2}"
0@3 "{\"K\":\"a\",\"A\":null}" = null
1@4 null = null
1@5 "{\"K\":null,\"A\":3}" = "{\"A\":3}"`},
	} {
		t.Run(name, func(t *testing.T) {
			n := &plan.Sink{
				Input: &plan.RepartitionSource{Output: c.schema}, Name: "OUT", Topic: "out",
				KeyFormat: catalog.Format{Name: "KAFKA", Unwrapped: true}, Key: []plan.Field{{Name: "K", Type: types.String, Column: 0}},
				ValueFormat: catalog.Format{Name: "JSON"}, Value: []plan.Field{{Name: "A", Type: types.Bigint, Column: 1}},
			}
			c.adjust(n)
			out := &written{}
			s, err := newSink(n, codecs{}, 4, SinkLimits{}, nil, out)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Push(0, batchOf(changes...)); err != nil {
				t.Fatal(err)
			}
			compareLines(t, out.lines.String(), c.want)
		})
	}
}

// A record that the broker would refuse, and its batch with it, is left out.
func TestSinkLimits(t *testing.T) {
	n := &plan.Sink{
		Input: &plan.RepartitionSource{Output: schemaWith(false)}, Name: "OUT", Topic: "out",
		KeyFormat: catalog.Format{Name: "KAFKA", Unwrapped: true}, Key: []plan.Field{{Name: "K", Type: types.String, Column: 0}},
	}
	limits := limitsOf(map[string]string{"max.message.bytes": "261", anyFuture: "1000"})
	out := &written{}
	s, err := newSink(n, codecs{}, 1, limits, func() int64 { return 50 }, out)
	if err != nil {
		t.Fatal(err)
	}
	changes := []change{
		{time: 1050, after: []any{"a", 1}}, {time: 1051, after: []any{"b", 1}}, {time: 1, after: []any{strings.Repeat("c", 300), 1}},
	}
	if err := s.Push(0, batchOf(changes...)); err != nil {
		t.Fatal(err)
	}
	compareLines(t, out.lines.String(), `
0@1050 "a" = null
row 1 dropped: not taken by the sink's topic: : the timestamp 1051 *
row 2 dropped: not taken by the sink's topic: : the record has *`)
	if none := limitsOf(map[string]string{anyFuture: noLimit}); none != (SinkLimits{}) {
		t.Errorf("limits %+v", none)
	}
}

// The window is behind the key, and has no part in the choice of the partition.
func TestSinkWritesWindowedKeys(t *testing.T) {
	schema := schemaWith(true)
	schema.Window, schema.WindowStart, schema.WindowEnd = &catalog.KeyWindow{Kind: catalog.Session}, 2, 3
	n := &plan.Sink{
		Input: &plan.RepartitionSource{Output: schema}, Name: "OUT", Topic: "out",
		KeyFormat: catalog.Format{Name: "KAFKA", Unwrapped: true}, Key: []plan.Field{{Name: "K", Type: types.String, Column: 0}},
	}
	out := &written{}
	s, err := newSink(n, codecs{}, 64, SinkLimits{}, nil, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Push(0, batchOf(change{time: 1, after: []any{"a", 1}})); err != nil {
		t.Fatal(err)
	}
	if key := string(out.records[0].key); key != "a\x00\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00\x00\x0a" {
		t.Errorf("key %q", key)
	}
	if want := kafkaio.PartitionFor([]byte("a"), 64); out.to[0] != want {
		t.Errorf("partition %d, want %d", out.to[0], want)
	}
}

// What goes through a repartition topic comes out as it was, under its new key.
func TestRepartitionRoundTrip(t *testing.T) {
	changes := []change{
		{time: 1, after: []any{"a", 1}},
		{time: 2, before: []any{"a", 1}, after: []any{"a", 1}},
		{time: 3, before: []any{"a", 1}, after: []any{"b", 2}},
		{time: 4, before: []any{"b", 2}},
		{time: 5, after: []any{nil, 9}},
		{time: 6},
	}
	for _, c := range []struct {
		changes bool
		keep    bool
		want    string
	}{
		{true, false, `
100@1 (a, 1, 10, 20)
101@2 before (a, 1, 10, 20) (a, 1, 10, 20)
102@3 before (a, 1, 10, 20) absent (a)
103@3 (b, 2, 10, 20)
104@4 before (b, 2, 10, 20) absent (b)`},
		{false, true, `
100@1 (a, 1, 10, 20)
101@2 (a, 1, 10, 20)
102@3 (b, 2, 10, 20)
103@4 absent (b)
104@5 (null, 9, 10, 20)
105@6 absent (null)`},
	} {
		schema := schemaWith(c.changes)
		n := &plan.RepartitionSink{
			Input: &plan.RepartitionSource{Output: schema}, Topic: "between", KeyFormat: catalog.Format{Name: "KAFKA", Unwrapped: true},
			Key: []plan.Field{{Name: "K", Type: types.String, Column: 0}}, KeepNullKeys: c.keep,
		}
		out := &written{}
		s, err := newRepartitionSink(n, codecs{}, 4, out)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Push(0, batchOf(changes...)); err != nil {
			t.Fatal(err)
		}
		if dropped := strings.Count(out.lines.String(), "dropped: null key"); dropped > 0 == c.keep {
			t.Errorf("%d rows without a key were dropped", dropped)
		}
		source := newRepartitionSource(&plan.RepartitionSource{Topic: "between", Output: schema})
		if err := source.read(recordsOf(out.records...), 0, len(out.records)); err != nil {
			t.Fatal(err)
		}
		compareLines(t, render(source.frame()), c.want)
	}
}

// Bytes that are no row of the topic are skipped, whatever they are.
func FuzzRepartitionSource(f *testing.F) {
	f.Add([]byte{rowAfter})
	f.Add([]byte{rowBefore | rowAfter, 3, 1, 2, 3})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, changes := range []bool{false, true} {
			source := newRepartitionSource(&plan.RepartitionSource{Topic: "between", Output: schemaWith(changes)})
			if err := source.read(recordsOf(record{value: value}, record{}), 0, 2); err != nil {
				t.Fatal(err)
			}
			if len(source.frame().batch.Selection)+len(source.frame().skipped) != 2 {
				t.Error("a record was neither read nor skipped")
			}
		}
	})
}
