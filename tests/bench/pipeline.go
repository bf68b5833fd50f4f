package bench

import (
	"context"
	"errors"
	"fmt"

	"millrace/exec/session"
	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/planner/plan"
)

const (
	runRecords = 1000 // in a delivered run, unless batches are smaller
	// CommitRecords is how many records a transaction of a pipeline holds.
	CommitRecords = 200_000
)

// Options sets up a Pipeline.
type Options struct {
	BatchRows int  // 0: 1000
	Framed    bool // output is put into record batches with their checksums
	Orders    int  // how many there are before they come again; 0: CommitRecords
}

// Pipeline is the one task of a work's query, planned from its statements, with
// recorded orders to push through it. Its output is dropped after encoding.
type Pipeline struct {
	task        *task.Task
	transaction *task.Transaction
	orders      *task.Input
	produced    *producer
	runs        []*kafkaio.Records
	pushed      int // runs
	offset      int64
	pending     int // records since the last commit
}

// planned takes the query that a session starts.
type planned struct{ query *plan.Query }

func (p *planned) Start(_ context.Context, q *plan.Query) error {
	p.query = q
	return nil
}

func (*planned) Stop(context.Context, string) error { return nil }

func (*planned) Drop(context.Context, string) error { return nil }

func (*planned) Pause(string) error { return nil }

func (*planned) Resume(string) error { return nil }

// New plans a work and makes its task, with the table filled where it reads one.
func New(ctx context.Context, w Work, options Options) (*Pipeline, error) {
	if options.BatchRows == 0 {
		options.BatchRows = runRecords
	}
	if options.Orders == 0 {
		options.Orders = CommitRecords
	}
	log := &sinkLog{Log: memory.New(), framed: options.Framed}
	engine := &planned{}
	s := session.New(session.Options{Log: log, Engine: engine, Service: "bench", Now: func() int64 { return 0 }})
	if err := s.Script(ctx, w.Statements, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Name, err)
	}
	if engine.query == nil || len(engine.query.Subgraphs) != 1 {
		return nil, fmt.Errorf("%s: a query of one subgraph is expected", w.Name)
	}
	p := &Pipeline{produced: &log.produced, runs: makeRuns(w.Customers, options.Orders, min(options.BatchRows, runRecords))}
	if err := p.open(ctx, log, engine.query, options.BatchRows, w.HoldBack); err != nil {
		return nil, err
	}
	if w.Table {
		return p, p.fillTable(ctx)
	}
	return p, nil
}

func (p *Pipeline) open(ctx context.Context, log *sinkLog, query *plan.Query, batchRows int, holdBack bool) error {
	topics, err := task.PrepareTopics(ctx, log, query)
	if err != nil {
		return err
	}
	subgraph := query.Subgraphs[0]
	p.transaction = task.NewTransaction(log, task.TransactionOptions{})
	config := task.Config{
		Query: query, Subgraph: subgraph, SinkPartitions: topics.Partitions(task.OutputTopic(subgraph)),
		TopicIDs: topics.IDs(query), HoldBack: holdBack, BatchRows: batchRows,
	}
	if p.task, err = task.New(config, p.transaction); err != nil {
		return err
	}
	if err := p.task.Open(); err != nil {
		return err
	}
	partitions := p.task.Changelogs()
	for _, in := range p.task.Inputs() {
		partitions = append(partitions, in.TopicPartition)
		if in.Topic == "orders" {
			p.orders = in
		}
	}
	ranges, err := log.Offsets(ctx, partitions)
	if err != nil {
		return err
	}
	if err := p.task.Place(task.Start{Ranges: ranges}); err != nil {
		return err
	}
	if err := task.Restore(ctx, log, []*task.Task{p.task}, ranges); err != nil {
		return err
	}
	p.transaction.Add(p.task)
	return p.transaction.Init(ctx)
}

// makeRuns makes the orders; their offsets and times are set at each push.
func makeRuns(customers, count, length int) []*kafkaio.Records {
	orders := NewOrders(customers)
	runs := make([]*kafkaio.Records, count/length)
	for i := range runs {
		run := &kafkaio.Records{TopicPartition: kafkaio.TopicPartition{Topic: "orders"}}
		for range length {
			order := orders.Next(nil)
			run.Append(0, 0, []byte(order.Customer), order.JSON, nil)
		}
		runs[i] = run
	}
	return runs
}

// firstTime is that of the first order, ms.
const firstTime = 1_700_000_000_000

// Push takes the next run through the pipeline and commits when it is time. It
// gives the number of records.
func (p *Pipeline) Push(ctx context.Context) (int, error) {
	run := p.runs[p.pushed%len(p.runs)]
	p.pushed++
	for i := range run.Offsets {
		run.Offsets[i] = p.offset
		run.Timestamps[i] = firstTime + p.offset/runRecords
		p.offset++
	}
	run.Next, run.Stable = p.offset, p.offset
	if err := p.take(ctx, p.orders, run); err != nil {
		return 0, err
	}
	if p.pending += run.Len(); p.pending >= CommitRecords {
		return run.Len(), p.Commit(ctx)
	}
	return run.Len(), nil
}

func (p *Pipeline) take(ctx context.Context, in *task.Input, run *kafkaio.Records) error {
	in.Deliver(run)
	for {
		moved, err := p.task.Step(ctx, noEnds{})
		if !moved || err != nil {
			return err
		}
	}
}

// noEnds lets no input wait for another.
type noEnds struct{}

func (noEnds) AtEnd(*task.Input, int64) bool { return true }

// Commit ends the transaction.
func (p *Pipeline) Commit(ctx context.Context) error {
	p.pending = 0
	return p.transaction.Commit(ctx)
}

func (p *Pipeline) fillTable(ctx context.Context) error {
	for _, in := range p.task.Inputs() {
		if in.Topic != "customers" {
			continue
		}
		run := &kafkaio.Records{TopicPartition: in.TopicPartition, Next: 100_000, Stable: 100_000}
		for i := range 100_000 {
			run.Append(int64(i), 0, []byte(CustomerID(i)), Customer(i), nil)
		}
		if err := p.take(ctx, in, run); err != nil {
			return err
		}
		return p.Commit(ctx)
	}
	return errors.New("the query reads no table")
}

// Out is how many records the pipeline has put out, changelogs included, and
// their bytes.
func (p *Pipeline) Out() (records, bytes int64) { return p.produced.records, p.produced.bytes }

// Close gives the task up.
func (p *Pipeline) Close() error { return p.task.Close(true) }
