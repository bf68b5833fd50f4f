package exec

import (
	"testing"
	"time"

	"millrace/kafkaio/client"
	"millrace/kafkaio/embedded"
	"millrace/state/badger"
)

// The engine over Kafka's protocol and Badger gives what it gives in memory,
// also when it is left without a close and started again.
func TestBrokerAndBadgerAgreeWithMemory(t *testing.T) {
	const partitions = 3
	expected := newLog(t, partitions, "orders", "customers")
	e := New(expected, Options{Service: "test"})
	start(t, e, filterQuery(t), groupQuery(t, tumbling))
	produce(t, expected, orders(3000, partitions)...)
	idle(t, e)
	closeEngine(t, e)

	broker, err := embedded.Start(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
	}()
	log, err := client.Open(t.Context(), client.Options{Brokers: broker.Addresses()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}()
	createTopics(t, log, partitions, "orders", "customers")
	options := Options{
		Service: "test", Workers: 2, CommitInterval: 20 * time.Millisecond, CheckpointInterval: -1,
		StateDirectory: t.TempDir(), OpenBackend: badger.Opener(badger.MemTableBytes(8)),
	}
	records := orders(3000, partitions)
	for part := range 3 {
		e := New(log, options)
		start(t, e, filterQuery(t), groupQuery(t, tumbling))
		produce(t, log, records[part*1000:(part+1)*1000]...)
		if part == 1 {
			time.Sleep(100 * time.Millisecond) // somewhere in the middle of the work
			desert(t, e)
			continue
		}
		toEnd(t, e)
		closeEngine(t, e)
	}
	if got, want := sorted(content(t, log, "big")), sorted(content(t, expected, "big")); got != want {
		t.Error("the filter gave other records")
	}
	if got, want := last(perKey(t, log, "totals")), last(perKey(t, expected, "totals")); got != want {
		t.Errorf("totals\n%s\nwant\n%s", got, want)
	}
}

// desert leaves an engine with workers between two steps: open transactions
// stay open, and directories are not closed cleanly.
func desert(t testing.TB, e *Engine) {
	t.Helper()
	e.cancel()
	for _, w := range e.workers {
		<-w.stopped
	}
	abandon(t, e)
	for _, w := range e.workers {
		if err := w.transaction.Close(); err != nil {
			t.Error(err)
		}
	}
}
