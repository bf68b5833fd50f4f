package exec

import (
	"fmt"
	"strings"
	"time"

	"millrace/exec/task"
)

// QueryFailed says that a query has ended by an error. Its last transaction
// was rolled back.
type QueryFailed struct {
	Query string
	Cause error
}

func (i QueryFailed) String() string {
	return fmt.Sprintf("query %s failed: %v", i.Query, task.WithoutQuery(i.Cause))
}

// Committed says what one task did in a transaction that has committed.
type Committed struct {
	Query     string
	Subgraph  int
	Partition int32
	In, Out   int64 // records
}

func (i Committed) String() string {
	return fmt.Sprintf("query %s, subgraph %d, partition %d: committed, in=%d out=%d", i.Query, i.Subgraph, i.Partition, i.In, i.Out)
}

// WorkerTrouble says that a worker rolled its tasks back and tries again.
type WorkerTrouble struct {
	Worker int
	Query  string // the only one that waits for that; empty: all of the worker
	Cause  error
	Pause  time.Duration // before the next attempt
}

func (i WorkerTrouble) String() string {
	if i.Query != "" {
		return fmt.Sprintf("query %s: rolled back to the last commit, goes on in %s: %v", i.Query, i.Pause, task.WithoutQuery(i.Cause))
	}
	return fmt.Sprintf("worker %d: rolled back to the last commit, goes on in %s: %v", i.Worker, i.Pause, i.Cause)
}

// CircleGoesOn says that queries which write what they read have not come to
// an end after many rounds of RunUntilEnd.
type CircleGoesOn struct {
	Topics []string // that they write and read
	Rounds int
}

func (i CircleGoesOn) String() string {
	return fmt.Sprintf("queries write to and read from %s, and have come to no end in %d rounds", strings.Join(i.Topics, " and "), i.Rounds)
}

// Events are told what happens in the engine. A nil function is not called. The
// functions are called from the goroutines that do the work, several at a time,
// and must return soon.
type Events struct {
	RecordSkipped func(task.RecordSkipped)
	RowError      func(task.RowError)
	LateRecord    func(task.LateRecord)
	StateRestored func(task.StateRestored)
	StateDropped  func(task.StateDropped)
	QueryFailed   func(QueryFailed)
	Committed     func(Committed)
	WorkerTrouble func(WorkerTrouble)
	CircleGoesOn  func(CircleGoesOn)
}

func (e *Events) reporter() task.Reporter {
	return task.Reporter{
		RecordSkipped: e.RecordSkipped, RowError: e.RowError, LateRecord: e.LateRecord,
		StateRestored: e.StateRestored, StateDropped: e.StateDropped,
	}
}
