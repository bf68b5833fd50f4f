package task

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/exec/op"
	"millrace/planner/plan"
	"millrace/state"
)

// ErrNoScan: the rows that a task keeps cannot answer the query, which has to
// read its topic.
var ErrNoScan = errors.New("the query cannot be answered from a store")

// Yield takes a row that a scan gives: the value that the query would write to
// its topic for it, which is valid until the call returns.
type Yield = func(partition int32, timestamp int64, value []byte)

// scan is one query over the rows of a task.
type scan struct {
	task  *Task
	query *plan.Query
	yield Yield
}

// Scan answers a query from the rows that the task keeps: query.Scanned is the
// task's table. It yields the rows in the order of their keys and counts those
// that it has looked at. The task stays as it is.
func (t *Task) Scan(ctx context.Context, query *plan.Query, yield Yield) (rows int64, err error) {
	root, ok := t.config.Subgraph.Root.(*plan.Materialize)
	wanted := query.Scanned()
	if !ok || wanted == nil || t.state != Running {
		return 0, ErrNoScan
	}
	defer func() {
		switch fault := recover(); {
		case fault == nil:
		case fault == any(column.ErrBatchTooLarge):
			err = ErrNoScan
		default:
			err = &QueryError{Query: query.ID, Err: fmt.Errorf("internal error: %v\n%s", fault, debug.Stack())}
		}
	}()
	s := &scan{task: t, query: query, yield: yield}
	first, err := s.build()
	if err != nil {
		return 0, err
	}
	reader, err := op.NewScan(root.Input, wanted, t.stores[0].store, t.config.Partition, first, ctx.Err)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNoScan, err)
	}
	rows, err = reader.Run()
	if err != nil {
		err = &QueryError{Query: query.ID, Place: fmt.Sprintf("partition %d of %s", t.config.Partition, root.Input.Name), Err: err}
	}
	return rows, err
}

// build makes the operators behind the source. The first one is given the rows.
func (s *scan) build() (op.Operator, error) {
	graph := *s.query.Subgraphs[0]
	sink := *graph.Root.(*plan.Sink)
	source := *s.query.Scanned()
	source.Store = ""
	sink.Input = withSource(sink.Input, &source)
	graph.Root, graph.Inputs = &sink, []plan.Node{&source}
	output, err := newSink(&sink, s.task.codecs(), 1, SinkLimits{}, s.task.milliseconds, s)
	if err != nil {
		return nil, err
	}
	pipeline, err := op.Build(&graph, &op.Environment{
		Store:       func(name string) (*state.Store, error) { return nil, fmt.Errorf("there is no store %s", name) },
		Expressions: &expr.Environment{Errors: s, Now: s.task.milliseconds},
	}, output)
	if err != nil {
		return nil, err
	}
	return pipeline.Entries[0].Operator, nil
}

// withSource is a copy of filters and projections with another source.
func withSource(node plan.Node, source *plan.Source) plan.Node {
	switch n := node.(type) {
	case *plan.Project:
		project := *n
		project.Input = withSource(n.Input, source)
		return &project
	case *plan.Filter:
		filter := *n
		filter.Input = withSource(n.Input, source)
		return &filter
	}
	return source
}

// write implements writer.
func (s *scan) write(_ int32, timestamp int64, _, value, _ []byte) error {
	if value != nil {
		s.yield(s.task.config.Partition, timestamp, value)
	}
	return nil
}

// drop implements writer.
func (s *scan) drop(_ *column.Batch, _ int32, reason Reason, path, detail string) {
	if s.task.config.Reporter.RecordSkipped != nil {
		s.task.config.Reporter.RecordSkipped(RecordSkipped{Place: s.place(), Reason: reason, Path: path, Detail: detail})
	}
}

// RowError implements column.Errors.
func (s *scan) RowError(_ *column.Batch, _ int, what string, err error) {
	if s.task.config.Reporter.RowError != nil {
		s.task.config.Reporter.RowError(RowError{Place: s.place(), Expression: what, Err: err})
	}
}

// place is the partition: the offsets of rows are not kept.
func (s *scan) place() Place {
	place := s.task.placeOf(s.task.inputs[0], unknown)
	place.Query = s.query.ID
	return place
}
