package exec

import (
	"strings"
	"testing"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/kafkaio/embedded"
	"millrace/planner/plan"
	"millrace/tests/kafka"
)

// A dropped query begins anew, also over Kafka's protocol, and leaves nothing.
func TestDropOnABroker(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		broker, err := embedded.Start(t.Context(), embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := broker.Close(); err != nil {
				t.Error(err)
			}
		}()
		dropOn(t, broker.Addresses())
	})
	if broker, ok := kafka.StartOwn(t); ok {
		t.Run("Apache Kafka", func(t *testing.T) { dropOn(t, broker.Addresses()) })
		if err := broker.Stop(); err != nil {
			t.Error(err)
		}
	}
}

func dropOn(t *testing.T, brokers []string) {
	log, err := client.Open(t.Context(), client.Options{Brokers: brokers})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}()
	const partitions = 2
	createTopics(t, log, partitions, "orders", "customers")
	produce(t, log, orders(300, partitions)...)
	produce(t, log, customers(50, partitions)...)
	e := New(log, Options{Service: "test", Workers: 2})
	queries := []*plan.Query{filterQuery(t), groupQuery(t, tumbling), keepQuery(), lookQuery(t)}
	var first string
	for range 2 {
		start(t, e, queries...)
		toEnd(t, e)
		for _, q := range queries {
			if err := e.Drop(t.Context(), q.ID); err != nil {
				t.Fatal(err)
			}
		}
		if big := sorted(content(t, log, "big")); first == "" {
			first = big
		} else if len(big) != 2*len(first) {
			t.Errorf("the second time the filter wrote %d bytes, not %d again", len(big)-len(first), len(first))
		}
		topics, err := log.Topics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name := range topics {
			if strings.HasPrefix(name, "_millrace_") {
				t.Errorf("the topic %s is left", name)
			}
		}
		for _, q := range queries {
			positions, err := log.CommittedOffsets(t.Context(), q.Group, []kafkaio.TopicPartition{{Topic: "orders"}, {Topic: "orders", Partition: 1}})
			if err != nil {
				t.Fatal(err)
			}
			if len(positions) > 0 {
				t.Errorf("the group %s has the positions %v", q.Group, positions)
			}
		}
	}
	closeEngine(t, e)
}
