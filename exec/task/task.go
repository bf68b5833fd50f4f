// Package task runs one subgraph of a query for one partition number: it
// decodes records, pushes them through the operators, encodes what comes out,
// and restores its stores from their changelogs. A Transaction commits the work
// of several tasks at once; its file commit.go holds all rules of commits and
// crashes.
package task

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/exec/op"
	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/kafkaio/registry"
	"millrace/planner/plan"
	"millrace/state"
)

// Config sets up a task.
type Config struct {
	Query     *plan.Query
	Subgraph  *plan.Subgraph
	Partition int32
	// SinkPartitions is how many partitions the topic has that the task writes.
	SinkPartitions int
	// SinkLimits is what that topic takes, if it is the query's result.
	SinkLimits SinkLimits
	// Directory holds the task's local state; empty: memory only.
	Directory string
	// OpenBackend opens the byte store in a directory.
	OpenBackend func(directory string) (state.Backend, error)
	// TopicIDs are those of the changelog topics, by topic.
	TopicIDs map[string][16]byte
	Budget   *state.Budget
	// CheckpointInterval is how long a round of the checkpoint should take.
	CheckpointInterval time.Duration
	// HoldBack makes aggregations put out a group once per commit.
	HoldBack bool
	// MaxIdle is how long an input that is at its end holds the others back.
	MaxIdle time.Duration
	// Manual says that nothing arrives by itself, so that waiting is no use.
	Manual bool
	// BatchRows is the most rows of a batch, 1 to column.MaxRows; 0 takes the most.
	BatchRows int
	// Registry has the schemas of formats that need one; may be nil.
	Registry registry.Registry
	// Lookups ends the waits for the registry; nil: nothing does.
	Lookups  context.Context
	Reporter Reporter
	Now      func() time.Time
}

// Task is one subgraph for one partition number. One goroutine uses it.
type Task struct {
	config     Config
	state      State
	ctx        context.Context // of the step that runs
	output     *Transaction
	sink       kafkaio.TopicPartition // its partition is set by each write
	pipeline   *op.Pipeline
	inputs     []*Input
	stores     []*taskStore
	local      *state.Task
	batches    batchSize
	foundation []byte       // what the stores' rows depend on, as a hash
	run        []int32      // selection of the run that is pushed
	view       column.Batch // the batch that is pushed
	counts     Counts
	dirty      bool // rows were pushed since the last commit
	current    *Input

	positions   map[string]int64 // of the changelogs, by store
	positionsAt time.Time
}

// New makes a task that writes through the transaction. It must be restored
// before its first step.
func New(config Config, output *Transaction) (*Task, error) {
	if config.BatchRows <= 0 || config.BatchRows > column.MaxRows {
		config.BatchRows = column.MaxRows
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Lookups == nil {
		config.Lookups = context.Background()
	}
	t := &Task{config: config, output: output, batches: batchSize{rows: config.BatchRows}}
	for i, node := range config.Subgraph.Inputs {
		in, err := newInput(i, node, t.codecs(), config.Partition)
		if err != nil {
			return nil, err
		}
		in.origin = origins(config.Query, in.Topic)
		t.inputs = append(t.inputs, in)
	}
	return t, nil
}

// String names the task.
func (t *Task) String() string {
	return fmt.Sprintf("query %s, subgraph %d, partition %d", t.config.Query.ID, t.config.Subgraph.ID, t.config.Partition)
}

// Inputs are the partitions that the task reads.
func (t *Task) Inputs() []*Input { return t.inputs }

// State is where the task stands.
func (t *Task) State() State { return t.state }

// Query is the query that the task is part of.
func (t *Task) Query() *plan.Query { return t.config.Query }

// Subgraph is the id of the subgraph that the task runs.
func (t *Task) Subgraph() int { return t.config.Subgraph.ID }

// Partition is the number of the task in its subgraph.
func (t *Task) Partition() int32 { return t.config.Partition }

// Done tells whether all inputs have reached their ends.
func (t *Task) Done(ends Ends) bool {
	for _, in := range t.inputs {
		if !ends.AtEnd(in, in.position) {
			return false
		}
	}
	return true
}

// OutputTopic is the topic that a subgraph writes.
func OutputTopic(subgraph *plan.Subgraph) string {
	switch root := subgraph.Root.(type) {
	case *plan.Sink:
		return root.Topic
	case *plan.RepartitionSink:
		return root.Topic
	}
	return ""
}

// Writes tells whether a query writes a topic, as its result or for itself.
func Writes(query *plan.Query, topic string) bool {
	if slices.Contains(InternalTopics(query), topic) {
		return true
	}
	return slices.ContainsFunc(query.Subgraphs, func(g *plan.Subgraph) bool { return OutputTopic(g) == topic })
}

// build makes the operators; the stores have been opened.
func (t *Task) build() error {
	t.markFoundation()
	var sinkOperator op.Operator
	var err error
	switch root := t.config.Subgraph.Root.(type) {
	case *plan.Sink:
		t.sink.Topic = root.Topic
		sinkOperator, err = newSink(root, t.codecs(), t.config.SinkPartitions, t.config.SinkLimits, t.milliseconds, t)
	case *plan.RepartitionSink:
		t.sink.Topic = root.Topic
		sinkOperator, err = newRepartitionSink(root, t.codecs(), t.config.SinkPartitions, t)
	case *plan.Materialize:
	default:
		err = fmt.Errorf("subgraph %d ends in %T", t.config.Subgraph.ID, root)
	}
	if err != nil {
		return err
	}
	environment := &op.Environment{
		Store:       t.store,
		Expressions: &expr.Environment{Errors: t, Now: t.milliseconds},
		Count:       t.count,
		HoldBack:    t.config.HoldBack,
	}
	t.pipeline, err = op.Build(t.config.Subgraph, environment, sinkOperator)
	return err
}

func (t *Task) codecs() codecs { return codecs{format.NewSchemas(t.config.Lookups, t.config.Registry)} }

func (t *Task) milliseconds() int64 { return t.config.Now().UnixMilli() }

// Ends tells when an input has no more to come, while a caller waits for the
// end of all inputs. Without one (nil) an input that has reached the last
// stable offset it heard of counts as empty.
type Ends interface {
	// AtEnd tells whether an input that stands at position is done.
	AtEnd(in *Input, position int64) bool
}

// Step hands one run of rows of the input with the lowest time to the
// operators. It tells whether there was one. An error, or a panic turned into
// one, names the query and the records; the transaction must be rolled back then.
func (t *Task) Step(ctx context.Context, ends Ends) (progress bool, err error) {
	return t.StepUntil(ctx, ends, math.MaxInt64)
}

// Ordered tells whether the tasks of this subgraph take turns by time, with
// Peek and StepUntil.
func (t *Task) Ordered() bool { return t.config.Subgraph.Ordered }

// Patient tells whether an empty input may hold the task back for a while, so that
// it must be asked again although nothing has arrived.
func (t *Task) Patient() bool {
	return t.Ordered() || t.config.MaxIdle > 0 || slices.ContainsFunc(t.inputs, t.joinedStream)
}

// joinedStream tells whether an input is the stream of a join with a table, behind
// a repartition. That the table waits for it costs nothing, since only the stream's
// rows give results; and if it did not, the rows that are there at a start would
// meet the table as it happens to be read first.
func (t *Task) joinedStream(in *Input) bool {
	return in.Repartition && slices.ContainsFunc(t.inputs, func(other *Input) bool { return other.rank < in.rank })
}

// orderedPatience is how long an input that a query fills holds back the tasks
// that take turns by time, when it is empty and its end is not known.
const orderedPatience = 100 * time.Millisecond

// joinPatience is orderedPatience for the stream of a join with a table: longer
// than what feeds it takes to commit.
const joinPatience = time.Second

// Peek is the time of the row that the next step begins with; ok is false if
// there is none. waits says that one may still come whose time is lower.
func (t *Task) Peek(ends Ends) (time int64, ok, waits bool, err error) {
	if t.state != Running {
		return 0, false, false, nil
	}
	defer func() {
		if fault := recover(); fault != nil {
			err = t.panicked(fault)
		}
	}()
	for _, in := range t.inputs {
		head, found, err := t.head(in)
		if err != nil {
			t.current = in
			return 0, false, false, t.failed(err)
		}
		if !found {
			waits = waits || t.holdsBack(in, ends)
			continue
		}
		in.emptied = timeZero
		if !ok || head < time {
			time, ok = head, true
		}
	}
	return time, ok && !waits, waits, nil
}

// StepUntil is Step with rows before the time only, but for the first.
func (t *Task) StepUntil(ctx context.Context, ends Ends, limit int64) (progress bool, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = t.panicked(fault)
		}
	}()
	if t.state != Running {
		return false, nil
	}
	t.ctx = ctx
	in, until, bounded, err := t.choose(ends)
	if err != nil {
		return false, t.failed(err)
	}
	if in == nil {
		return false, nil
	}
	if limit < math.MaxInt64 && (!bounded || limit < until) {
		until, bounded = limit, true
	}
	if err := t.push(in, until, bounded); err != nil {
		return false, t.failed(err)
	}
	return true, nil
}

// choose finds the input to go on with and the time at which another one has
// its turn: rows of a time before until are taken.
func (t *Task) choose(ends Ends) (next *Input, until int64, bounded bool, err error) {
	for _, in := range t.inputs {
		time, ok, err := t.head(in)
		if err != nil {
			t.current = in
			return nil, 0, false, err
		}
		if !ok {
			if len(t.inputs) > 1 && t.holdsBack(in, ends) {
				return nil, 0, false, nil
			}
			continue
		}
		in.emptied = timeZero
		switch {
		case next == nil:
			next = in
		case before(time, in, t.headTime(next), next):
			next = in
		}
	}
	if next == nil {
		return nil, 0, false, nil
	}
	for _, in := range t.inputs {
		if in == next || !t.hasHead(in) {
			continue
		}
		limit := t.headTime(in)
		if before(limit, next, limit, in) {
			limit++ // at equal times next goes first
		}
		if !bounded || limit < until {
			until, bounded = limit, true
		}
	}
	return next, until, bounded, nil
}

var timeZero time.Time

// before is the order in which rows of two inputs are taken.
func before(a int64, x *Input, b int64, y *Input) bool {
	if a != b {
		return a < b
	}
	if x.rank != y.rank {
		return x.rank < y.rank
	}
	return x.number < y.number
}

func (t *Task) hasHead(in *Input) bool {
	return in.to > in.from && in.selected < len(in.reader.frame().batch.Selection)
}

func (t *Task) headTime(in *Input) int64 {
	b := &in.reader.frame().batch
	return b.Times[b.Selection[in.selected]]
}

// holdsBack tells whether the others must wait for the empty input: always
// while it has records that were not fetched yet, and else for the time that
// the configuration gives it.
func (t *Task) holdsBack(in *Input, ends Ends) bool {
	if ends != nil {
		return !ends.AtEnd(in, in.position)
	}
	if in.stable == unknown || in.position < in.stable {
		return true
	}
	patience := t.config.MaxIdle
	switch {
	case t.config.Manual:
	case t.joinedStream(in):
		patience = max(patience, joinPatience)
	case in.Repartition && t.Ordered():
		patience = max(patience, orderedPatience)
	}
	if patience <= 0 {
		return false
	}
	now := t.config.Now()
	if in.emptied.IsZero() {
		in.emptied = now
	}
	return now.Sub(in.emptied) < patience
}

// push hands on the rows of the input's batch up to the first that is not
// before until.
func (t *Task) push(in *Input, until int64, bounded bool) error {
	f := in.reader.frame()
	selection := f.batch.Selection
	end := len(selection)
	if bounded {
		// The first row has the lowest time of all inputs' heads.
		end = in.selected + 1
		for end < len(selection) && f.batch.Times[selection[end]] < until {
			end++
		}
	}
	t.run = append(t.run[:0], selection[in.selected:end]...)
	t.view = f.batch
	t.view.Selection = t.run
	t.current, t.dirty = in, true
	if err := t.pipeline.Push(in.number, &t.view); err != nil {
		return err
	}
	in.selected = end
	row := f.batch.Len
	if end < len(selection) {
		row = int(selection[end])
	}
	t.consume(in, row)
	return nil
}

// Pending tells whether there is something to commit.
func (t *Task) Pending() bool {
	if t.dirty {
		return true
	}
	for _, in := range t.inputs {
		if in.position != in.committed {
			return true
		}
	}
	return false
}

// flush lets the operators hand on what they held back.
func (t *Task) flush(ctx context.Context) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = t.panicked(fault)
		}
	}()
	t.ctx = ctx
	if err := t.pipeline.Flush(); err != nil {
		return t.failed(err)
	}
	return nil
}

// failed adds the query and the records to an error.
func (t *Task) failed(err error) error {
	if record, ok := err.(*op.RecordError); ok && t.current != nil { //nolint:errorlint // what wraps it must not be lost
		place := fmt.Sprintf("topic %s, partition %d, offset %d", t.current.Topic, record.Partition, record.Offset)
		return &QueryError{Query: t.config.Query.ID, Place: place, Err: record.Err}
	}
	return &QueryError{Query: t.config.Query.ID, Place: t.place(), Err: err}
}

func (t *Task) panicked(fault any) error {
	if fault == any(column.ErrBatchTooLarge) {
		return t.failed(t.shrinkBatches())
	}
	return t.failed(fmt.Errorf("internal error: %v\n%s", fault, debug.Stack()))
}

// place names the run of records that is being processed.
func (t *Task) place() string {
	in := t.current
	if in == nil || len(in.queue) == 0 {
		return fmt.Sprintf("partition %d", t.config.Partition)
	}
	last := in.position
	if in.to > in.from {
		last = in.queue[0].Offsets[in.to-1]
	}
	return fmt.Sprintf("topic %s, partition %d, offsets %d to %d", in.Topic, in.Partition, in.position, last)
}

// write implements writer.
func (t *Task) write(partition int32, timestamp int64, key, value, headers []byte) error {
	t.counts.Out++
	t.sink.Partition = partition
	return t.output.Append(t.ctx, t.sink, timestamp, key, value, headers)
}

// drop implements writer.
func (t *Task) drop(b *column.Batch, i int32, reason Reason, path, detail string) {
	t.counts.skip(reason, 1)
	t.reportSkip(t.rowPlace(b, i), skippedRow{reason: reason, path: path, detail: detail})
}

// RowError implements column.Errors.
func (t *Task) RowError(b *column.Batch, i int, what string, err error) {
	t.counts.RowErrors++
	if t.config.Reporter.RowError != nil {
		t.config.Reporter.RowError(RowError{Place: t.rowPlace(b, int32(i)), Expression: what, Err: err})
	}
}

// count takes the rows that operators leave out.
func (t *Task) count(counter op.Counter, b *column.Batch, row int32) {
	switch counter {
	case op.Late:
		t.counts.Late++
		if t.config.Reporter.LateRecord != nil {
			t.config.Reporter.LateRecord(LateRecord{Place: t.rowPlace(b, row), Timestamp: b.Times[row]})
		}
	case op.NullKey:
		t.drop(b, row, NoKey, "", "")
	case op.NullValue:
		t.drop(b, row, NoValue, "", "")
	}
}

// rowPlace names the record that a row was made from, if it stands for one.
func (t *Task) rowPlace(b *column.Batch, i int32) Place {
	place := Place{Query: t.config.Query.ID, Offset: unknown}
	if t.current != nil {
		place = t.placeOf(t.current, unknown)
	}
	if b != nil && int(i) < len(b.Offsets) {
		place.Offset = b.Offsets[i]
	}
	return place
}
