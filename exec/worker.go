package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"millrace/exec/task"
	"millrace/kafkaio"
)

// worker owns a transactional producer and the tasks whose work it commits,
// those that Engine.home gives it. One goroutine runs it, the caller's where the
// engine has no workers of its own.
type worker struct {
	engine      *Engine
	number      int
	transaction *task.Transaction
	shares      []*share
	commands    chan command
	deliveries  chan delivery
	wake        chan struct{}
	stopped     chan struct{} // closed when the goroutine has ended
	waiting     bool          // work is pending since begun
	begun       time.Time
	troubles    int // rollbacks in a row
	ends        atomic.Pointer[ends]
}

// share is a query's tasks on one worker.
type share struct {
	query *query
	tasks []*task.Task
	feeds []*feed
	// resumes is when the tasks go on that had to wait, for the troubles-th time
	// in a row.
	resumes  time.Time
	troubles int
}

// command is run by a worker's goroutine between two steps.
type command struct {
	run  func(ctx context.Context) error
	done chan error
}

func newWorker(e *Engine, number int) *worker {
	w := &worker{
		engine: e, number: number, commands: make(chan command), deliveries: make(chan delivery, 16),
		wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	w.transaction = task.NewTransaction(e.log, task.TransactionOptions{
		Producer:  kafkaio.ProducerOptions{TransactionalID: e.transactionalID(number), Compression: e.options.Compression},
		Crash:     e.options.Crash,
		Committed: w.committed,
	})
	return w
}

// loop runs until ctx ends.
func (w *worker) loop(ctx context.Context) {
	defer close(w.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		progress := w.pass(ctx)
		if w.due(progress) {
			w.commit(ctx)
		}
		if progress {
			w.receive()
			continue
		}
		timer.Reset(w.patience())
		select {
		case <-ctx.Done():
		case c := <-w.commands:
			c.done <- c.run(ctx)
		case d := <-w.deliveries:
			w.accept(ctx, d)
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// receive takes what waits without waiting itself.
func (w *worker) receive() {
	for {
		select {
		case c := <-w.commands:
			c.done <- c.run(w.engine.ctx)
		case d := <-w.deliveries:
			w.accept(w.engine.ctx, d)
		default:
			return
		}
	}
}

// do lets the worker's goroutine run f between two steps. Without workers of
// their own the caller's goroutine does.
func (w *worker) do(ctx context.Context, f func(ctx context.Context) error) error {
	if w.engine.manual() {
		return f(ctx)
	}
	c := command{f, make(chan error, 1)}
	select {
	case w.commands <- c:
	case <-w.stopped:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// nudge lets a worker that waits look around.
func (w *worker) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// pass lets every task take a step. It tells whether one did.
func (w *worker) pass(ctx context.Context) bool {
	w.dropFailed(ctx, true)
	progress := false
	for _, s := range slices.Clone(w.shares) {
		if !s.query.is(Running) || s.resumes.After(w.engine.options.Now()) {
			continue
		}
		stepped := false
		for _, turn := range turns(s.tasks) {
			moved, err := turn.step(ctx, w.taskEnds())
			if err != nil {
				w.recoverFrom(ctx, s.query, err)
				return true
			}
			stepped = stepped || moved
		}
		if progress = progress || stepped; stepped {
			s.troubles = 0
		}
	}
	if !w.waiting && w.transaction.Pending() {
		w.waiting, w.begun = true, w.engine.options.Now()
	}
	return progress
}

// taskEnds is the worker's ends as the tasks take them: nil stays nil.
func (w *worker) taskEnds() task.Ends {
	if e := w.ends.Load(); e != nil {
		return e
	}
	return nil
}

// due tells whether it is time to commit.
func (w *worker) due(progress bool) bool {
	if !w.waiting {
		return false
	}
	if !progress && w.ends.Load() != nil {
		return true
	}
	return w.transaction.Bytes() >= commitBytes || w.engine.options.Now().Sub(w.begun) >= w.engine.options.CommitInterval
}

const (
	longPatience = time.Minute
	idlePatience = 20 * time.Millisecond
)

// patience is how long the worker may wait when no task has anything to do.
func (w *worker) patience() time.Duration {
	wait := longPatience
	if w.patient() {
		wait = idlePatience
	}
	now := w.engine.options.Now()
	if w.waiting {
		wait = min(wait, w.engine.options.CommitInterval-now.Sub(w.begun))
	}
	for _, s := range w.shares {
		if s.resumes.After(now) {
			wait = min(wait, s.resumes.Sub(now))
		}
	}
	return max(wait, 0)
}

// patient tells whether a task of the worker may wait for an empty input, so that
// time alone can give it something to do.
func (w *worker) patient() bool {
	return slices.ContainsFunc(w.shares, func(s *share) bool { return slices.ContainsFunc(s.tasks, (*task.Task).Patient) })
}

// accept hands what a feed has fetched to its tasks.
func (w *worker) accept(ctx context.Context, d delivery) {
	d.feed.deliver(d.runs)
	if d.err != nil && !d.feed.stopped {
		w.recoverFrom(ctx, d.share.query, fmt.Errorf("fetch: %w", d.err))
	}
}

// commit commits all work that is pending.
func (w *worker) commit(ctx context.Context) {
	w.waiting = false
	if err := w.transaction.Commit(ctx); err != nil {
		w.recoverFrom(ctx, nil, err)
		return
	}
	w.troubles = 0
	w.engine.announce()
}

// committed takes what a task did in a transaction that has committed.
func (w *worker) committed(t *task.Task, counts task.Counts) {
	for _, s := range w.shares {
		if slices.Contains(s.tasks, t) {
			s.query.committed(t, counts, w.engine.options.Now())
		}
	}
	if w.engine.options.Events.Committed != nil {
		w.engine.options.Events.Committed(Committed{
			Query: t.Query().ID, Subgraph: t.Subgraph(), Partition: t.Partition(), In: counts.In, Out: counts.Out,
		})
	}
}

// recoverFrom rolls all tasks of the worker back to the last commit and decides
// with the error who goes on. blamed is the query whose work failed, nil when
// the error has to tell.
func (w *worker) recoverFrom(ctx context.Context, blamed *query, err error) {
	w.waiting = false
	w.stopFeeds()
	if rollback := w.rollback(ctx, err); rollback != nil {
		if ctx.Err() == nil {
			w.failAll(rollback)
		}
		return
	}
	if blamed == nil {
		blamed = w.blame(err)
	}
	switch action := task.Classify(err); {
	case action == task.Stop:
		return
	case blamed == nil && (action == task.Drop || action == task.Reposition || action == task.Rebuild):
		w.failAll(err)
		return
	case action == task.Drop:
		w.engine.fail(blamed, err)
		w.dropFailed(ctx, false)
	case action == task.Reposition || action == task.Rebuild:
		if err := w.reopen(ctx, blamed, action, err); err != nil {
			w.engine.fail(blamed, err)
			w.dropFailed(ctx, false)
		}
	case action == task.Wait && blamed != nil && !w.engine.manual():
		w.postpone(blamed, err)
	default:
		w.pause(ctx, err)
	}
	w.startFeeds()
}

// rollback rolls back until it succeeds, or must be given up.
func (w *worker) rollback(ctx context.Context, cause error) error {
	for {
		err := w.transaction.Rollback(ctx, cause)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if action := task.Classify(err); action != task.Retry && action != task.Reinitialise && action != task.Wait {
			return err
		}
		w.pause(ctx, err)
	}
}

const longestPause = 5 * time.Second

// pauseAfter is how long to wait for another attempt, longer each time.
func pauseAfter(troubles int) time.Duration {
	return min(20*time.Millisecond<<min(troubles, 10), longestPause)
}

func (w *worker) reportTrouble(trouble WorkerTrouble) {
	if w.engine.options.Events.WorkerTrouble != nil {
		trouble.Worker = w.number
		w.engine.options.Events.WorkerTrouble(trouble)
	}
}

// postpone lets a query wait before another attempt, while the worker goes on
// with the others.
func (w *worker) postpone(q *query, cause error) {
	for _, s := range w.shares {
		if s.query != q {
			continue
		}
		wait := pauseAfter(s.troubles)
		s.troubles++
		s.resumes = w.engine.options.Now().Add(wait)
		w.reportTrouble(WorkerTrouble{Query: q.plan.ID, Cause: cause, Pause: wait})
	}
}

// pause waits before another attempt.
func (w *worker) pause(ctx context.Context, cause error) {
	wait := pauseAfter(w.troubles)
	w.troubles++
	w.reportTrouble(WorkerTrouble{Cause: cause, Pause: wait})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// blame finds the query that an error of the shared transaction belongs to.
func (w *worker) blame(err error) *query {
	if fault, ok := errors.AsType[*task.QueryError](err); ok {
		for _, s := range w.shares {
			if s.query.plan.ID == fault.Query {
				return s.query
			}
		}
	}
	if fault, ok := errors.AsType[*kafkaio.PartitionError](err); ok {
		for _, s := range w.shares {
			if task.Writes(s.query.plan, fault.Topic) {
				return s.query
			}
		}
	}
	if len(w.shares) == 1 {
		return w.shares[0].query
	}
	return nil
}

// failAll ends all queries of a worker that cannot go on.
func (w *worker) failAll(cause error) {
	for _, s := range w.shares {
		w.engine.fail(s.query, cause)
	}
}

// reopen makes the tasks of a query anew from what is committed, without their
// local state if that is to blame.
func (w *worker) reopen(ctx context.Context, q *query, action task.Action, cause error) error {
	at := slices.IndexFunc(w.shares, func(s *share) bool { return s.query == q })
	if at < 0 {
		return cause
	}
	w.troubles++
	if w.troubles > mostReopens {
		return cause
	}
	s := w.shares[at]
	if action == task.Rebuild {
		for _, t := range s.tasks {
			if err := t.Discard(cause); err != nil {
				return errors.Join(cause, err)
			}
		}
	}
	if err := w.closeTasks(s, true); err != nil {
		return errors.Join(cause, err)
	}
	var err error
	if s.tasks, err = w.engine.openTasks(ctx, q, w); err != nil {
		return err
	}
	for _, t := range s.tasks {
		w.transaction.Add(t)
	}
	return nil
}

// mostReopens is how often in a row a query may lose its state before it fails.
const mostReopens = 3

// startFeeds fetches for all shares that have none.
func (w *worker) startFeeds() {
	for _, s := range w.shares {
		if len(s.feeds) > 0 {
			continue
		}
		s.feeds = newFeeds(w.engine.log, s.tasks)
		if w.engine.manual() {
			continue
		}
		for _, f := range s.feeds {
			f.pump(s, w.deliveries)
		}
	}
}

func (w *worker) stopFeeds() {
	for _, s := range w.shares {
		s.stopFeeds()
	}
}

func (s *share) stopFeeds() {
	for _, f := range s.feeds {
		_ = f.stop() // nothing is lost with a connection that was only read from
	}
	s.feeds = nil
}

// add makes restored tasks part of the worker.
func (w *worker) add(s *share) {
	w.shares = append(w.shares, s)
	for _, t := range s.tasks {
		w.transaction.Add(t)
	}
	w.startFeeds()
}

// remove takes a query's tasks out; their work was committed or rolled back.
func (w *worker) remove(q *query, clean bool) error {
	at := slices.IndexFunc(w.shares, func(s *share) bool { return s.query == q })
	if at < 0 {
		return nil
	}
	s := w.shares[at]
	w.shares = slices.Delete(w.shares, at, at+1)
	s.stopFeeds()
	return w.closeTasks(s, clean)
}

// rows counts what the worker's tasks of a query keep.
func (w *worker) rows(q *query) (rows int64, whole bool) {
	whole = true
	for _, s := range w.shares {
		if s.query != q {
			continue
		}
		for _, t := range s.tasks {
			n, all := t.Rows()
			rows, whole = rows+n, whole && all
		}
	}
	return rows, whole
}

func (w *worker) closeTasks(s *share, clean bool) error {
	var faults []error
	for _, t := range s.tasks {
		w.transaction.Remove(t)
		faults = append(faults, t.Close(clean))
	}
	s.tasks = nil
	return errors.Join(faults...)
}

// dropFailed takes out the queries that failed here or on another worker. What
// they have pending is committed with the rest first, unless the worker was
// rolled back just now.
func (w *worker) dropFailed(ctx context.Context, commit bool) {
	for _, s := range slices.Clone(w.shares) {
		if !s.query.is(Failed) || !slices.Contains(w.shares, s) {
			continue
		}
		if commit && w.transaction.Pending() {
			w.commit(ctx)
		}
		// The query has its cause already; a directory that was not closed
		// cleanly is dropped by the next start.
		_ = w.remove(s.query, true)
		w.engine.announce()
	}
}
