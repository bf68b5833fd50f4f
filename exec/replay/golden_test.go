package replay

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func outputs(texts ...string) *answer {
	a := &answer{shared: map[string]bool{}}
	for _, text := range texts {
		topic, value, _ := strings.Cut(text, ":")
		a.records = append(a.records, Output{Topic: topic, Key: json.RawMessage(`"k"`), Value: json.RawMessage(value)})
	}
	return a
}

// TestDiffer: answers of two ways to feed the inputs are the same if each topic
// has the same records in order, whatever the order among topics.
func TestDiffer(t *testing.T) {
	shared := outputs("a:2", "a:1")
	shared.shared["a"] = true
	failed := outputs()
	failed.err = errors.New("refused")
	for name, test := range map[string]struct {
		first, second *answer
		same          bool
	}{
		"equal":              {outputs("a:1", "b:2"), outputs("a:1", "b:2"), true},
		"topics interleaved": {outputs("a:1", "b:2", "a:3"), outputs("b:2", "a:1", "a:3"), true},
		"another order":      {outputs("a:1", "a:2"), outputs("a:2", "a:1"), false},
		"another value":      {outputs("a:1"), outputs("a:2"), false},
		"one missing":        {outputs("a:1", "a:2"), outputs("a:1"), false},
		"several writers":    {shared, outputs("a:1", "a:2"), true},
		"one fails":          {outputs("a:1"), failed, false},
		"both fail":          {failed, failed, true},
	} {
		if got := differ("first", test.first, "second", test.second); (got == "") != test.same {
			t.Errorf("%s: same is to be %v, differences %q", name, test.same, got)
		}
	}
}

// TestOrdered: one record at a time is compared with all together only where
// the order is the only one possible.
func TestOrdered(t *testing.T) {
	input := func(topic string, timestamp int64) Input { return Input{Topic: topic, Timestamp: timestamp} }
	for name, test := range map[string]struct {
		inputs []Input
		timed  bool
		want   bool
	}{
		"one topic":         {[]Input{input("a", 5), input("a", 1)}, false, true},
		"growing times":     {[]Input{input("a", 1), input("b", 2), input("a", 3)}, false, true},
		"equal times":       {[]Input{input("a", 1), input("b", 1)}, false, false},
		"falling times":     {[]Input{input("a", 2), input("b", 1)}, false, false},
		"times of a column": {[]Input{input("a", 1), input("b", 2)}, true, false},
	} {
		g := &golden{recorded: Case{Inputs: test.inputs}}
		if got := g.ordered(&answer{timed: test.timed}); got != test.want {
			t.Errorf("%s: ordered is %v", name, got)
		}
	}
}

// TestDiffLines: a diff says what to take away and what to add to get from the
// first list to the second.
func TestDiffLines(t *testing.T) {
	list := func(text string) (lines []diffLine) {
		for i, word := range strings.Fields(text) {
			lines = append(lines, diffLine{text: word, shown: word, number: i + 1})
		}
		return lines
	}
	for _, test := range []struct{ want, got, marks string }{
		{"", "", ""},
		{"a b c", "a b c", ""},
		{"a b c", "a c", " -  "},
		{"a c", "a b c", " + "},
		{"a b", "c d", "--++"},
		{"a b c d e f g h", "a b c x e f g h", "  -+  "},
	} {
		var marks strings.Builder
		for line := range strings.Lines(diffLines(list(test.want), list(test.got))) {
			if !strings.Contains(line, "...") {
				marks.WriteByte(line[0])
			}
		}
		if strings.TrimRight(marks.String(), " ") != strings.TrimRight(test.marks, " ") {
			t.Errorf("from %q to %q: marks %q, not %q", test.want, test.got, marks.String(), test.marks)
		}
	}
	long := diffLines(list(strings.Repeat("x ", 5000)), list(strings.Repeat("y ", 5000)))
	if n := strings.Count(long, "\n"); n > mostShown+1 {
		t.Errorf("a long diff has %d lines", n)
	}
}

func writeTest(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const doubling = `CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON');
CREATE STREAM t AS SELECT k, v * 2 AS v FROM s;`

// TestKSQLForm: timestamps and the order of fields need not be given, values do
// count, and topics that are not named do not.
func TestKSQLForm(t *testing.T) {
	const input = `{"inputs": [{"topic": "s", "timestamp": 7, "key": "a", "value": {"v": 1}}]}`
	for name, test := range map[string]struct {
		output string
		pass   bool
	}{
		"equal":             {`{"outputs": [{"topic": "T", "timestamp": 7, "key": "a", "value": {"V": 2}}]}`, true},
		"no timestamp":      {`{"outputs": [{"topic": "T", "key": "a", "value": {"V": 2}}]}`, true},
		"another timestamp": {`{"outputs": [{"topic": "T", "timestamp": 8, "key": "a", "value": {"V": 2}}]}`, false},
		"another value":     {`{"outputs": [{"topic": "T", "key": "a", "value": {"V": 3}}]}`, false},
		"one too many":      {`{"outputs": [{"topic": "T", "key": "a", "value": {"V": 2}}, {"topic": "T", "key": "a", "value": {"V": 2}}]}`, false},
		"another topic":     {`{"outputs": [{"topic": "U", "key": "a", "value": {"V": 2}}]}`, false},
		"none named":        {`{"outputs": []}`, true},
	} {
		folder := writeTest(t, map[string]string{ksqlStatements: doubling, ksqlInput: input, ksqlOutput: test.output})
		verdict, err := RunGolden(t.Context(), folder, false)
		if err != nil {
			t.Fatal(err)
		}
		if (verdict.Differences == "") != test.pass {
			t.Errorf("%s: to pass: %v, differences %q", name, test.pass, verdict.Differences)
		}
	}
}

// TestBadFiles: a fault of a test's files is named with file and line.
func TestBadFiles(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		fault string
	}{
		"no JSON":         {map[string]string{inputFile: "{\"topic\":\"s\"}\n\n{\"topic\":"}, "input.jsonl:3: "},
		"unknown field":   {map[string]string{inputFile: `{"topic":"s","tmestamp":1}`}, "input.jsonl:1: "},
		"no topic":        {map[string]string{inputFile: `{"key":"a"}`}, "input.jsonl:1: the record has no topic"},
		"bad properties":  {map[string]string{propertiesFile: `[]`}, "properties.json: "},
		"no property":     {map[string]string{propertiesFile: `{"auto.offset.rest": "x"}`}, "properties.json: there is no property auto.offset.rest"},
		"nothing to meet": {nil, "expected.jsonl does not exist; write it with --update"},
		"bad expectation": {map[string]string{expectedFile: "x"}, "expected.jsonl:1: "},
	} {
		files := map[string]string{statementsFile: doubling, inputFile: `{"topic":"s","key":"a","value":{"v":1}}`}
		for file, text := range test.files {
			files[file] = text
		}
		if _, err := RunGolden(t.Context(), writeTest(t, files), false); err == nil || !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%s: error %v, not %q", name, err, test.fault)
		}
	}
}
