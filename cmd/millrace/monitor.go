package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"millrace/exec"
	"millrace/exec/task"
	"millrace/planner"
	"millrace/planner/plan"
)

// mostExamples is how many records a query's summary shows of each reason.
const mostExamples = 3

// monitor counts what queries do and keeps examples of what they left out. Its
// methods are safe for concurrent use.
type monitor struct {
	alert func(format string, args ...any) // tells of trouble at once

	mu       sync.Mutex // guards what follows
	queries  map[string]*record
	failed   chan struct{} // closed when all queries have failed
	troubles int
}

// record is what is known of one query.
type record struct {
	transient bool // a SELECT of its own, which is told of at its end
	keeps     bool // it keeps the rows of a table and writes nothing
	begun     time.Time
	last      time.Time    // of the last commit
	inner     map[int]bool // subgraphs that write to the query itself
	in, out   int64
	restored  int64
	dropped   bool // a local copy of its state, which was told
	late      examples
	rows      examples
	skipped   map[task.Reason]*examples
	failure   error
}

// examples are a number of events and the first of them.
type examples struct {
	count int64
	texts []string
}

// add counts an event. Work that is rolled back is done again, and tells of the
// same events again, which are no further examples.
func (e *examples) add(event fmt.Stringer) {
	e.count++
	if len(e.texts) == mostExamples {
		return
	}
	if text := event.String(); !slices.Contains(e.texts, text) {
		e.texts = append(e.texts, text)
	}
}

func newMonitor(alert func(format string, args ...any)) *monitor {
	return &monitor{alert: alert, queries: make(map[string]*record), failed: make(chan struct{})}
}

func (m *monitor) starting(q *plan.Query, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &record{
		transient: q.Transient, keeps: q.Materializes(), begun: now, last: now,
		inner: make(map[int]bool), skipped: make(map[task.Reason]*examples),
	}
	for _, g := range q.Subgraphs {
		_, inner := g.Root.(*plan.RepartitionSink)
		r.inner[g.ID] = inner
	}
	m.queries[q.ID] = r
}

func (m *monitor) with(query string, change func(r *record)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.queries[query]; ok {
		change(r)
	}
}

// events are the functions that the engine calls.
func (m *monitor) events() exec.Events {
	return exec.Events{
		Committed: m.committed,
		LateRecord: func(e task.LateRecord) {
			m.with(e.Query, func(r *record) { r.late.add(at{e.Place, fmt.Sprintf("timestamp %s", formatTime(e.Timestamp))}) })
		},
		RowError: func(e task.RowError) {
			m.with(e.Query, func(r *record) { r.rows.add(at{e.Place, fmt.Sprintf("%s: %v", e.Expression, e.Err)}) })
		},
		RecordSkipped: m.recordSkipped,
		StateRestored: func(e task.StateRestored) {
			m.with(e.Query, func(r *record) { r.restored += e.Records })
		},
		StateDropped:  m.stateDropped,
		QueryFailed:   m.queryFailed,
		WorkerTrouble: m.workerTrouble,
		CircleGoesOn: func(e exec.CircleGoesOn) {
			m.alert("warning: %v; Ctrl-C ends the run, and keeps what was committed", e)
		},
	}
}

func (m *monitor) committed(e exec.Committed) {
	m.with(e.Query, func(r *record) {
		r.last = time.Now()
		r.in += e.In
		if r.inner[e.Subgraph] {
			// What it hands on to the next subgraph is no input of the query.
			r.in -= e.Out
		} else {
			r.out += e.Out
		}
	})
}

func (m *monitor) recordSkipped(e task.RecordSkipped) {
	m.with(e.Query, func(r *record) {
		if r.skipped[e.Reason] == nil {
			r.skipped[e.Reason] = &examples{}
		}
		detail := cmp.Or(e.Detail, string(e.Reason))
		if e.Path != "" {
			detail = e.Path + ": " + detail
		}
		r.skipped[e.Reason].add(at{e.Place, detail})
	})
}

// stateDropped tells of the first partition; the others have the same cause.
func (m *monitor) stateDropped(e task.StateDropped) {
	m.mu.Lock()
	r, ok := m.queries[e.Query]
	told := ok && r.dropped
	if ok {
		r.dropped = true
	}
	m.mu.Unlock()
	if !told {
		m.alert("note: query %s: the local copy of its state was dropped and is read back: %v", e.Query, e.Cause)
	}
}

func (m *monitor) queryFailed(e exec.QueryFailed) {
	m.mu.Lock()
	r, ok := m.queries[e.Query]
	m.mu.Unlock()
	if ok && r.transient {
		return // its statement fails with the cause
	}
	m.alert("error: query %s failed: %v", e.Query, task.WithoutQuery(e.Cause))
	m.mu.Lock()
	defer m.mu.Unlock()
	if ok {
		r.failure = e.Cause
	}
	for _, r := range m.queries {
		if r.failure == nil && !r.transient && !r.keeps {
			return
		}
	}
	select {
	case <-m.failed:
	default:
		close(m.failed)
	}
}

// mostTroubles is how many rollbacks are told of; a cluster that is away for
// long causes one after the other.
const mostTroubles = 5

func (m *monitor) workerTrouble(e exec.WorkerTrouble) {
	m.mu.Lock()
	m.troubles++
	n := m.troubles
	m.mu.Unlock()
	switch {
	case n < mostTroubles:
		m.alert("warning: %v", e)
	case n == mostTroubles:
		m.alert("warning: %v (further ones are not shown)", e)
	}
}

// anyFailed tells whether a query has ended by an error.
func (m *monitor) anyFailed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.queries {
		if r.failure != nil {
			return true
		}
	}
	return false
}

// at is an event at a record; the summary names the query elsewhere.
type at struct {
	place task.Place
	what  string
}

func (a at) String() string {
	return a.place.Record() + ": " + a.what
}

// summarize writes what each query did, with examples of what it left out. The
// numbers are those of status, which counts committed work only, where that
// knows the query.
func (m *monitor) summarize(w io.Writer, status func(id string) exec.QueryStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.queries)) {
		r := m.queries[id]
		if r.transient {
			continue
		}
		if known := status(id); known.State != exec.Unknown {
			r.settle(known)
		}
		r.summarize(w, id)
	}
}

// settle takes over what was committed.
func (r *record) settle(known exec.QueryStatus) {
	r.late.count, r.rows.count = known.Late, known.RowErrors
	for reason, e := range r.skipped {
		e.count = known.Skipped[reason]
	}
}

func (r *record) summarize(w io.Writer, id string) {
	skipped := int64(0)
	for _, e := range r.skipped {
		skipped += e.count
	}
	fmt.Fprintf(w, "query %s: %s in, %d out, %d late, %d skipped, %s",
		id, counted(r.in, "record"), r.out, r.late.count, skipped, counted(r.rows.count, "row error"))
	if elapsed := r.last.Sub(r.begun); elapsed > 0 && r.in > 0 {
		fmt.Fprintf(w, "; %.2f s, %.0f records/s", elapsed.Seconds(), float64(r.in)/elapsed.Seconds())
	}
	if r.restored > 0 {
		fmt.Fprintf(w, "; %s of state restored", counted(r.restored, "record"))
	}
	fmt.Fprintln(w)
	if r.failure != nil {
		fmt.Fprintf(w, "  failed: %v\n", task.WithoutQuery(r.failure))
	}
	r.writeLosses(w)
}

// writeLosses tells of what was left out or became null, with examples.
func (r *record) writeLosses(w io.Writer) {
	r.late.write(w, "late: "+oneOr(r.late.count, "its window was", "their windows were")+" closed")
	for _, reason := range slices.Sorted(maps.Keys(r.skipped)) {
		r.skipped[reason].write(w, "skipped: "+string(reason))
	}
	r.rows.write(w, oneOr(r.rows.count, "row error", "row errors")+": the expression gave null")
}

// counted is a number of things, in words for one and for many.
func counted(n int64, thing string) string { return planner.Counted(int(n), thing) }

func oneOr(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// ended forgets a transient query that is dropped, and tells of what it left
// out or made null. The others stay in the summary.
func (m *monitor) ended(id string, known exec.QueryStatus) {
	m.mu.Lock()
	r, ok := m.queries[id]
	if ok && r.transient {
		delete(m.queries, id)
	}
	m.mu.Unlock()
	if !ok || !r.transient {
		return
	}
	if known.State != exec.Unknown {
		r.settle(known)
	}
	var text strings.Builder
	r.writeLosses(&text)
	if text.Len() > 0 {
		m.alert("SELECT took %s:\n%s", counted(r.in, "record"), strings.TrimSuffix(text.String(), "\n"))
	}
}

// scanned is ended for a query that was answered from a store. One that was not
// is about to be started.
func (m *monitor) scanned(id string, ok bool) {
	if ok {
		m.ended(id, exec.QueryStatus{State: exec.Unknown})
	}
}

func (e *examples) write(w io.Writer, what string) {
	if e.count == 0 {
		return
	}
	fmt.Fprintf(w, "  %d %s\n", e.count, what)
	for _, text := range e.texts {
		fmt.Fprintf(w, "    %s\n", text)
	}
	if more := e.count - int64(len(e.texts)); more > 0 {
		fmt.Fprintf(w, "    and %d more\n", more)
	}
}

// formatTime is an event time, in ms, as people read it.
func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000") }
