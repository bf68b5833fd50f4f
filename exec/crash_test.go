package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/planner/plan"
	statememory "millrace/state/memory"
)

// killed is what a crash hook panics with, in place of a SIGKILL.
type killed struct{ at task.CrashPoint }

// killAt makes a hook that ends the engine at the n-th time at a point.
func killAt(point task.CrashPoint, n int) func(task.CrashPoint) {
	return func(at task.CrashPoint) {
		if at != point {
			return
		}
		if n--; n == 0 {
			panic(killed{at})
		}
	}
}

// abandon leaves an engine as a killed process does: nothing is committed or
// aborted, and the local directories are not closed cleanly.
func abandon(t testing.TB, e *Engine) {
	t.Helper()
	for _, w := range e.workers {
		for _, s := range w.shares {
			s.stopFeeds()
			if err := w.closeTasks(s, false); err != nil {
				t.Error(err)
			}
		}
	}
}

// survive runs until idle; it tells whether the engine was killed meanwhile.
func survive(t testing.TB, e *Engine) (alive bool) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil {
			if _, ok := fault.(killed); !ok {
				panic(fault)
			}
			abandon(t, e)
		}
	}()
	idle(t, e)
	return true
}

// world is a log with a state directory, which engines come and go on.
type world struct {
	log       *memory.Log
	disk      *statememory.Disk
	directory string
	queries   func(testing.TB) []*plan.Query
}

func newWorld(t testing.TB, partitions int) *world {
	return &world{
		log: newLog(t, partitions, "orders", "customers"), disk: statememory.NewDisk(), directory: t.TempDir(),
		queries: func(t testing.TB) []*plan.Query {
			return []*plan.Query{filterQuery(t), groupQuery(t, tumbling), joinQuery(t)}
		},
	}
}

func (w *world) engine(t testing.TB, options Options) *Engine {
	t.Helper()
	options.Service, options.StateDirectory, options.OpenBackend = "test", w.directory, w.disk.Open
	options.CheckpointInterval = -1
	e := New(w.log, options)
	start(t, e, w.queries(t)...)
	return e
}

// feed produces the n-th part of the records.
func (w *world) feed(t testing.TB, part int) {
	produce(t, w.log, orders(800, 1)[part*80:(part+1)*80]...)
	produce(t, w.log, customers(200, 1)[part*20:(part+1)*20]...)
}

const parts = 10

func (w *world) answers(t testing.TB) [3]string {
	return [3]string{content(t, w.log, "big"), content(t, w.log, "totals"), content(t, w.log, "named")}
}

func reference(t testing.TB) [3]string {
	t.Helper()
	w := newWorld(t, 1)
	e := w.engine(t, Options{})
	for part := range parts {
		w.feed(t, part)
		idle(t, e)
	}
	closeEngine(t, e)
	return w.answers(t)
}

func compare(t testing.TB, got, want [3]string) {
	t.Helper()
	for i, topic := range []string{"big", "totals", "named"} {
		if want[i] == "" {
			t.Errorf("topic %s is empty", topic)
		}
		if got[i] != want[i] {
			t.Errorf("topic %s has other records than without the fault", topic)
		}
	}
}

func TestKillAtEachCrashPoint(t *testing.T) {
	want := reference(t)
	for _, point := range task.CrashPoints {
		for _, nth := range []int{1, 2, 9, 17} {
			t.Run(fmt.Sprintf("%s/%d", point, nth), func(t *testing.T) {
				w := newWorld(t, 1)
				e := w.engine(t, Options{Crash: killAt(point, nth), BatchRows: nth})
				kills := 0
				for part := range parts {
					w.feed(t, part)
					for !survive(t, e) {
						kills++
						e = w.engine(t, Options{BatchRows: 1000})
					}
				}
				closeEngine(t, e)
				if kills != 1 {
					t.Errorf("killed %d times", kills)
				}
				compare(t, w.answers(t), want)
			})
		}
	}
}

// Killed again and again, at every point in turn.
func TestKillRepeatedly(t *testing.T) {
	want := reference(t)
	w := newWorld(t, 1)
	next := 0
	engine := func() *Engine {
		point := task.CrashPoints[next%len(task.CrashPoints)]
		next++
		return w.engine(t, Options{Crash: killAt(point, 4), BatchRows: 1 + next*13%100})
	}
	e := engine()
	for part := range parts {
		w.feed(t, part)
		for !survive(t, e) {
			e = engine()
		}
	}
	closeEngine(t, e)
	if next < len(task.CrashPoints) {
		t.Errorf("killed only %d times", next-1)
	}
	compare(t, w.answers(t), want)
}

func TestRestoreWithoutDirectory(t *testing.T) {
	want := reference(t)
	w := newWorld(t, 1)
	restored := 0
	options := Options{Events: Events{StateRestored: func(task.StateRestored) { restored++ }}}
	for part := range parts {
		w.feed(t, part)
		e := w.engine(t, options)
		idle(t, e)
		closeEngine(t, e)
		if err := os.RemoveAll(w.directory); err != nil {
			t.Fatal(err)
		}
		w.disk = statememory.NewDisk()
	}
	if restored < 2*(parts-1) {
		t.Errorf("%d stores were restored", restored)
	}
	compare(t, w.answers(t), want)
}

// After a clean close the next start replays only what the last checkpoint had
// not begun with.
func TestCleanCloseIsTrusted(t *testing.T) {
	w := newWorld(t, 1)
	w.feed(t, 0)
	e := w.engine(t, Options{})
	for part := 1; part < parts; part++ {
		idle(t, e)
		w.feed(t, part)
	}
	idle(t, e)
	closeEngine(t, e)
	if _, err := os.Stat(filepath.Join(w.directory, "queries", "CTAS_TOTALS_2", "1-0", "marker")); err != nil {
		t.Fatal(err)
	}
	e = w.engine(t, Options{Events: Events{StateRestored: func(i task.StateRestored) {
		if i.From == 0 {
			t.Error(i)
		}
	}}})
	closeEngine(t, e)
}

func TestBatchSizesAgree(t *testing.T) {
	want := reference(t)
	for _, rows := range []int{1, 3, 1000} {
		w := newWorld(t, 1)
		for part := range parts {
			w.feed(t, part)
		}
		e := w.engine(t, Options{BatchRows: rows})
		idle(t, e)
		closeEngine(t, e)
		got := w.answers(t)
		// With all records there at once, the join sees them in the order of
		// their times: the other two do not depend on it.
		got[2] = want[2]
		compare(t, got, want)
	}
}

// The log's own faults: an abandoned transaction of another owner, and a commit
// whose answer is lost.
func TestFencedProducer(t *testing.T) {
	want := reference(t)
	w := newWorld(t, 1)
	troubles := 0
	e := w.engine(t, Options{Events: Events{WorkerTrouble: func(WorkerTrouble) { troubles++ }}})
	for part := range parts {
		w.feed(t, part)
		if part == 3 || part == 7 {
			if err := w.log.Fence(t.Context(), []string{"_millrace_test_0"}); err != nil {
				t.Fatal(err)
			}
		}
		idle(t, e)
	}
	closeEngine(t, e)
	if troubles != 2 {
		t.Errorf("%d troubles, want 2", troubles)
	}
	compare(t, w.answers(t), want)
}

// lossyLog loses the answers of some commits, after or before they count.
type lossyLog struct {
	*memory.Log
	commits int
	loses   func(n int) (lose, counts bool)
}

type lossyProducer struct {
	kafkaio.Producer
	log *lossyLog
}

var errLost = errors.New("the connection was lost")

func (l *lossyLog) NewProducer(options kafkaio.ProducerOptions) kafkaio.Producer {
	return &lossyProducer{l.Log.NewProducer(options), l}
}

func (p *lossyProducer) Commit(ctx context.Context) error {
	p.log.commits++
	lose, counts := p.log.loses(p.log.commits)
	if !lose {
		return p.Producer.Commit(ctx)
	}
	if counts {
		if err := p.Producer.Commit(ctx); err != nil {
			return err
		}
	}
	return errLost
}

func TestLostAnswerOfCommit(t *testing.T) {
	want := reference(t)
	for _, counts := range []bool{true, false} {
		w := newWorld(t, 1)
		lossy := &lossyLog{Log: w.log, loses: func(n int) (bool, bool) { return n%5 == 3, counts }}
		e := New(lossy, Options{Service: "test"})
		start(t, e, w.queries(t)...)
		for part := range parts {
			w.feed(t, part)
			idle(t, e)
		}
		closeEngine(t, e)
		compare(t, w.answers(t), want)
	}
}
