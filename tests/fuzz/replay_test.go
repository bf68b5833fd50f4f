package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/exec/replay"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// script is what a fuzzer's bytes stand for: schemas, statements that plan, and
// records.
type script struct {
	schemas []schema
	text    string
	inputs  []replay.Input
}

func newScript(t *testing.T, data []byte) script {
	ctx := context.Background()
	c := &choices{data}
	out := script{schemas: newSchemas(c)}
	r, err := replay.New(ctx, replay.Case{Topics: schemaTopics(out.schemas)}, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(ctx) //nolint:errcheck // only what it accepts counts
	g := &statements{choices: c, catalog: r.Session().Catalog(), schemas: out.schemas}
	for range 3 + c.n(mostStatements) {
		text := g.next()
		if err := r.Session().Script(ctx, text, nil); err == nil {
			out.text += text + "\n"
		}
	}
	declared := declaredIn(r.Session().Catalog())
	if len(declared) == 0 {
		return out
	}
	now := int64(c.n(2)) * 1_577_923_200_000
	for range c.n(80) {
		source := declared[c.n(len(declared))]
		now = c.later(now)
		in := record(c, source, now)
		if encodable(ctx, r, source, in) {
			out.inputs = append(out.inputs, in)
		}
	}
	return out
}

func declaredIn(c *catalog.Catalog) []*catalog.Source {
	return slices.DeleteFunc(c.Sources(), func(source *catalog.Source) bool { return source.CreatedBy != "" })
}

// later is the time of the next record: somewhat later, earlier, or far away.
func (c *choices) later(now int64) int64 {
	if c.chance(30) {
		return []int64{0, -1, 1 << 62, 253402300800000}[c.n(4)]
	}
	return now + int64(c.n(3000)) - 800
}

// encodable tells whether a source's formats take an input. JSON and DELIMITED
// take all.
func encodable(ctx context.Context, r *replay.Replay, source *catalog.Source, in replay.Input) bool {
	takesAll := []string{"JSON", "DELIMITED"}
	if slices.Contains(takesAll, source.KeyFormat.Name) && slices.Contains(takesAll, source.ValueFormat.Name) {
		return true
	}
	err := r.Run(ctx, "", []replay.Input{in}, func(replay.Output) error { return nil })
	return err == nil || !strings.HasPrefix(err.Error(), "input 1:")
}

func record(c *choices, source *catalog.Source, now int64) replay.Input {
	in := replay.Input{Topic: source.Topic, Timestamp: now, Key: json.RawMessage("null"), Value: json.RawMessage("null")}
	if len(source.Key) > 0 && !c.chance(12) {
		in.Key = object(c, source.Key, source.KeyFormat)
	}
	if !c.chance(12) {
		in.Value = object(c, source.Value, source.ValueFormat)
	}
	if source.Window != nil {
		start := now - now%10_000
		in.Window = &replay.Window{Start: start, End: start + 10_000, Type: "TIME"}
		if source.Window.Kind == catalog.Session {
			in.Window = &replay.Window{Start: now - 5, End: now, Type: "SESSION"}
		}
	}
	return in
}

func object(c *choices, columns []catalog.Column, of catalog.Format) json.RawMessage {
	if c.chance(25) {
		return json.RawMessage(c.pick(`{}`, `[]`, `"x"`, `12`, `{"I":{}}`, `{"I":99999999999999999999,"S":1e400}`, `{"i":1,"I":2,"s":null}`, `""`, `",,,,"`))
	}
	if of.Name == "DELIMITED" {
		fields := make([]string, len(columns))
		for i := range columns {
			fields[i] = c.pick("1", "a", "", "-3", "2020-01-02", "true")
		}
		text, _ := json.Marshal(strings.Join(fields, ",")) //nolint:errchkjson // a string always encodes
		return text
	}
	if len(columns) == 1 && (of.Unwrapped || of.Name == "KAFKA") {
		return json.RawMessage(value(c, columns[0].Type))
	}
	parts := make([]string, len(columns))
	for i, column := range columns {
		name, _ := json.Marshal(column.Name) //nolint:errchkjson // a string always encodes
		parts[i] = string(name) + ":" + value(c, column.Type)
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}")
}

func value(c *choices, t *types.Type) string {
	if c.chance(10) {
		return "null"
	}
	switch t.Kind {
	case types.KindBoolean:
		return c.pick("true", "false")
	case types.KindInteger, types.KindBigint, types.KindDate, types.KindTime, types.KindTimestamp:
		return c.pick("1", "0", "1", "0", "2", "-1", "3", "2147483647", "100000", "1577923200000")
	case types.KindDouble:
		return c.pick("1.5", "0", "-0.25", "1e300", "3")
	case types.KindDecimal:
		return c.pick("1.5", "0", "-0.25", "12.34")
	case types.KindArray:
		return "[" + value(c, t.Elem) + "," + value(c, t.Elem) + "]"
	case types.KindMap:
		return `{"a":` + value(c, t.Elem) + `,"b":` + value(c, t.Elem) + "}"
	case types.KindStruct:
		parts := make([]string, len(t.Fields))
		for i, field := range t.Fields {
			parts[i] = fmt.Sprintf("%q:%s", field.Name, value(c, field.Type))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return c.pick(`"a"`, `"b"`, `"a"`, `"b"`, `"a"`, `"c"`, `""`, `"é😀"`, `"12"`, `"2020-01-02"`, `"AAEC"`)
}

// run gives what the queries of a script write, topic by topic, and the error
// that ended it.
func (s script) run(t *testing.T, options replay.Options) (lines []string, failure string) {
	ctx := context.Background()
	r, err := replay.New(ctx, replay.Case{Topics: schemaTopics(s.schemas), Inputs: s.inputs}, options)
	if err != nil {
		t.Fatal(err)
	}
	var outputs []replay.Output
	err = r.Run(ctx, s.text, s.inputs, func(o replay.Output) error {
		outputs = append(outputs, o)
		return nil
	})
	if err != nil {
		failure = err.Error()
	}
	slices.SortStableFunc(outputs, func(a, b replay.Output) int { return strings.Compare(a.Topic, b.Topic) })
	for _, o := range outputs {
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("%s\nwrote %+v: %v", s, o, err)
		}
		lines = append(lines, string(line))
	}
	if err := r.Close(ctx); err != nil {
		t.Fatalf("%s\nclosing: %v", s, err)
	}
	return lines, failure
}

// FuzzReplay runs random scripts over random records: nothing panics, and the
// size of batches does not change what is written.
func FuzzReplay(f *testing.F) {
	addSeeds(f)
	f.Fuzz(replayScript)
}

func replayScript(t *testing.T, data []byte) {
	s := newScript(t, data)
	want, failure := s.run(t, replay.Options{Together: true, BatchRows: 1})
	if strings.Contains(failure, "panic") || strings.Contains(failure, "runtime error") {
		t.Fatalf("%s\nfailed: %s", s, failure)
	}
	if failure != "" {
		return
	}
	for _, rows := range []int{3, 1000} {
		got, failure := s.run(t, replay.Options{Together: true, BatchRows: rows})
		if failure != "" {
			t.Fatalf("%s\nfails in batches of %d: %s", s, rows, failure)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s\nin batches of %d:\n%s\nalone:\n%s", s, rows, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func (s script) String() string {
	var out strings.Builder
	out.WriteString(schemaText(s.schemas) + s.text)
	for _, in := range s.inputs {
		line, _ := json.Marshal(in) //nolint:errchkjson // its raw parts are written by the grammar
		out.Write(append(line, '\n'))
	}
	return out.String()
}
