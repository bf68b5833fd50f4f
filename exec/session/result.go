package session

import (
	"strings"

	"millrace/planner/plan"
)

// Result is what a statement gives back.
type Result struct {
	Message string      // one sentence for people
	Text    string      // several lines, such as EXPLAIN's tree
	Tables  []Table     // what SHOW, DESCRIBE and PRINT found, one after the other
	Query   *plan.Query // the query that was started
}

// Table is rows under named columns. Columns are lower case words joined by
// underscores, fit for names of JSON fields; a row has a cell for each: a
// string, int64 or bool, or nil where there is nothing.
type Table struct {
	Title   string // may be empty
	Columns []string
	Rows    [][]any
}

func (t *Table) add(cells ...any) { t.Rows = append(t.Rows, cells) }

// QueryStatus is how a query stands and what it has done.
type QueryStatus struct {
	State                             string // RUNNING, PAUSED or ERROR
	In, Out, Late, Skipped, RowErrors int64  // records
	Lag                               int64  // records that are known and not read yet
	Cause                             error  // of the state ERROR
}

// status is how a query stands: by the engine if it tells, else by what the
// session has done to it.
func (s *Session) status(id string) QueryStatus {
	if s.options.QueryStatus != nil {
		return s.options.QueryStatus(id)
	}
	if s.paused[id] {
		return QueryStatus{State: "PAUSED"}
	}
	return QueryStatus{State: "RUNNING"}
}

// list joins names for a cell; none is nil.
func list(names []string) any {
	if len(names) == 0 {
		return nil
	}
	return strings.Join(names, ", ")
}

// orNil is a text for a cell; an empty one is nil.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
