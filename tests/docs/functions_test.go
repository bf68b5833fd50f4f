package docs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/exec/fn"
	"millrace/exec/replay"
)

// family is a group of functions, as testdata/functions.txt has it.
type family struct {
	name  string
	intro string
	names []string // of functions, in the order of the page
}

// guide is what the page says beyond the registry.
type guide struct {
	families []*family
	examples map[string][]string // expressions by function
	notes    map[string]string
}

// readGuide reads lines of the forms
//
//	# family
//	: what is common to the family's functions
//	FUNCTION = an example
//	FUNCTION : a rule
func readGuide(t *testing.T, path string) *guide {
	t.Helper()
	g := &guide{examples: map[string][]string{}, notes: map[string]string{}}
	current := &family{}
	for line := range strings.SplitSeq(readFile(t, path), "\n") {
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			continue
		case name == "#":
			current = &family{name: rest}
			g.families = append(g.families, current)
			continue
		case name == ":":
			current.intro = rest
			continue
		}
		if !slices.Contains(current.names, name) {
			current.names = append(current.names, name)
		}
		switch {
		case strings.HasPrefix(rest, "= "):
			g.examples[name] = append(g.examples[name], rest[2:])
		case strings.HasPrefix(rest, ": "):
			g.notes[name] = rest[2:]
		default:
			t.Errorf("%s: no line of this form: %s", path, line)
		}
	}
	if len(g.families) == 0 {
		g.families = []*family{current}
	}
	return g
}

// check holds the guide to the registry: every function has its place, a doc
// and an example, and nothing else is there.
func (g *guide) check(t *testing.T, docs map[string]string) {
	t.Helper()
	listed := map[string]bool{}
	for _, f := range g.families {
		for _, name := range f.names {
			if _, known := docs[name]; !known {
				t.Errorf("%s is no function", name)
			}
			if listed[name] {
				t.Errorf("%s stands in two families", name)
			}
			listed[name] = true
		}
	}
	for name, doc := range docs {
		if len(g.examples[name]) == 0 {
			t.Errorf("%s has no example in testdata", name)
		}
		if !strings.HasSuffix(doc, ".") {
			t.Errorf("the doc of %s is no sentence: %q", name, doc)
		}
	}
}

// entry is a function's part of the page.
func entry(b *strings.Builder, name, doc, note string, signatures, examples []string, answers map[string]answer) {
	fmt.Fprintf(b, "### %s\n\n%s", name, doc)
	if note != "" {
		fmt.Fprintf(b, " %s", note)
	}
	fmt.Fprintf(b, "\n\n    %s\n\n", strings.Join(signatures, "\n    "))
	for _, e := range examples {
		fmt.Fprintf(b, "- %s: %s\n", code(e), answers[e].text())
	}
	b.WriteString("\n")
}

const functionsIntro = `# Functions

Made from the functions' own entries; each example was evaluated. Names are written in any case. Unless said otherwise, a null
argument gives null. A call that fails gives null and is reported with its row, and the query goes on: the examples say
"reported" then. Numbers widen to what a parameter takes, INTEGER to BIGINT to DECIMAL to DOUBLE; other types need CAST.

In a signature, a single letter is any type, the same at all its places; ` + "`T...`" + ` comes any number of times, also none; ` + "`DECIMAL`" + `
is one of any precision and scale, and as a result the type of the argument, or one that holds all arguments.

`

// scalarPart is the page's part of scalar and table functions.
func scalarPart(t *testing.T) string {
	t.Helper()
	g := readGuide(t, "testdata/functions.txt")
	functions, docs := map[string]*fn.Function{}, map[string]string{}
	for _, f := range fn.Functions() {
		functions[f.Name], docs[f.Name] = f, f.Doc
	}
	g.check(t, docs)
	var all []string
	for _, examples := range g.examples {
		all = append(all, examples...)
	}
	answers := evaluate(t, all)
	for e, a := range answers {
		if a.Refused != nil {
			t.Errorf("the example %s is refused: %v", e, a.Refused)
		}
	}
	var b strings.Builder
	for _, family := range g.families {
		fmt.Fprintf(&b, "## %s\n\n", family.name)
		if family.intro != "" {
			fmt.Fprintf(&b, "%s\n\n", family.intro)
		}
		for _, name := range family.names {
			if f := functions[name]; f != nil {
				entry(&b, name, f.Doc, g.notes[name], signatures(f), g.examples[name], answers)
			}
		}
	}
	return b.String()
}

func signatures(f *fn.Function) []string {
	var list []string
	for _, o := range f.Overloads {
		list = append(list, f.Name+o.Signature)
	}
	return list
}

// The rows that the examples of aggregates are computed of.
const (
	sampleDeclaration = `CREATE STREAM samples (g STRING KEY, n INT, s STRING, x DOUBLE, d DECIMAL(5, 2), l ARRAY<INT>)
		WITH (KAFKA_TOPIC = 'samples', VALUE_FORMAT = 'JSON', PARTITIONS = 1);`
	samplesIntro = `An aggregate function is used with GROUP BY, over a stream or a table: over a table, a row that changes or is deleted is taken out
of its group again. Parameters such as k and n must be literals.

The examples are over one group of these rows:

| ` + "`g` | `n` | `s` | `x` | `d` | `l` |" + `
|---|---|---|---|---|---|
`
)

var samples = []map[string]any{
	{"N": 3, "S": "b", "X": 1.5, "D": 1.25, "L": []int{1, 2}},
	{"N": 1, "S": "a", "X": 0.5, "D": 2.5, "L": []int{3}},
	{"N": nil, "S": "a", "X": 2.0, "D": nil, "L": nil},
	{"N": 3, "S": "c", "X": 4.0, "D": 0.25, "L": []int{}},
}

func samplesTable(t *testing.T) (table string, inputs []replay.Input) {
	t.Helper()
	var b strings.Builder
	for _, row := range samples {
		line := []string{"'k'"}
		for _, name := range []string{"N", "S", "X", "D", "L"} {
			cell, err := json.Marshal(row[name])
			if err != nil {
				t.Fatal(err)
			}
			line = append(line, strings.ReplaceAll(string(cell), `"`, "'"))
		}
		b.WriteString(tableLine(line) + "\n")
		value, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, replay.Input{Topic: "samples", Key: json.RawMessage(`"k"`), Value: value})
	}
	return b.String(), inputs
}

// aggregatePart is the page's part of aggregate functions.
func aggregatePart(t *testing.T) string {
	t.Helper()
	g := readGuide(t, "testdata/aggregates.txt")
	docs := map[string]string{}
	for _, a := range fn.Aggregates() {
		docs[a.Name] = a.Doc
	}
	g.check(t, docs)
	w := newWorkbench(t, sampleDeclaration)
	sinks := map[string]string{}
	for name := range docs {
		for i, e := range g.examples[name] {
			sinks[e] = fmt.Sprintf("%s_%d", name, i)
			if err := w.start(fmt.Sprintf("CREATE TABLE %s AS SELECT g, %s AS r FROM samples GROUP BY g;", sinks[e], e)); err != nil {
				t.Fatalf("the example %s is refused: %v", e, err)
			}
		}
	}
	table, inputs := samplesTable(t)
	w.run(inputs)
	answers := map[string]answer{}
	for e, sink := range sinks {
		a := w.answer(sink, nil)
		a.Values = a.Values[len(a.Values)-1:]
		answers[e] = a
	}
	var b strings.Builder
	b.WriteString("## Aggregate functions\n\n" + samplesIntro + table + "\n")
	for _, a := range fn.Aggregates() {
		note := g.notes[a.Name]
		if a.LimitProperty != "" {
			note = strings.TrimSpace(note + " The property `" + a.LimitProperty + "` limits the number of elements.")
		}
		entry(&b, a.Name, a.Doc, note, a.Forms, g.examples[a.Name], answers)
	}
	return b.String()
}

// TestFunctionsPage compares docs/functions.md with the registry.
func TestFunctionsPage(t *testing.T) {
	path := documents + "/functions.md"
	page := strings.TrimRight(functionsIntro+scalarPart(t)+aggregatePart(t), "\n") + "\n"
	if *update {
		settle(t, path, "", page)
		return
	}
	settle(t, path, readFile(t, path), page)
}
