package exec

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/planner/plan"
)

// remains are what queries have left in the log and in the state directory.
func remains(t testing.TB, log *memory.Log, directory string, queries ...*plan.Query) []string {
	t.Helper()
	topics, err := log.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for name := range topics {
		if strings.HasPrefix(name, "_millrace_") {
			left = append(left, "topic "+name)
		}
	}
	for _, q := range queries {
		var inputs []kafkaio.TopicPartition
		for _, g := range q.Subgraphs {
			for _, input := range g.Inputs {
				inputs = append(inputs, kafkaio.TopicPartition{Topic: plan.InputTopic(input)})
			}
		}
		positions, err := log.CommittedOffsets(t.Context(), q.Group, inputs)
		if err != nil {
			t.Fatal(err)
		}
		for tp := range maps.Keys(positions) {
			left = append(left, "position of "+q.ID+" in "+tp.Topic)
		}
	}
	directories, err := filepath.Glob(filepath.Join(directory, "queries", "*"))
	if err != nil {
		t.Fatal(err)
	}
	left = append(left, directories...)
	slices.Sort(left)
	return left
}

func TestDropLeavesNothing(t *testing.T) {
	for _, workers := range []int{0, 2} {
		w := newWorld(t, 2)
		e := w.engine(t, Options{Workers: workers})
		w.feed(t, 0)
		if err := e.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(remains(t, w.log, w.directory, w.queries(t)...)) < 6 {
			t.Error("the queries had nothing that a drop could leave")
		}
		for _, q := range w.queries(t) {
			if err := e.Drop(t.Context(), q.ID); err != nil {
				t.Fatal(err)
			}
		}
		if left := remains(t, w.log, w.directory, w.queries(t)...); len(left) > 0 {
			t.Errorf("%d workers: left: %q", workers, left)
		}
		if content(t, w.log, "totals") == "" {
			t.Error("the result is gone")
		}
		if err := e.Drop(t.Context(), "CTAS_TOTALS_2"); err == nil {
			t.Error("a query that is gone was dropped again")
		}
		closeEngine(t, e)
	}
}

func TestDropOfAFailedQuery(t *testing.T) {
	log := newLog(t, 1, "orders")
	e := New(log, Options{Service: "test"})
	q := groupQuery(t, nil)
	start(t, e, q)
	produce(t, log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`))
	idle(t, e)
	running, _ := e.query(q.ID)
	e.fail(running, errors.New("as a test wants it"))
	if err := e.RunUntilIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Drop(t.Context(), q.ID); err != nil {
		t.Fatal(err)
	}
	if left := remains(t, log, t.TempDir(), q); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	closeEngine(t, e)
}

// brokenLog refuses deletions after some.
type brokenLog struct {
	*memory.Log
	deletions int
}

var errBroken = errors.New("the cluster is gone")

func (l *brokenLog) allow() error {
	if l.deletions == 0 {
		return errBroken
	}
	l.deletions--
	return nil
}

func (l *brokenLog) DeleteTopic(ctx context.Context, name string) error {
	if err := l.allow(); err != nil {
		return err
	}
	return l.Log.DeleteTopic(ctx, name)
}

func (l *brokenLog) DeleteGroup(ctx context.Context, group string) error {
	if err := l.allow(); err != nil {
		return err
	}
	return l.Log.DeleteGroup(ctx, group)
}

// A drop that ends half way is finished by the next start of the query, which
// then knows nothing of what was before.
func TestDropCutShort(t *testing.T) {
	q := groupQuery(t, nil)
	deletions := 1 + len(task.InternalTopics(q)) // the group's too
	for left := range deletions {
		for _, inMemory := range []bool{true, false} {
			w := newWorld(t, 1)
			w.queries = func(t testing.TB) []*plan.Query { return []*plan.Query{groupQuery(t, nil)} }
			options := Options{Service: "test"}
			if !inMemory {
				options.StateDirectory, options.OpenBackend, options.CheckpointInterval = w.directory, w.disk.Open, -1
			}
			broken := &brokenLog{Log: w.log, deletions: left}
			e := New(broken, options)
			start(t, e, w.queries(t)...)
			produce(t, w.log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`))
			idle(t, e)
			produce(t, w.log, order(0, 2, "b", `{"REGION":"EU","AMOUNT":1}`))
			if err := e.Drop(t.Context(), q.ID); !errors.Is(err, errBroken) {
				t.Fatalf("error %v", err)
			}
			abandon(t, e)
			if err := w.log.DeleteTopic(t.Context(), "totals"); err != nil {
				t.Fatal(err)
			}
			e = New(w.log, options)
			start(t, e, w.queries(t)...)
			idle(t, e)
			expect(t, w.log, "totals", `
0@1 EU = {"N":1,"TOTAL":150}
0@2 EU = {"N":2,"TOTAL":151}`)
			if err := e.Drop(t.Context(), q.ID); err != nil {
				t.Fatal(err)
			}
			closeEngine(t, e)
			if rest := remains(t, w.log, w.directory, q); len(rest) > 0 {
				t.Errorf("after %d deletions: left: %q", left, rest)
			}
		}
	}
}

// In the same process the drop can be repeated, and a start finishes it too.
func TestDropAgain(t *testing.T) {
	for _, restart := range []bool{false, true} {
		w := newWorld(t, 1)
		broken := &brokenLog{Log: w.log, deletions: 1}
		e := New(broken, Options{Service: "test"})
		q := groupQuery(t, nil)
		start(t, e, q)
		produce(t, w.log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`))
		idle(t, e)
		if err := e.Drop(t.Context(), q.ID); !errors.Is(err, errBroken) {
			t.Fatalf("error %v", err)
		}
		broken.deletions = -1
		if restart {
			start(t, e, q)
			idle(t, e)
		}
		if err := e.Drop(t.Context(), q.ID); err != nil {
			t.Fatal(err)
		}
		if left := remains(t, w.log, w.directory, q); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		closeEngine(t, e)
	}
}

// lookQuery is the group query as a SELECT of its own.
func lookQuery(t testing.TB) *plan.Query {
	q := groupQuery(t, nil)
	q.ID, q.Transient = "LOOK_5_1", true
	q.Group = "_millrace_test_query_" + q.ID
	rename := strings.NewReplacer("_millrace_test_query_CTAS_TOTALS_2", q.Group).Replace
	q.SinkTopic = q.Group + "-result"
	q.Subgraphs[1].Root.(*plan.Sink).Topic = q.SinkTopic
	q.Subgraphs[0].Root.(*plan.RepartitionSink).Topic = rename(q.Subgraphs[0].Root.(*plan.RepartitionSink).Topic)
	q.Subgraphs[1].Inputs[0].(*plan.RepartitionSource).Topic = q.Subgraphs[0].Root.(*plan.RepartitionSink).Topic
	q.Subgraphs[1].Stores[0].Changelog = rename(q.Subgraphs[1].Stores[0].Changelog)
	q.Repartitions[0].Topic = rename(q.Repartitions[0].Topic)
	return q
}

func TestTransientLeavesNothing(t *testing.T) {
	w := newWorld(t, 2)
	w.queries = func(testing.TB) []*plan.Query { return nil }
	e := w.engine(t, Options{Workers: 2})
	w.feed(t, 0)
	q := lookQuery(t)
	start(t, e, q)
	if err := e.RunUntilEnd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if content(t, w.log, q.SinkTopic) == "" {
		t.Error("no result")
	}
	if err := e.Drop(t.Context(), q.ID); err != nil {
		t.Fatal(err)
	}
	if left := remains(t, w.log, w.directory, q); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	refused := lookQuery(t)
	refused.Subgraphs[1].Stores[0].Name = "none"
	if err := e.Start(t.Context(), refused); err == nil {
		t.Error("a query without its store was started")
	}
	if left := remains(t, w.log, w.directory, q); len(left) > 0 {
		t.Errorf("a start that failed left: %q", left)
	}
	closeEngine(t, e)
}

// What a killed process leaves of a SELECT goes at the next start, and nothing else.
func TestTransientOfAKilledProcess(t *testing.T) {
	w := newWorld(t, 1)
	w.queries = func(t testing.TB) []*plan.Query { return []*plan.Query{groupQuery(t, nil)} }
	e := w.engine(t, Options{})
	w.feed(t, 0)
	start(t, e, lookQuery(t))
	idle(t, e)
	abandon(t, e)
	createTopics(t, w.log, 1, "_millrace_test_query_LOOK_5_query_CSAS_O_1-aggregate-changelog")
	e = w.engine(t, Options{})
	left := remains(t, w.log, w.directory, lookQuery(t))
	for _, thing := range left {
		if strings.Contains(thing, "LOOK_5_1") {
			t.Errorf("left: %s", thing)
		}
	}
	if !slices.Contains(left, "topic _millrace_test_query_LOOK_5_query_CSAS_O_1-aggregate-changelog") {
		t.Error("a topic of another service was deleted")
	}
	closeEngine(t, e)
	if _, err := os.Stat(filepath.Join(w.directory, "queries", "CTAS_TOTALS_2")); err != nil {
		t.Error(err)
	}
}

// A mark whose commit is lost costs the other queries of its worker nothing.
func TestLostMark(t *testing.T) {
	for _, counts := range []bool{true, false} {
		w := newWorld(t, 1)
		lose := false
		lossy := &lossyLog{Log: w.log, loses: func(int) (bool, bool) { return lose, counts }}
		e := New(lossy, Options{Service: "test", Workers: 1})
		q := groupQuery(t, nil)
		start(t, e, filterQuery(t), q)
		produce(t, w.log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`))
		toEnd(t, e)
		produce(t, w.log, order(0, 2, "b", `{"REGION":"EU","AMOUNT":151}`))
		toEnd(t, e)
		lose = true
		if err := e.Drop(t.Context(), q.ID); !errors.Is(err, errLost) {
			t.Fatalf("error %v", err)
		}
		lose = false
		produce(t, w.log, order(0, 3, "c", `{"REGION":"EU","AMOUNT":152}`))
		toEnd(t, e)
		if err := e.Drop(t.Context(), q.ID); err != nil {
			t.Fatal(err)
		}
		closeEngine(t, e)
		expect(t, w.log, "big", `
0@1 a = {"REGION":"EU","DOUBLED":300}
0@2 b = {"REGION":"EU","DOUBLED":302}
0@3 c = {"REGION":"EU","DOUBLED":304}`)
		if left := remains(t, w.log, w.directory, q); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}
