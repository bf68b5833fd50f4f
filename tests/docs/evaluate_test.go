package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"millrace/exec"
	"millrace/exec/replay"
	"millrace/exec/task"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// answer is what came of an expression.
type answer struct {
	Type     string   // of the result; empty if it was refused
	Values   []string // SQL texts, one a row that was written
	Failures []string // what was reported at run time
	Refused  *types.Error
}

// text is the answer as the documents print it.
func (a answer) text() string {
	if a.Refused != nil {
		return "refused"
	}
	values := make([]string, len(a.Values))
	for i, v := range a.Values {
		values[i] = code(v)
	}
	text := strings.Join(values, ", ")
	if len(values) == 0 {
		text = "no row"
	}
	if len(a.Failures) > 0 {
		text += ", reported"
	}
	return text
}

// code is a text in Markdown's back quotes.
func code(text string) string {
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

// workbench runs queries over recorded rows and collects what they write.
type workbench struct {
	t        *testing.T
	replay   *replay.Replay
	failures map[string][]string // by the query's sink
	values   map[string][]string
}

func newWorkbench(t *testing.T, declarations string) *workbench {
	t.Helper()
	w := &workbench{t: t, failures: map[string][]string{}, values: map[string][]string{}}
	r, err := replay.New(t.Context(), replay.Case{}, replay.Options{Events: exec.Events{RowError: w.rowError}})
	if err != nil {
		t.Fatal(err)
	}
	w.replay = r
	if err := r.Session().Script(t.Context(), declarations, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workbench) rowError(e task.RowError) {
	if q, ok := w.replay.Session().Catalog().Query(e.Query); ok {
		w.failures[q.Sink] = append(w.failures[q.Sink], e.Err.Error())
	}
}

// start executes one statement, which may be refused.
func (w *workbench) start(statement string) *types.Error {
	w.t.Helper()
	err := w.replay.Session().Script(w.t.Context(), statement, nil)
	if err == nil {
		return nil
	}
	var refused *types.Error
	if !errors.As(err, &refused) {
		w.t.Fatalf("%s: %v", statement, err)
	}
	return refused
}

// run feeds the inputs. Each output's column R is kept by its sink.
func (w *workbench) run(inputs []replay.Input) {
	w.t.Helper()
	err := w.replay.Run(w.t.Context(), "", inputs, func(o replay.Output) error {
		value := "null"
		if string(o.Value) != "null" {
			var row map[string]json.RawMessage
			if err := json.Unmarshal(o.Value, &row); err != nil {
				return err
			}
			column := w.column(o.Topic)
			value = sqlText(row[column.Name], column.Type)
		}
		w.values[o.Topic] = append(w.values[o.Topic], value)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.replay.Close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// column is the first value column of a sink.
func (w *workbench) column(sink string) catalog.Column {
	source, ok := w.replay.Session().Catalog().Source(sink)
	if !ok || len(source.Value) == 0 {
		w.t.Fatalf("there is no sink %s with a value", sink)
	}
	return source.Value[0]
}

func (w *workbench) answer(sink string, refused *types.Error) answer {
	if refused != nil {
		return answer{Refused: refused}
	}
	return answer{Type: w.column(sink).Type.String(), Values: w.values[sink], Failures: w.failures[sink]}
}

// sqlText writes a value of a JSON record as SQL does.
func sqlText(raw json.RawMessage, t *types.Type) string {
	text := string(raw)
	if text == "null" {
		return text
	}
	number := func() int64 {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0
		}
		return v
	}
	switch t.Kind {
	case types.KindDate:
		return string(types.AppendDate(nil, number()))
	case types.KindTime:
		return string(types.AppendTime(nil, number()))
	case types.KindTimestamp:
		return string(types.AppendTimestamp(nil, number()))
	case types.KindString:
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
	}
	return spaced(text)
}

// spaced puts a blank behind the commas and colons of a JSON text.
func spaced(text string) string {
	var b strings.Builder
	quoted := false
	for i := range len(text) {
		c := text[i]
		b.WriteByte(c)
		switch {
		case c == '"' && (i == 0 || text[i-1] != '\\'):
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// evaluate computes expressions without columns, each in a query of its own
// over one record.
func evaluate(t *testing.T, expressions []string) map[string]answer {
	t.Helper()
	w := newWorkbench(t, `CREATE STREAM one (id INT KEY, x INT) WITH (KAFKA_TOPIC = 'one', VALUE_FORMAT = 'JSON', PARTITIONS = 1);`)
	refused := map[string]*types.Error{}
	sinks := map[string]string{}
	for i, e := range expressions {
		sinks[e] = fmt.Sprintf("E%d", i)
		refused[e] = w.start(fmt.Sprintf("CREATE STREAM %s AS SELECT id, %s AS r FROM one;", sinks[e], e))
	}
	w.run([]replay.Input{{Topic: "one", Key: json.RawMessage("1"), Value: json.RawMessage(`{"X": 1}`)}})
	answers := map[string]answer{}
	for e := range maps.Keys(sinks) {
		answers[e] = w.answer(sinks[e], refused[e])
	}
	return answers
}
