package task

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"millrace/exec/column"
	"millrace/kafkaio"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// record is one input record; nil key or value is null.
type record struct {
	time    int64
	key     []byte
	value   []byte
	headers []kafkaio.Header
}

func recordsOf(list ...record) *kafkaio.Records {
	r := &kafkaio.Records{TopicPartition: kafkaio.TopicPartition{Topic: "in", Partition: 3}}
	for i, rec := range list {
		r.Offsets = append(r.Offsets, int64(100+i))
		r.Timestamps = append(r.Timestamps, rec.time)
		r.Keys = append(r.Keys, rec.key)
		r.Values = append(r.Values, rec.value)
		r.Headers = append(r.Headers, kafkaio.AppendHeaders(nil, rec.headers))
	}
	r.Next = int64(100 + len(list))
	return r
}

// render is a frame as text: a line a selected row, then the skipped rows.
func render(f *frame) string {
	var out strings.Builder
	b := &f.batch
	for _, i := range b.Selection {
		fmt.Fprintf(&out, "%d@%d", b.Offsets[i], b.Times[i])
		if b.Before != nil && b.PresentBefore.Get(int(i)) {
			out.WriteString(" before " + rowText(b.Before, int(i)))
		}
		if b.Present.Get(int(i)) {
			out.WriteString(" " + rowText(b.Columns, int(i)) + "\n")
		} else {
			out.WriteString(" absent " + rowText(b.Columns[:1], int(i)) + "\n")
		}
	}
	for _, s := range f.skipped {
		fmt.Fprintf(&out, "%d skipped: %s: %s: %s\n", b.Offsets[s.row], s.reason, s.path, s.detail)
	}
	return out.String()
}

func rowText(columns []*column.Vector, i int) string {
	parts := make([]string, len(columns))
	for c, v := range columns {
		parts[c] = valueText(v, i)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func valueText(v *column.Vector, i int) string {
	switch {
	case v.Null(i):
		return "null"
	case v.Type.Kind == types.KindString || v.Type.Kind == types.KindBytes:
		return v.Texts[i]
	case v.Type.Kind == types.KindArray:
		var parts []string
		for n := range int(v.Spans[i].Len) {
			parts = append(parts, valueText(v.Children[0], int(v.Spans[i].Start)+n))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case v.Type.Kind == types.KindStruct:
		return rowText(v.Children, i)
	}
	return fmt.Sprint(v.Ints[i])
}

func columnOf(name string, t *types.Type) plan.Column { return plan.Column{Name: name, Type: t} }

// simpleSource has a STRING key K, and the value columns A BIGINT and B STRING.
func simpleSource(more ...plan.Column) *plan.Source {
	columns := append([]plan.Column{columnOf("K", types.String), columnOf("A", types.Bigint), columnOf("B", types.String)}, more...)
	return &plan.Source{
		Name: "S", Topic: "in",
		KeyFormat:   catalog.Format{Name: "KAFKA", Unwrapped: true},
		KeyFields:   []plan.Field{{Name: "K", Type: types.String, Column: 0}},
		ValueFormat: catalog.Format{Name: "JSON"},
		ValueFields: []plan.Field{{Name: "A", Type: types.Bigint, Column: 1}, {Name: "B", Type: types.String, Column: 2}},
		Pseudo:      plan.NoPseudo,
		Output:      plan.Schema{Columns: columns, Key: []int{0}, WindowStart: -1, WindowEnd: -1},
	}
}

func TestSource(t *testing.T) {
	table := simpleSource()
	table.Output.Changes = true
	pseudo := simpleSource(columnOf("ROWTIME", types.Bigint), columnOf("ROWPARTITION", types.Integer), columnOf("ROWOFFSET", types.Bigint))
	pseudo.Pseudo = plan.Pseudo{RowTime: 3, RowPartition: 4, RowOffset: 5, WindowStart: -1, WindowEnd: -1}
	timed := simpleSource()
	timed.Timestamp = &plan.Timestamp{Column: 1}
	formatted := simpleSource()
	formatted.Timestamp = &plan.Timestamp{Column: 2, Format: "yyyy-MM-dd HH:mm:ss"}
	keyed := simpleSource()
	keyed.KeyFields[0].Type, keyed.Output.Columns[0].Type = types.Bigint, types.Bigint
	keyed.Timestamp = &plan.Timestamp{Column: 0}
	windowed := simpleSource(columnOf("WINDOWSTART", types.Bigint), columnOf("WINDOWEND", types.Bigint))
	windowed.KeyWindow = &catalog.KeyWindow{Kind: catalog.Hopping, Size: 30}
	windowed.Pseudo.WindowStart, windowed.Pseudo.WindowEnd = 3, 4
	sessions := simpleSource(columnOf("WINDOWSTART", types.Bigint), columnOf("WINDOWEND", types.Bigint))
	sessions.KeyWindow = &catalog.KeyWindow{Kind: catalog.Session}
	sessions.Pseudo = windowed.Pseudo
	header := types.StructOf(types.Field{Name: "KEY", Type: types.String}, types.Field{Name: "VALUE", Type: types.Bytes})
	headers := simpleSource(columnOf("H", types.ArrayOf(header)), columnOf("X", types.Bytes))
	headers.Headers = []plan.HeaderField{{Column: 3}, {Key: "x", Column: 4}}
	unread := simpleSource()
	unread.ValueFields[0].Column, unread.ValueFields[1].Column = -1, -1

	value := []byte(`{"A":7,"B":"2001-02-03 04:05:06"}`)
	list := []kafkaio.Header{{Key: "x", Value: []byte("1")}, {Key: "y"}, {Key: "x", Value: []byte("2")}}
	for name, c := range map[string]struct {
		source  *plan.Source
		records []record
		want    string
	}{
		"stream": {simpleSource(), []record{
			{time: 5, key: []byte("k"), value: value},
			{time: 6, value: value},
			{time: 7, key: []byte("k")},
			{time: 8, key: []byte("k"), value: []byte(`{"A":"x"}`)},
			{time: 9, key: []byte("\xff"), value: []byte(`{}`)},
			{time: -1, key: []byte("k"), value: value},
			{time: 11, key: []byte{}, value: []byte(`{}`)},
		}, `
100@5 (k, 7, 2001-02-03 04:05:06)
101@6 (null, 7, 2001-02-03 04:05:06)
102@7 absent (k)
106@11 (, null, null)
103 skipped: undecodable value: A: *
104 skipped: undecodable key: K: *
105 skipped: invalid timestamp: : the record's timestamp is -1`},
		"table": {table, []record{
			{time: 5, key: []byte("k"), value: value}, {time: 6, value: value}, {time: 7, key: []byte("k")},
		}, `
100@5 (k, 7, 2001-02-03 04:05:06)
102@7 absent (k)
101 skipped: null key: :`},
		"pseudo columns": {pseudo, []record{{time: 5, key: []byte("k"), value: value}, {time: 6}}, `
100@5 (k, 7, 2001-02-03 04:05:06, 5, 3, 100)
101@6 absent (null)`},
		"timestamp column": {timed, []record{
			{time: 5, value: value}, {time: 6}, {time: 7, value: []byte(`{"A":-1}`)}, {time: 8, value: []byte(`{}`)}, {time: -9},
		}, `
100@7 (null, 7, 2001-02-03 04:05:06)
101@6 absent (null)
102 skipped: invalid timestamp: A: -1 is negative
103 skipped: invalid timestamp: A: the column is null
104 skipped: invalid timestamp: : the record's timestamp is -9`},
		"timestamp format": {formatted, []record{{time: 5, value: value}, {time: 6, value: []byte(`{"B":"soon"}`)}}, `
100@981173106000 (null, 7, 2001-02-03 04:05:06)
101 skipped: invalid timestamp: B: *`},
		"timestamp in the key": {keyed, []record{{time: 5, key: binary.BigEndian.AppendUint64(nil, 77)}, {time: 6, value: value}}, `
100@77 absent (77)
101 skipped: invalid timestamp: K: the column is null`},
		"windowed key": {windowed, []record{
			{time: 5, key: []byte("k\x00\x00\x00\x00\x00\x00\x00\x0a"), value: value}, {time: 5, key: []byte("k"), value: value},
		}, `
100@5 (k, 7, 2001-02-03 04:05:06, 10, 40)
101 skipped: undecodable key: : 1 bytes are too few for a windowed key`},
		"session key": {sessions, []record{
			{time: 5, key: []byte("k\x00\x00\x00\x00\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x0a"), value: value},
		}, `100@5 (k, 7, 2001-02-03 04:05:06, 10, 12)`},
		"headers": {headers, []record{{time: 5, value: value, headers: list}, {time: 6, value: []byte(`{}`)}}, `
100@5 (null, 7, 2001-02-03 04:05:06, [(x, 1), (y, null), (x, 2)], 2)
101@6 (null, null, null, [], null)`},
		"nothing wanted": {unread, []record{{time: 5, value: value}, {time: 6, value: []byte(`{`)}}, `
100@5 (null, null, null)
101 skipped: undecodable value: : *`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := newSource(c.source, codecs{})
			if err != nil {
				t.Fatal(err)
			}
			records := recordsOf(c.records...)
			for range 2 { // the second time in memory that was used before
				if err := s.read(records, 0, len(c.records)); err != nil {
					t.Fatal(err)
				}
				compareLines(t, render(s.frame()), c.want)
			}
		})
	}
}

// compareLines takes a * at the end of a line of want for anything.
func compareLines(t *testing.T, got, want string) {
	t.Helper()
	gotLines := strings.Split(strings.TrimSpace(got), "\n")
	wantLines := strings.Split(strings.TrimSpace(want), "\n")
	same := len(gotLines) == len(wantLines)
	for i := 0; same && i < len(gotLines); i++ {
		prefix, any := strings.CutSuffix(wantLines[i], "*")
		line := strings.TrimSpace(gotLines[i])
		same = line == strings.TrimSpace(wantLines[i]) || any && strings.HasPrefix(line, prefix) && len(line) > len(prefix)
	}
	if !same {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInvalidTimestampEndsStrictQuery(t *testing.T) {
	n := simpleSource()
	n.Timestamp = &plan.Timestamp{Column: 1, FailOnInvalid: true}
	s, err := newSource(n, codecs{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.read(recordsOf(record{time: 1, value: []byte(`{"A":null}`)}), 0, 1)
	if err == nil || !strings.Contains(err.Error(), "topic in, partition 3: the timestamp of the record at offset 100 is not valid: the column is null") {
		t.Errorf("error %v", err)
	}
}

func TestWindowedKeyRoundTrip(t *testing.T) {
	for _, window := range []*catalog.KeyWindow{{Kind: catalog.Tumbling, Size: 5}, {Kind: catalog.Session}} {
		key := appendWindow([]byte("key"), window, 10, 15)
		bare, start, end, ok := splitWindow(key, window)
		if !ok || string(bare) != "key" || start != 10 || end != 15 {
			t.Errorf("%s: %q %d %d %t", window.Kind, bare, start, end, ok)
		}
		if _, _, _, ok := splitWindow(key[:windowBytes(window)-1], window); ok {
			t.Errorf("%s: a key that is too short passed", window.Kind)
		}
	}
}

// Reading costs no allocation a record.
func TestSourceDoesNotAllocate(t *testing.T) {
	s, err := newSource(simpleSource(), codecs{})
	if err != nil {
		t.Fatal(err)
	}
	list := make([]record, 1000)
	for i := range list {
		list[i] = record{time: int64(i), key: []byte("key"), value: []byte(`{"A":12,"B":"text"}`)}
	}
	records := recordsOf(list...)
	read := func() {
		if err := s.read(records, 0, len(list)); err != nil {
			t.Error(err)
		}
	}
	read()
	if allocations := testing.AllocsPerRun(10, read); allocations > 10 {
		t.Errorf("%v allocations for %d records", allocations, len(list))
	}
}
