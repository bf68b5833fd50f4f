package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// silentRegistry answers no question about schemas by id until it is repaired.
type silentRegistry struct {
	*registry.Memory
	repaired atomic.Bool
	once     sync.Once
	asked    chan struct{} // closed by the first question
}

func (r *silentRegistry) Schema(ctx context.Context, id int32) (registry.Schema, error) {
	r.once.Do(func() { close(r.asked) })
	if !r.repaired.Load() {
		return registry.Schema{}, fmt.Errorf("schema id %d: %w", id, registry.ErrUnavailable)
	}
	return r.Memory.Schema(ctx, id)
}

func newSilentRegistry() *silentRegistry {
	r := &silentRegistry{Memory: registry.NewMemory(), asked: make(chan struct{})}
	r.Put(1, "orders-value", registry.Schema{Kind: registry.Avro, Text: `{"type":"record","name":"Order","fields":[
		{"name":"REGION","type":["null","string"],"default":null},{"name":"DOUBLED","type":["null","long"],"default":null},
		{"name":"AMOUNT","type":["null","long"],"default":null}]}`})
	return r
}

// A start whose schema cannot be had makes no topics.
func TestStartWithoutItsSchema(t *testing.T) {
	log, schemas := newLog(t, 1, "orders"), newSilentRegistry()
	e := New(log, Options{Service: "test", Registry: schemas})
	query := filterQuery(t)
	query.Subgraphs[0].Root.(*plan.Sink).ValueFormat = catalog.Format{Name: "AVRO", SchemaID: 1}
	if err := e.Start(t.Context(), query); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("start: %v", err)
	}
	topics, err := log.Topics(t.Context())
	if err != nil || len(topics) != 1 {
		t.Errorf("the topics are %v, %v", topics, err)
	}
	schemas.repaired.Store(true)
	start(t, e, query)
	closeEngine(t, e)
}

// A query that waits for the schema of a record does not hold up another one of
// its worker, and goes on when the registry answers.
func TestOneQueryWaitsForItsSchema(t *testing.T) {
	log, schemas := newLog(t, 1, "orders", "others"), newSilentRegistry()
	committed := make(chan struct{})
	var once sync.Once
	e := New(log, Options{Service: "test", Workers: 1, Registry: schemas, Events: Events{Committed: func(i Committed) {
		if i.Query == "CSAS_BIG_1" && i.Out > 0 {
			once.Do(func() { close(committed) })
		}
	}, WorkerTrouble: func(i WorkerTrouble) {
		told := i.String()
		for _, part := range []string{"query CSAS_WAITS_9: rolled back", "topic orders, partition 0, offset 0: schema id 1"} {
			if !strings.Contains(told, part) {
				t.Errorf("%q is not in %q", part, told)
			}
		}
	}}})
	waits := otherFilter(t, "CSAS_WAITS_9", "waits")
	source := waits.Subgraphs[0].Inputs[0].(*plan.Source)
	source.ValueFormat = catalog.Format{Name: "AVRO"}
	source.ValueFields = []plan.Field{{Name: "REGION", Type: types.String, Column: 1}, {Name: "AMOUNT", Type: types.Bigint, Column: 2}}
	other := filterQuery(t)
	other.Subgraphs[0].Inputs[0].(*plan.Source).Topic = "others"
	start(t, e, waits, other)
	produce(t, log, order(0, 1, "a", "\x00\x00\x00\x00\x01\x02\x04EU\x00\x02\xac\x02"))
	<-schemas.asked
	produce(t, log, input{topic: "others", time: 1, key: "b", value: `{"REGION":"US","AMOUNT":151}`})
	<-committed
	expect(t, log, "waits", "")
	expect(t, log, "big", `
0@1 b = {"REGION":"US","DOUBLED":302}`)
	schemas.repaired.Store(true)
	if err := e.RunUntilEnd(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, log, "waits", `
0@1 a = {"REGION":"EU","DOUBLED":300}`)
	closeEngine(t, e)
}

// hangingRegistry answers a question about a schema when whoever asks gives up.
type hangingRegistry struct {
	*silentRegistry
	ended chan error // why they did
}

func (r *hangingRegistry) Schema(ctx context.Context, id int32) (registry.Schema, error) {
	r.once.Do(func() { close(r.asked) })
	<-ctx.Done()
	r.ended <- ctx.Err()
	return registry.Schema{}, ctx.Err()
}

// An engine that is closed does not wait for the schema of a record, and leaves the
// record to the next one.
func TestCloseEndsTheWaitForASchema(t *testing.T) {
	log, schemas := newLog(t, 1, "orders"), newSilentRegistry()
	hanging := &hangingRegistry{schemas, make(chan error, 100)}
	e := New(log, Options{Service: "test", Workers: 1, Registry: hanging})
	query := filterQuery(t)
	source := query.Subgraphs[0].Inputs[0].(*plan.Source)
	source.ValueFormat = catalog.Format{Name: "AVRO"}
	source.ValueFields = []plan.Field{{Name: "REGION", Type: types.String, Column: 1}, {Name: "AMOUNT", Type: types.Bigint, Column: 2}}
	start(t, e, query)
	produce(t, log, order(0, 1, "a", "\x00\x00\x00\x00\x01\x02\x04EU\x00\x02\xac\x02"))
	<-schemas.asked
	closeEngine(t, e)
	if err := <-hanging.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ended with %v", err)
	}
	schemas.repaired.Store(true)
	e = New(log, Options{Service: "test", Registry: schemas})
	start(t, e, query)
	if err := e.RunUntilIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, log, "big", `
0@1 a = {"REGION":"EU","DOUBLED":300}`)
	closeEngine(t, e)
}
