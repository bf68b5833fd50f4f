// Package exec runs queries: it spreads their tasks over workers, starts and
// stops them while others run, and tells what they do.
//
// Workers are goroutines with one transactional producer each. A query that
// fails is rolled back and taken out; the others of its workers go on from their
// last commit. The rules of commits and crashes are in exec/task/commit.go.
package exec

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/sql/types"
	"millrace/state"
)

var errClosed = errors.New("the engine is closed")

// Engine runs queries over one log. Its methods are safe for concurrent use.
type Engine struct {
	log     kafkaio.Log
	options Options
	budget  *state.Budget
	workers []*worker
	ctx     context.Context // of the workers; Background without them
	cancel  context.CancelFunc
	lookups context.Context // of the waits for schemas, which Close ends first
	giveUp  context.CancelFunc

	control sync.Mutex // one Start, Stop, RunUntilIdle, .. at a time
	started bool
	closed  bool
	// dropping are the plans of queries that were stopped to be dropped, and of
	// which something is left.
	dropping map[string]*plan.Query
	nextHome int // worker for the first task of the next subgraph

	mu      sync.Mutex // guards what follows
	queries map[string]*query
	order   []*query      // of starting
	changed chan struct{} // closed and replaced when something was committed or failed
}

// New makes an engine without queries. It talks to the log at the first Start.
func New(log kafkaio.Log, options Options) *Engine {
	options.complete()
	e := &Engine{log: log, options: options, dropping: make(map[string]*plan.Query), queries: make(map[string]*query), changed: make(chan struct{})}
	if options.MemoryBudget > 0 {
		e.budget = state.NewBudget(options.MemoryBudget)
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.lookups, e.giveUp = context.WithCancel(e.ctx)
	for number := range max(options.Workers, 1) {
		e.workers = append(e.workers, newWorker(e, number))
	}
	return e
}

func (e *Engine) manual() bool { return e.options.Workers == 0 }

func (e *Engine) transactionalID(number int) string {
	return "_millrace_" + e.options.Service + "_" + strconv.Itoa(number)
}

// begin takes the transactional ids over, before the first query.
func (e *Engine) begin(ctx context.Context) error {
	if e.closed {
		return errClosed
	}
	if e.started {
		return nil
	}
	if err := e.options.Validate(); err != nil {
		return err
	}
	if err := e.fenceEarlier(ctx); err != nil {
		return err
	}
	for _, w := range e.workers {
		if err := w.transaction.Init(ctx); err != nil {
			return err
		}
	}
	if err := e.sweep(ctx); err != nil {
		return fmt.Errorf("delete what an earlier SELECT has left: %w", err)
	}
	e.started = true
	if e.manual() {
		return nil
	}
	for _, w := range e.workers {
		go w.loop(e.ctx)
	}
	return nil
}

// fenceEarlier ends the transactions that an earlier process with more workers
// may have left open. How many it had is in the state directory; without one,
// they end by their own time-out.
func (e *Engine) fenceEarlier(ctx context.Context) error {
	earlier, err := e.exchangeWorkers(len(e.workers))
	if err != nil || earlier <= len(e.workers) {
		return err
	}
	var ids []string
	for number := len(e.workers); number < earlier; number++ {
		ids = append(ids, e.transactionalID(number))
	}
	if err := e.log.Fence(ctx, ids); err != nil {
		return fmt.Errorf("end the transactions of earlier workers: %w", err)
	}
	return nil
}

// Start checks the topics of a query, makes those that are its own, restores
// its state and lets it run. Errors that the user has to mend are *types.Error.
func (e *Engine) Start(ctx context.Context, p *plan.Query) error {
	e.control.Lock()
	defer e.control.Unlock()
	if err := e.begin(ctx); err != nil {
		return err
	}
	if old, ok := e.query(p.ID); ok && !old.is(Failed) {
		return types.Errorf(types.CodeStatement, "the query %s runs already", p.ID)
	}
	if left, ok := e.dropping[p.ID]; ok {
		if err := e.erase(ctx, left); err != nil {
			return err
		}
	}
	q, shares, err := e.open(ctx, p)
	if errors.Is(err, task.ErrDropped) {
		if err = e.erase(ctx, p); err == nil {
			q, shares, err = e.open(ctx, p)
		}
	}
	if err != nil {
		if p.Transient {
			err = errors.Join(err, e.erase(context.WithoutCancel(ctx), p))
		}
		return err
	}
	e.put(q)
	for i, w := range e.workers {
		if err := w.do(ctx, func(context.Context) error { w.add(shares[i]); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// CheckTopics refuses a query that Start would refuse for its sources or its sink,
// and makes nothing. Internal topics are not looked at.
func (e *Engine) CheckTopics(ctx context.Context, p *plan.Query) error {
	return task.CheckTopics(ctx, e.log, p)
}

// open makes the topics and the tasks of a query, for each worker its share.
func (e *Engine) open(ctx context.Context, p *plan.Query) (*query, []*share, error) {
	if err := task.CheckSchemas(ctx, p, e.options.Registry); err != nil {
		return nil, nil, err
	}
	topics, err := task.PrepareTopics(ctx, e.log, p)
	if err != nil {
		return nil, nil, err
	}
	if err := e.compareTopics(p, topics); err != nil {
		return nil, nil, err
	}
	q := newQuery(p, topics)
	e.place(q)
	shares := make([]*share, len(e.workers))
	for i, w := range e.workers {
		tasks, err := e.openTasks(ctx, q, w)
		if err != nil {
			return nil, nil, errors.Join(err, closeShares(shares))
		}
		shares[i] = &share{query: q, tasks: tasks}
	}
	return q, shares, nil
}

// place chooses the workers of a query's tasks: those of each subgraph go on
// where those of the one before it end, so that work is spread however many
// partitions there are. The tasks of an ordered subgraph are on one worker,
// since the log keeps the order of one producer only.
func (e *Engine) place(q *query) {
	for _, g := range q.plan.Subgraphs {
		q.homes[g.ID] = e.nextHome
		tasks := q.topics.Tasks(g)
		if g.Ordered {
			tasks = 1
		}
		e.nextHome = (e.nextHome + tasks) % len(e.workers)
	}
}

// home is the worker of a task.
func (e *Engine) home(q *query, g *plan.Subgraph, partition int) int {
	if g.Ordered {
		return q.homes[g.ID]
	}
	return (q.homes[g.ID] + partition) % len(e.workers)
}

// closeShares closes the tasks that were opened before a start failed.
func closeShares(shares []*share) error {
	var faults []error
	for _, s := range shares {
		if s == nil {
			continue
		}
		for _, t := range s.tasks {
			faults = append(faults, t.Close(true))
		}
	}
	return errors.Join(faults...)
}

// openTasks makes a worker's tasks of a query and restores them.
func (e *Engine) openTasks(ctx context.Context, q *query, w *worker) (tasks []*task.Task, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeShares([]*share{{tasks: tasks}}))
			tasks = nil
		}
	}()
	for _, g := range q.plan.Subgraphs {
		for partition := range q.topics.Tasks(g) {
			if e.home(q, g, partition) != w.number {
				continue
			}
			t, err := task.New(e.taskConfig(q, g, int32(partition)), w.transaction)
			if err != nil {
				return tasks, err
			}
			tasks = append(tasks, t)
			if err := t.Open(); err != nil {
				return tasks, err
			}
		}
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	return tasks, e.restore(ctx, q, tasks)
}

// restore follows the order that exec/task/commit.go gives for a start: the
// committed positions first, then the ends of the changelogs.
func (e *Engine) restore(ctx context.Context, q *query, tasks []*task.Task) error {
	var inputs, changelogs []kafkaio.TopicPartition
	for _, t := range tasks {
		for _, in := range t.Inputs() {
			inputs = append(inputs, in.TopicPartition)
		}
		changelogs = append(changelogs, t.Changelogs()...)
	}
	committed, err := e.log.CommittedOffsets(ctx, q.plan.Group, inputs)
	if err != nil {
		return fmt.Errorf("query %s: positions of group %s: %w", q.plan.ID, q.plan.Group, err)
	}
	ranges, err := e.log.Offsets(ctx, append(inputs, changelogs...))
	if err != nil {
		return fmt.Errorf("query %s: ends of its topics: %w", q.plan.ID, err)
	}
	start := task.Start{Committed: committed, Ranges: ranges, Latest: e.options.AutoOffsetReset == "latest"}
	for _, t := range tasks {
		if err := t.Place(start); err != nil {
			return err
		}
	}
	return task.Restore(ctx, e.log, tasks, ranges)
}

func (e *Engine) taskConfig(q *query, g *plan.Subgraph, partition int32) task.Config {
	config := task.Config{
		Query: q.plan, Subgraph: g, Partition: partition,
		SinkPartitions: q.topics.Partitions(task.OutputTopic(g)),
		SinkLimits:     q.topics.Limits(),
		TopicIDs:       q.topics.IDs(q.plan),
		OpenBackend:    e.options.OpenBackend, Budget: e.budget, CheckpointInterval: e.options.CheckpointInterval,
		HoldBack: e.options.HoldBack, MaxIdle: e.options.MaxTaskIdle, BatchRows: e.options.BatchRows,
		Registry: e.options.Registry, Lookups: e.lookups, Reporter: e.options.Events.reporter(), Now: e.options.Now,
	}
	if e.manual() {
		config.MaxIdle, config.Manual = 0, true
	}
	if e.options.Compression != kafkaio.NoCompression {
		config.SinkLimits.Bytes = 0 // what the limit counts is not known before
	}
	if e.options.StateDirectory != "" {
		config.Directory = filepath.Join(e.queryDirectory(q.plan.ID), fmt.Sprintf("%d-%d", g.ID, partition))
	}
	return config
}

// Stop commits a query's work and ends it. It can be started again and goes on
// from there.
func (e *Engine) Stop(ctx context.Context, id string) error {
	e.control.Lock()
	defer e.control.Unlock()
	q, ok := e.query(id)
	if !ok {
		return types.Errorf(types.CodeName, "there is no query %s", id)
	}
	return e.stop(ctx, q)
}

func (e *Engine) stop(ctx context.Context, q *query) error {
	var faults []error
	for _, w := range e.workers {
		faults = append(faults, w.do(ctx, func(ctx context.Context) error {
			w.commit(ctx)
			return w.remove(q, true)
		}))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.queries, q.plan.ID)
	e.order = slices.DeleteFunc(e.order, func(other *query) bool { return other == q })
	return nil
}

// Pause lets a query take no more records until Resume.
func (e *Engine) Pause(id string) error { return e.set(id, Paused) }

// Resume lets a paused query go on.
func (e *Engine) Resume(id string) error { return e.set(id, Running) }

func (e *Engine) set(id string, to QueryState) error {
	q, ok := e.query(id)
	if !ok {
		return types.Errorf(types.CodeName, "there is no query %s", id)
	}
	q.set(to)
	e.nudge()
	return nil
}

// Status tells how a query stands; its state is Unknown if there is none.
func (e *Engine) Status(id string) QueryStatus {
	q, ok := e.query(id)
	if !ok {
		return QueryStatus{ID: id, State: Unknown}
	}
	return q.status()
}

// Rows counts the rows that a query keeps in its stores, as far as it has read;
// known is false if there is no such query, or some of the rows are on disk only.
func (e *Engine) Rows(ctx context.Context, id string) (rows int64, known bool) {
	q, ok := e.query(id)
	known = ok
	for _, w := range e.workers {
		err := w.do(ctx, func(context.Context) error {
			n, whole := w.rows(q)
			rows, known = rows+n, known && whole
			return nil
		})
		known = known && err == nil
	}
	return rows, known
}

// Queries are the ids of all queries, failed ones included, sorted.
func (e *Engine) Queries() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.queries))
}

// Close commits all work and ends the engine. The log stays open. A schema that is
// waited for is given up: its records are read at the next start.
func (e *Engine) Close(ctx context.Context) error {
	e.control.Lock()
	defer e.control.Unlock()
	if e.closed {
		return nil
	}
	e.giveUp()
	e.closed = true
	var faults []error
	for _, w := range e.workers {
		if e.started {
			faults = append(faults, w.do(ctx, w.finish))
		}
	}
	e.cancel()
	for _, w := range e.workers {
		if e.started && !e.manual() {
			<-w.stopped
		}
		// What a worker could not finish in time is left as a crash leaves it.
		for _, s := range slices.Clone(w.shares) {
			faults = append(faults, w.remove(s.query, false))
		}
		faults = append(faults, w.transaction.Close())
	}
	return errors.Join(faults...)
}

// finish commits and closes everything that the worker has.
func (w *worker) finish(ctx context.Context) error {
	w.commit(ctx)
	var faults []error
	for _, s := range slices.Clone(w.shares) {
		faults = append(faults, w.remove(s.query, true))
	}
	return errors.Join(faults...)
}

func (e *Engine) query(id string) (*query, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	q, ok := e.queries[id]
	return q, ok
}

func (e *Engine) put(q *query) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.order = slices.DeleteFunc(e.order, func(other *query) bool { return other.plan.ID == q.plan.ID })
	e.queries[q.plan.ID] = q
	e.order = append(e.order, q)
}

// all are the queries in the order in which they were started.
func (e *Engine) all() []*query {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.order)
}

// fail ends a query by an error; the workers take its tasks out.
func (e *Engine) fail(q *query, cause error) {
	if !q.fail(cause) {
		return
	}
	if e.options.Events.QueryFailed != nil {
		e.options.Events.QueryFailed(QueryFailed{Query: q.plan.ID, Cause: cause})
	}
	e.nudge()
}

func (e *Engine) nudge() {
	for _, w := range e.workers {
		w.nudge()
	}
}

// announce wakes whoever waits for a commit.
func (e *Engine) announce() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.changed)
	e.changed = make(chan struct{})
}

// news is closed at the next commit.
func (e *Engine) news() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed
}
