package fuzz

import (
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
	for range 2 + c.n(mostStatements) {
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
	for range c.n(40) {
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

// run gives what the queries write and count, or why one failed.
func (s rawScript) run(t *testing.T, rows int) (lines []string, failure string) {
	t.Helper()
	p := newPipeline(s.schemas, exec.Options{BatchRows: rows})
	defer p.close(t)
	if err := p.session.Script(t.Context(), s.text, nil); err != nil {
		return nil, err.Error()
	}
	p.produce(t, s.records)
	if failure := p.settle(t); failure != "" {
		return nil, failure
	}
	return p.results(t), ""
}

// FuzzBytes runs random scripts over records of any bytes, most of them nearly
// valid: nothing panics, and the size of batches changes neither what is written
// nor what is counted.
func FuzzBytes(f *testing.F) {
	addSeeds(f)
	f.Fuzz(runBytes)
}

func runBytes(t *testing.T, data []byte) {
	s := newRawScript(t, data)
	want, failure := s.run(t, 1)
	if strings.Contains(failure, "panic") || strings.Contains(failure, "runtime error") {
		t.Fatalf("%s\nfailed: %s", s, failure)
	}
	if failure != "" {
		return
	}
	for _, rows := range []int{3, 1000} {
		got, failure := s.run(t, rows)
		if failure != "" {
			t.Fatalf("%s\nfails in batches of %d: %s", s, rows, failure)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s\nin batches of %d:\n%s\nalone:\n%s", s, rows, joinLines(got), joinLines(want))
		}
	}
}
