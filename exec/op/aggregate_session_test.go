package op

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/planner/plan"
	"millrace/state"
	"millrace/state/memory"

	"pgregory.net/rapid"
)

// modelSession is a session with all its rows.
type modelSession struct {
	key, start, end int64
	rows            []record // in the order in which they came to the session
	putOut          bool
}

// sessionModel is an aggregation over sessions by its definition: it looks at all
// sessions there ever were for each row.
type sessionModel struct {
	gap, grace int64
	final      bool
	streamTime int64
	sessions   []*modelSession
	lines      []string
	late       int
}

func (m *sessionModel) closed(s *modelSession) bool { return s.end+m.gap+m.grace < m.streamTime }

func (m *sessionModel) take(r record) {
	if !r.present || r.values[0] == nil {
		return
	}
	m.streamTime = max(m.streamTime, r.time)
	m.putOutClosed()
	merged := &modelSession{key: r.values[0].(int64), start: r.time, end: r.time}
	var joined []*modelSession
	for _, s := range m.sessions {
		if s.key == merged.key && !m.closed(s) && s.start <= r.time+m.gap && s.end >= r.time-m.gap {
			joined = append(joined, s)
		}
	}
	slices.SortFunc(joined, func(a, b *modelSession) int { return cmp.Compare(a.start, b.start) })
	for _, s := range joined {
		merged.start, merged.end = min(merged.start, s.start), max(merged.end, s.end)
		merged.rows = append(merged.rows, s.rows...)
	}
	merged.rows = append(merged.rows, r)
	if m.closed(merged) {
		m.late++
		return
	}
	m.sessions = slices.DeleteFunc(m.sessions, func(s *modelSession) bool { return slices.Contains(joined, s) })
	m.sessions = append(m.sessions, merged)
	if m.final {
		return
	}
	before := "(new)"
	for _, s := range joined {
		if s.start == s.end && merged.start == merged.end {
			before = "(was " + s.text() + ")"
			continue
		}
		m.lines = append(m.lines, fmt.Sprintf("@%d delete %d, %d, %d (was %s)", s.end, s.key, s.start, s.end, s.text()))
	}
	m.lines = append(m.lines, fmt.Sprintf("@%d %s %s", merged.end, merged.text(), before))
}

func (m *sessionModel) putOutClosed() {
	if !m.final {
		return
	}
	var due []*modelSession
	for _, s := range m.sessions {
		if !s.putOut && m.closed(s) {
			s.putOut = true
			due = append(due, s)
		}
	}
	slices.SortFunc(due, func(a, b *modelSession) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.key, b.key)) })
	for _, s := range due {
		m.lines = append(m.lines, fmt.Sprintf("@%d %s (new)", s.end, s.text()))
	}
}

// text is key, bounds, COUNT(*), SUM(A), MAX(G) and COLLECT_LIST(A).
func (s *modelSession) text() string {
	sum, greatest := int64(0), "null"
	var list []string
	for _, r := range s.rows {
		number := "null"
		if a, ok := r.values[2].(int64); ok {
			sum += a
			number = fmt.Sprint(a)
		}
		list = append(list, number)
		if g, ok := r.values[1].(string); ok && (greatest == "null" || "'"+g+"'" > greatest) {
			greatest = "'" + g + "'"
		}
	}
	return fmt.Sprintf("%d, %d, %d, %d, %d, %s, [%s]", s.key, s.start, s.end, len(s.rows), sum, greatest, strings.Join(list, ", "))
}

// drawSessionRows makes rows of few keys, close to each other and with jumps in
// time, at distances of the gap and the grace too.
func drawSessionRows(t *rapid.T, gap, grace int64) []record {
	var rows []record
	time := rapid.Int64Range(0, 50).Draw(t, "first time")
	for range rapid.IntRange(1, 80).Draw(t, "rows") {
		switch rapid.IntRange(0, 7).Draw(t, "step") {
		case 0:
			time += rapid.SampledFrom([]int64{gap, gap + 1, gap + grace, gap + grace + 1}).Draw(t, "forth")
		case 1:
			time -= rapid.SampledFrom([]int64{gap, gap + 1, 2 * gap, gap + grace, grace + 1}).Draw(t, "back")
		case 2:
			time += rapid.Int64Range(-3*(gap+grace), 2*(gap+grace)).Draw(t, "jump")
		default:
			time += rapid.Int64Range(-2*gap, 2*gap).Draw(t, "walk")
		}
		time = max(time, 0)
		r := record{time: time, present: rapid.IntRange(0, 15).Draw(t, "absent") > 0}
		r.values = []any{nil, nil, nil}
		if rapid.IntRange(0, 15).Draw(t, "no key") > 0 {
			r.values[0] = rapid.Int64Range(1, 2).Draw(t, "key")
		}
		if r.present && rapid.IntRange(0, 5).Draw(t, "no text") > 0 {
			r.values[1] = rapid.SampledFrom([]string{"a", "b", "longer than a cell"}).Draw(t, "text")
		}
		if r.present && rapid.IntRange(0, 5).Draw(t, "no number") > 0 {
			r.values[2] = rapid.Int64Range(-5, 5).Draw(t, "number")
		}
		rows = append(rows, r)
	}
	return rows
}

// logged is a changelog record.
type logged struct{ key, value []byte }

// sessionWorld runs rows through an aggregation whose state goes to a changelog,
// and from memory to a byte store after each commit.
type sessionWorld struct {
	*harness
	subgraph *plan.Subgraph
	holdBack bool
	spills   bool
	disk     string
	log      []logged
}

func (w *sessionWorld) open(t *rapid.T) {
	options := state.Options{}
	if w.spills {
		w.disk += "x"
		options = state.Options{
			Directory: w.disk, OpenBackend: memory.NewDisk().Open, QueryHash: "q", BootID: "boot",
			Budget: state.NewBudget(1), SliceRows: 3,
		}
	}
	former := w.harness
	if former != nil {
		if err := former.task.Close(true); err != nil {
			t.Fatal(err)
		}
	}
	w.harness = newHarnessOver(t, w.subgraph, w.holdBack, options)
	if former != nil {
		w.sink.lines, w.sink.committed, w.notes = former.sink.lines, former.sink.committed, former.notes
	}
	for _, r := range w.log {
		if err := w.task.Store("AGG").Restore(r.key, r.value); err != nil {
			t.Fatal(err)
		}
	}
	w.restart(t)
}

func (w *sessionWorld) commit(t *rapid.T) {
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	err := w.task.Store("AGG").Changes(func(key, value []byte, _ int64) error {
		w.log = append(w.log, logged{slices.Clone(key), slices.Clone(value)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.task.Store("AGG").Commit()
	w.sink.committed = len(w.sink.lines)
	for range rapid.IntRange(0, 5).Draw(t, "checkpoints") {
		if err := w.task.Checkpoint(map[string]int64{"AGG": int64(len(w.log))}); err != nil {
			t.Fatal(err)
		}
	}
}

// run takes the rows in batches of random sizes, with commits, rollbacks and
// restores from the changelog.
func (w *sessionWorld) run(t *rapid.T, rows []record) {
	w.open(t)
	from := 0 // the first row that is not committed
	for at := 0; at < len(rows); {
		n := min(len(rows)-at, rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "batch"))
		if err := w.push(0, rows[at:at+n]); err != nil {
			t.Fatal(err)
		}
		at += n
		switch rapid.IntRange(0, 4).Draw(t, "then") {
		case 0:
			w.commit(t)
			from = at
		case 1:
			w.rollback()
			if err := w.push(0, rows[from:at]); err != nil { // the same rows, in other batches
				t.Fatal(err)
			}
		case 2:
			w.commit(t)
			from = at
			w.open(t)
		}
	}
	w.commit(t)
}

// TestSessionsAgainstModel holds aggregations over sessions of all sizes against
// the definition.
func TestSessionsAgainstModel(t *testing.T) {
	directory := t.TempDir()
	number := 0
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.SampledFrom([]int64{1, 2, 5, 30}).Draw(t, "gap")
		grace := rapid.SampledFrom([]int64{0, 1, 10, 700, 5000, 200_000}).Draw(t, "grace")
		model := &sessionModel{gap: gap, grace: grace, streamTime: -1, final: rapid.Bool().Draw(t, "final")}
		node := aggregateOf(stream(streamColumns), "K", sessions(gap, grace), "COUNT", "SUM A", "MAX G", "COLLECT_LIST A")
		node.Final = model.final
		number++
		w := &sessionWorld{
			subgraph: subgraphOf(node), holdBack: rapid.Bool().Draw(t, "hold back"),
			spills: rapid.Bool().Draw(t, "spills"), disk: filepath.Join(directory, fmt.Sprint(number), "s"),
		}
		rows := drawSessionRows(t, gap, grace)
		for _, r := range rows {
			model.take(r)
		}
		w.run(t, rows)
		if w.holdBack && !model.final {
			compareTables(t, w.subgraph, w.sink.lines, model.lines)
			return
		}
		if !slices.Equal(w.sink.lines, model.lines) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(w.sink.lines, "\n"), strings.Join(model.lines, "\n"))
		}
	})
}

// compareTables compares what tables two logs of changes come to.
func compareTables(t *rapid.T, subgraph *plan.Subgraph, lines, want []string) {
	schema := subgraph.Root.Schema()
	wantTable, err := tableOf(schema, want)
	if err != nil {
		t.Fatal(err)
	}
	table, err := tableOf(schema, lines)
	if err != nil {
		t.Fatalf("%v in\n%s", err, strings.Join(lines, "\n"))
	}
	if got, wanted := tableText(table), tableText(wantTable); got != wanted {
		t.Fatalf("got\n%s\nwant\n%s\nfrom\n%s", got, wanted, strings.Join(lines, "\n"))
	}
}

func tableText(table map[string]string) string {
	var lines []string
	for key, row := range table {
		lines = append(lines, key+": "+row)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
