package exec

import (
	"maps"
	"sync"
	"time"

	"millrace/exec/task"
	"millrace/planner/plan"
)

// QueryState is how a query stands.
type QueryState string

// The states of a query.
const (
	Unknown QueryState = "UNKNOWN" // no such query
	Running QueryState = "RUNNING"
	Paused  QueryState = "PAUSED"
	Failed  QueryState = "ERROR"
)

// QueryStatus is what a query has done since it was started here. It counts
// committed work only.
type QueryStatus struct {
	ID         string
	State      QueryState
	In, Out    int64 // records
	Late       int64
	Skipped    map[task.Reason]int64
	RowErrors  int64
	Lag        int64 // records that are known and not read yet
	LastCommit time.Time
	Cause      error // of State Failed
}

// query is a query that was started.
type query struct {
	plan   *plan.Query
	topics *task.Topics
	homes  map[int]int // by subgraph: the worker of its first task

	mu         sync.Mutex // guards what follows
	state      QueryState
	cause      error
	counts     task.Counts
	lag        map[*task.Task]int64
	lastCommit time.Time
}

func newQuery(p *plan.Query, topics *task.Topics) *query {
	return &query{plan: p, topics: topics, homes: make(map[int]int), state: Running, lag: make(map[*task.Task]int64)}
}

func (q *query) is(state QueryState) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state == state
}

// fail marks the query as failed; the first cause counts. It tells whether
// this was the first.
func (q *query) fail(cause error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state == Failed {
		return false
	}
	q.state, q.cause = Failed, cause
	return true
}

// set moves between Running and Paused.
func (q *query) set(state QueryState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != Failed {
		q.state = state
	}
}

// committed adds what a task did.
func (q *query) committed(t *task.Task, counts task.Counts, now time.Time) {
	lag := int64(0)
	for _, in := range t.Inputs() {
		lag += in.Lag()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counts.Add(counts)
	q.lag[t] = lag
	q.lastCommit = now
}

func (q *query) status() QueryStatus {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := QueryStatus{
		ID: q.plan.ID, State: q.state, In: q.counts.In, Out: q.counts.Out, Late: q.counts.Late,
		Skipped: maps.Clone(q.counts.Skipped), RowErrors: q.counts.RowErrors, LastCommit: q.lastCommit, Cause: q.cause,
	}
	for _, lag := range q.lag {
		s.Lag += lag
	}
	return s
}
