package fuzz

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"millrace/exec"
)

// rawScript is what a fuzzer's bytes stand for: schemas, statements that plan,
// and records of any bytes.
type rawScript struct {
	schemas []schema
	text    string
	records []rawRecord
}

func newRawScript(t *testing.T, data []byte) rawScript {
	t.Helper()
	c := &choices{data}
	out := rawScript{schemas: newSchemas(c)}
	p := newPipeline(out.schemas, exec.Options{})
	defer p.close(t)
	g := &statements{choices: c, catalog: p.session.Catalog(), schemas: out.schemas}
	for range 3 + c.n(mostStatements) {
		text := g.next()
		if err := p.session.Script(t.Context(), text, nil); err == nil {
			out.text += text + "\n"
		}
	}
	declared := declaredIn(p.session.Catalog())
	if len(declared) == 0 {
		return out
	}
	of := payloads{c, p.registry}
	for _, source := range declared {
		out.schemas = append(out.schemas, of.describe(source)...)
	}
	now := int64(c.n(2)) * 1_577_923_200_000
	for range c.n(80) {
		now = c.later(now)
		out.records = append(out.records, of.record(declared[c.n(len(declared))], now))
	}
	return out
}

func (s rawScript) String() string {
	lines := []string{schemaText(s.schemas) + s.text}
	for _, r := range s.records {
		lines = append(lines, r.String())
	}
	return joinLines(lines)
}

// outcome is what comes of a run.
type outcome struct {
	lines   []string          // what the queries write and count
	tables  map[string]string // the last rows of tables, by topic and key
	failure string            // why a query failed
}

func (s rawScript) run(t *testing.T, options exec.Options) outcome {
	t.Helper()
	p := newPipeline(s.schemas, options)
	defer p.close(t)
	if err := p.session.Script(t.Context(), s.text, nil); err != nil {
		return outcome{failure: err.Error()}
	}
	p.produce(t, s.records)
	if failure := p.settle(t); failure != "" {
		return outcome{failure: failure}
	}
	return outcome{lines: p.results(t), tables: p.tables(t)}
}

// FuzzBytes runs random scripts over records of any bytes, most of them nearly
// valid: nothing panics, the size of batches changes neither what is written nor
// what is counted, and holding output back leaves the same tables.
func FuzzBytes(f *testing.F) {
	addSeeds(f)
	f.Fuzz(runBytes)
}

func runBytes(t *testing.T, data []byte) {
	s := newRawScript(t, data)
	want := s.run(t, exec.Options{BatchRows: 1})
	if strings.Contains(want.failure, "panic") || strings.Contains(want.failure, "runtime error") {
		t.Fatalf("%s\nfailed: %s", s, want.failure)
	}
	if want.failure != "" {
		return
	}
	for _, rows := range []int{3, 1000} {
		got := s.run(t, exec.Options{BatchRows: rows})
		if got.failure != "" {
			t.Fatalf("%s\nfails in batches of %d: %s", s, rows, got.failure)
		}
		if !slices.Equal(got.lines, want.lines) {
			t.Fatalf("%s\nin batches of %d:\n%s\nalone:\n%s", s, rows, joinLines(got.lines), joinLines(want.lines))
		}
	}
	held := s.run(t, exec.Options{HoldBack: true})
	if held.failure != "" || !maps.Equal(held.tables, want.tables) {
		t.Fatalf("%s\nheld back: %s\n%s\nnot held back:\n%s", s, held.failure, firstDifference(held.tables, want.tables), joinLines(want.lines))
	}
}
