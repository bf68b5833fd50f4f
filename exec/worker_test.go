package exec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"millrace/kafkaio"
	"millrace/planner/catalog"
	"millrace/planner/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func toEnd(t testing.TB, e *Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := e.RunUntilEnd(ctx); err != nil {
		t.Fatal(err)
	}
	for _, id := range e.Queries() {
		if s := e.Status(id); s.State == Failed {
			t.Fatal(s.Cause)
		}
	}
}

func closeEngine(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// orders are n records over the partitions, times and regions mixed.
func orders(n, partitions int) []input {
	regions := []string{"EU", "US", "ASIA", "AFRICA", "OCEANIA"}
	records := make([]input, n)
	for i := range records {
		value := fmt.Sprintf(`{"REGION":%q,"AMOUNT":%d}`, regions[i*7%5], i*37%251)
		if i%97 == 13 {
			value = "{"
		}
		records[i] = order(int32(i%partitions), int64(1000+i*10-(i%7)*15), fmt.Sprintf("k%d", i%31), value)
	}
	return records
}

func customers(n, partitions int) []input {
	records := make([]input, n)
	for i := range records {
		value := fmt.Sprintf(`{"NAME":"name %d"}`, i)
		if i%11 == 5 {
			value = ""
		}
		key := i * 5 % 31
		records[i] = input{"customers", int32(key % partitions), int64(1000 + i*40), fmt.Sprintf("k%d", key), value}
	}
	return records
}

// perKey is the content of a topic as the list of records of each key.
func perKey(t testing.TB, log kafkaio.Log, topic string) map[string][]string {
	t.Helper()
	keys := make(map[string][]string)
	for line := range strings.Lines(content(t, log, topic)) {
		record := line[strings.Index(line, "@")+1:]
		key := record[strings.Index(record, " "):strings.Index(record, " = ")]
		keys[key] = append(keys[key], record)
	}
	return keys
}

// last is the last record of each key.
func last(keys map[string][]string) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out.WriteString(keys[key][len(keys[key])-1])
	}
	return out.String()
}

var tumbling = &plan.Window{Kind: catalog.Tumbling, Size: 1000, Advance: 1000, Grace: 100_000}

func TestWorkersAgreeWithIdle(t *testing.T) {
	const partitions = 4
	run := func(options Options, drive func(testing.TB, *Engine)) (totals, big, named string) {
		log := newLog(t, partitions, "orders", "customers")
		produce(t, log, orders(5000, partitions)...)
		produce(t, log, customers(300, partitions)...)
		e := New(log, options)
		defer closeEngine(t, e)
		start(t, e, filterQuery(t), groupQuery(t, tumbling), joinQuery(t))
		drive(t, e)
		return last(perKey(t, log, "totals")), content(t, log, "big"), content(t, log, "named")
	}
	totals, big, named := run(Options{Service: "test"}, idle)
	for _, options := range []Options{
		{Service: "test", Workers: 1},
		{Service: "test", Workers: 3, CommitInterval: time.Millisecond, BatchRows: 7},
		{Service: "test", Workers: 2, HoldBack: true, BatchRows: 100},
	} {
		gotTotals, gotBig, gotNamed := run(options, toEnd)
		if gotTotals != totals {
			t.Errorf("workers %d: totals\n%s\nwant\n%s", options.Workers, gotTotals, totals)
		}
		// Each partition is filled by keys of several inputs, in any order of tasks.
		if sorted(gotBig) != sorted(big) || sorted(gotNamed) != sorted(named) {
			t.Errorf("workers %d: other records than one goroutine gives", options.Workers)
		}
	}
}

func sorted(text string) string {
	lines := slices.Collect(strings.Lines(text))
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// A query that reads what another writes is done when both are.
func TestRunUntilEndFollowsChains(t *testing.T) {
	log := newLog(t, 2, "orders")
	produce(t, log, orders(3000, 2)...)
	e := New(log, Options{Service: "test", Workers: 2, CommitInterval: 5 * time.Millisecond})
	defer closeEngine(t, e)
	start(t, e, filterQuery(t))
	second := filterQuery(t)
	second.ID, second.Group, second.SinkTopic = "CSAS_BIGGER_2", "_millrace_test_query_CSAS_BIGGER_2", "bigger"
	root := second.Subgraphs[0].Root.(*plan.Sink)
	root.Topic = "bigger"
	source := second.Subgraphs[0].Inputs[0].(*plan.Source)
	source.Topic, source.ValueFields[1].Name = "big", "DOUBLED"
	start(t, e, second)
	toEnd(t, e)
	if first, got := strings.Count(content(t, log, "big"), "\n"), strings.Count(content(t, log, "bigger"), "\n"); got == 0 || got != first {
		t.Errorf("%d records of %d", got, first)
	}
	if s := e.Status("CSAS_BIGGER_2"); s.Lag != 0 || s.State != Running {
		t.Errorf("status %+v", s)
	}
}

func TestStopStartPauseResume(t *testing.T) {
	log := newLog(t, 1, "orders")
	e := New(log, Options{Service: "test", Workers: 1, CommitInterval: time.Millisecond})
	defer closeEngine(t, e)
	start(t, e, groupQuery(t, nil))
	produce(t, log, order(0, 1, "a", `{"REGION":"EU","AMOUNT":1}`))
	toEnd(t, e)
	const id = "CTAS_TOTALS_2"
	if err := e.Stop(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if e.Status(id).State != Unknown {
		t.Error("a stopped query is still known")
	}
	produce(t, log, order(0, 2, "a", `{"REGION":"EU","AMOUNT":2}`))
	start(t, e, groupQuery(t, nil))
	toEnd(t, e)
	if err := e.Pause(id); err != nil {
		t.Fatal(err)
	}
	produce(t, log, order(0, 3, "a", `{"REGION":"EU","AMOUNT":3}`))
	toEnd(t, e) // does not wait for a paused query
	if s := e.Status(id); s.State != Paused {
		t.Errorf("status %+v", s)
	}
	if err := e.Resume(id); err != nil {
		t.Fatal(err)
	}
	toEnd(t, e)
	expect(t, log, "totals", `
0@1 EU = {"N":1,"TOTAL":1}
0@2 EU = {"N":2,"TOTAL":3}
0@3 EU = {"N":3,"TOTAL":6}`)
}
