package exec

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// otherFilter is the filter query under another name and sink.
func otherFilter(t testing.TB, id, sink string) *plan.Query {
	q := filterQuery(t)
	q.ID, q.Group, q.SinkTopic = id, "_millrace_test_query_"+id, sink
	q.Subgraphs[0].Root.(*plan.Sink).Topic = sink
	return q
}

// A query that must end at a bad timestamp ends alone, and nothing that its
// last transaction wrote counts.
func TestFailingQueryEndsAlone(t *testing.T) {
	for _, workers := range []int{0, 2} {
		log := newLog(t, 2, "orders")
		var failed []string
		e := New(log, Options{
			Service: "test", Workers: workers, BatchRows: 2,
			Events: Events{QueryFailed: func(i QueryFailed) { failed = append(failed, i.String()) }},
		})
		strict := otherFilter(t, "CSAS_STRICT_9", "strict")
		source := strict.Subgraphs[0].Inputs[0].(*plan.Source)
		source.Timestamp = &plan.Timestamp{Column: 2, FailOnInvalid: true}
		start(t, e, filterQuery(t), strict)
		produce(t, log,
			order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`),
			order(0, 2, "b", `{"REGION":"EU","AMOUNT":151}`),
			order(0, 3, "c", `{"REGION":"EU","AMOUNT":-1}`),
			order(0, 4, "d", `{"REGION":"EU","AMOUNT":152}`),
		)
		var err error
		if workers == 0 {
			err = e.RunUntilIdle(t.Context())
		} else {
			err = e.RunUntilEnd(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		expect(t, log, "big", `
0@1 a = {"REGION":"EU","DOUBLED":300}
0@2 b = {"REGION":"EU","DOUBLED":302}
1@4 d = {"REGION":"EU","DOUBLED":304}`)
		expect(t, log, "strict", "")
		s := e.Status("CSAS_STRICT_9")
		if s.State != Failed || !strings.Contains(s.Cause.Error(), "offset 2") || !strings.Contains(s.Cause.Error(), "orders") {
			t.Errorf("status %+v", s)
		}
		if s := e.Status("CSAS_BIG_1"); s.State != Running || s.In != 4 || s.Out != 3 {
			t.Errorf("status %+v", s)
		}
		closeEngine(t, e)
		if len(failed) != 1 {
			t.Errorf("failures: %q", failed)
		}
	}
}

// A bug that panics fails the query with the place of its records.
func TestPanicFailsTheQuery(t *testing.T) {
	log := newLog(t, 1, "orders")
	e := New(log, Options{Service: "test"})
	broken := otherFilter(t, "CSAS_BROKEN_9", "broken")
	schema := &broken.Subgraphs[0].Root.(*plan.Sink).Input.(*plan.Project).Output
	schema.Window, schema.WindowStart, schema.WindowEnd = &catalog.KeyWindow{Kind: catalog.Tumbling, Size: 10}, 99, 99
	start(t, e, filterQuery(t), broken)
	produce(t, log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`))
	if err := e.RunUntilIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := e.Status("CSAS_BROKEN_9")
	if s.State != Failed || !strings.Contains(s.Cause.Error(), "topic orders, partition 0, offsets 0 to 0") {
		t.Errorf("status %+v", s)
	}
	expect(t, log, "big", `0@1 a = {"REGION":"EU","DOUBLED":300}`)
	closeEngine(t, e)
}

func TestRecreatedSourceIsRefused(t *testing.T) {
	w := newWorld(t, 1)
	w.queries = func(t testing.TB) []*plan.Query { return []*plan.Query{filterQuery(t)} }
	w.feed(t, 0)
	e := w.engine(t, Options{})
	idle(t, e)
	closeEngine(t, e)
	if err := w.log.DeleteTopic(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	if err := w.log.CreateTopic(t.Context(), kafkaio.TopicSpec{Name: "orders", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	e = New(w.log, Options{Service: "test", StateDirectory: w.directory, OpenBackend: w.disk.Open})
	err := e.Start(t.Context(), filterQuery(t))
	if fault, ok := errors.AsType[*types.Error](err); !ok || !strings.Contains(fault.Message, "orders was deleted and made again") {
		t.Errorf("error %v", err)
	}
	closeEngine(t, e)
}

// Without a remembered id, a topic that is shorter than what was read of it
// shows that it is another.
func TestShorterSourceIsRefused(t *testing.T) {
	log := newLog(t, 1, "orders")
	producer := log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "p"})
	if err := producer.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := filterQuery(t)
	position := map[kafkaio.TopicPartition]int64{{Topic: "orders"}: 7}
	if err := producer.SendOffsets(t.Context(), kafkaio.Group{Name: q.Group, Generation: -1}, position); err != nil {
		t.Fatal(err)
	}
	if err := producer.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := New(log, Options{Service: "test"})
	if err := e.Start(t.Context(), q); err == nil || !strings.Contains(err.Error(), "ends at offset 0, but was read up to 7") {
		t.Errorf("error %v", err)
	}
	closeEngine(t, e)
}

// State whose positions are gone would count records twice.
func TestStateWithoutPositionsIsRefused(t *testing.T) {
	log := newLog(t, 1, "orders")
	e := New(log, Options{Service: "test"})
	start(t, e, groupQuery(t, nil))
	produce(t, log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`))
	idle(t, e)
	closeEngine(t, e)
	q := groupQuery(t, nil)
	q.Group = "another"
	e = New(log, Options{Service: "test"})
	if err := e.Start(t.Context(), q); err == nil || !strings.Contains(err.Error(), "has no positions") {
		t.Errorf("error %v", err)
	}
	closeEngine(t, e)
}

func TestDeletedUnreadIsReported(t *testing.T) {
	log := newLog(t, 1, "orders")
	e := New(log, Options{Service: "test"})
	start(t, e, filterQuery(t))
	produce(t, log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":150}`))
	idle(t, e)
	produce(t, log, order(0, 2, "b", `{"REGION":"EU","AMOUNT":151}`), order(0, 3, "c", `{"REGION":"EU","AMOUNT":152}`))
	if err := log.DeleteRecords(t.Context(), map[kafkaio.TopicPartition]int64{{Topic: "orders"}: 2}); err != nil {
		t.Fatal(err)
	}
	idle(t, e)
	expect(t, log, "big", `
0@1 a = {"REGION":"EU","DOUBLED":300}
0@3 c = {"REGION":"EU","DOUBLED":304}`)
	if s := e.Status("CSAS_BIG_1"); s.Skipped[task.DeletedUnread] != 1 {
		t.Errorf("status %+v", s)
	}
	closeEngine(t, e)
}

func TestStartRefusals(t *testing.T) {
	log := newLog(t, 2, "orders")
	if err := log.CreateTopic(t.Context(), kafkaio.TopicSpec{Name: "customers", Partitions: 3}); err != nil {
		t.Fatal(err)
	}
	e := New(log, Options{Service: "test"})
	defer closeEngine(t, e)
	missing := filterQuery(t)
	missing.Subgraphs[0].Inputs[0].(*plan.Source).Topic = "nowhere"
	partitions := filterQuery(t)
	partitions.SinkTopic, partitions.SinkPartitions = "customers", 5
	for _, c := range []struct {
		query *plan.Query
		want  string
	}{
		{missing, "the topic nowhere does not exist"},
		{joinQuery(t), "orders has 2, customers has 3"},
		{partitions, "topic customers exists, and the number of its partitions is 3, not 5"},
	} {
		for what, refuse := range map[string]func(context.Context, *plan.Query) error{"check": e.CheckTopics, "start": e.Start} {
			err := refuse(t.Context(), c.query)
			if fault, ok := errors.AsType[*types.Error](err); !ok || !strings.Contains(fault.Message, c.want) {
				t.Errorf("%s: error %v, want %s", what, err, c.want)
			}
		}
	}
	if err := e.CheckTopics(t.Context(), filterQuery(t)); err != nil {
		t.Error(err)
	}
	if topics, err := log.Topics(t.Context()); err != nil || len(topics) != 2 {
		t.Errorf("refusals and checks have made topics: %v, %v", topics, err)
	}
	start(t, e, filterQuery(t))
	if err := e.Start(t.Context(), filterQuery(t)); err == nil {
		t.Error("the same query was started twice")
	}
}

func TestTopicsOfAQuery(t *testing.T) {
	log := newLog(t, 2)
	for name, config := range map[string]map[string]string{"orders": {"retention.ms": "12345"}, "customers": nil} {
		if err := log.CreateTopic(t.Context(), kafkaio.TopicSpec{Name: name, Partitions: 2, Config: config}); err != nil {
			t.Fatal(err)
		}
	}
	e := New(log, Options{Service: "test"})
	defer closeEngine(t, e)
	start(t, e, filterQuery(t), groupQuery(t, tumbling), joinQuery(t))
	const most = "9223372036854775807"
	const week = 7 * 24 * 3600 * 1000
	for topic, want := range map[string]map[string]string{
		"big":    {"retention.ms": "12345", "message.timestamp.after.max.ms": most},
		"totals": {"retention.ms": "12345", "cleanup.policy": "compact,delete", "message.timestamp.after.max.ms": most},
		"_millrace_test_query_CTAS_TOTALS_2-group-repartition": {
			"retention.ms": "-1", "cleanup.policy": "delete", "message.timestamp.after.max.ms": most,
		},
		"_millrace_test_query_CTAS_TOTALS_2-group-changelog": {
			"cleanup.policy": "compact,delete", "retention.ms": strconv.Itoa(101_000 + week), "message.timestamp.type": "LogAppendTime",
		},
		"_millrace_test_query_CSAS_NAMED_3-customers-changelog": {"cleanup.policy": "compact", "message.timestamp.after.max.ms": most},
	} {
		config, err := log.TopicConfig(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if config[name] != value {
				t.Errorf("topic %s: %s is %q, want %q", topic, name, config[name], value)
			}
		}
		topics, err := log.Topics(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if topics[topic].Partitions != 2 {
			t.Errorf("topic %s has %d partitions", topic, topics[topic].Partitions)
		}
	}
}

func TestDropLeavesNothingButTheResult(t *testing.T) {
	w := newWorld(t, 1)
	w.feed(t, 0)
	e := w.engine(t, Options{})
	idle(t, e)
	for _, id := range e.Queries() {
		if err := e.Drop(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	topics, err := w.log.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(topics)); strings.Join(names, " ") != "big customers named orders totals" {
		t.Errorf("topics %q", names)
	}
	if left, err := os.ReadDir(filepath.Join(w.directory, "queries")); err != nil || len(left) > 0 {
		t.Errorf("state of %v, %v", left, err)
	}
	closeEngine(t, e)
}
