package reader_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafkaio/embedded"
	"millrace/tests/kafka"
	"millrace/tests/kafka/reader"
)

// eachWorld runs a test on the embedded broker, and on Apache Kafka where it
// is at hand.
func eachWorld(t *testing.T, test func(t *testing.T, addresses []string)) {
	t.Run("embedded", func(t *testing.T) {
		b, err := embedded.Start(t.Context(), embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		test(t, b.Addresses())
	})
	if addresses, ok := kafka.Start(t); ok {
		t.Run("kafka", func(t *testing.T) { test(t, addresses) })
	}
}

func createTopic(t *testing.T, client *kgo.Client, name string, partitions int32) {
	t.Helper()
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 30_000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(t.Context(), client)
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newClient(t *testing.T, addresses []string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(addresses...), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func values(records []reader.Record) string {
	var text []string
	for _, r := range records {
		text = append(text, string(r.Value))
	}
	return strings.Join(text, " ")
}

// transact writes one transaction to every partition.
func transact(t *testing.T, client *kgo.Client, topic string, partitions int32, value string, end kgo.TransactionEndTry) {
	t.Helper()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for p := range partitions {
		record := &kgo.Record{Topic: topic, Partition: p, Key: []byte("k"), Value: []byte(value)}
		if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.EndTransaction(t.Context(), end); err != nil {
		t.Fatal(err)
	}
}

func TestReadAll(t *testing.T) { eachWorld(t, readAll) }

func readAll(t *testing.T, addresses []string) {
	topic := "read-all-" + time.Now().Format("150405.000000")
	client := newClient(t, addresses, kgo.TransactionalID(topic))
	createTopic(t, client, topic, 2)
	transact(t, client, topic, 2, "a", kgo.TryCommit)
	transact(t, client, topic, 2, "b", kgo.TryAbort)
	transact(t, client, topic, 1, "c", kgo.TryCommit)
	transact(t, client, topic, 2, "d", kgo.TryAbort)

	records, err := reader.ReadAll(t.Context(), addresses, topic)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := values(records), "a c a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if r := records[0]; r.Partition != 0 || r.Offset != 0 || string(r.Key) != "k" || r.Timestamp == 0 {
		t.Errorf("the first record is %+v", r)
	}
}

func TestReadAllWaitsForOpenTransactions(t *testing.T) { eachWorld(t, readAllWaitsForOpenTransactions) }

func readAllWaitsForOpenTransactions(t *testing.T, addresses []string) {
	topic := "open-" + time.Now().Format("150405.000000")
	client := newClient(t, addresses, kgo.TransactionalID(topic))
	createTopic(t, client, topic, 1)
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("x")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	records, err := reader.ReadStable(t.Context(), addresses, topic)
	if err != nil || len(records) != 0 {
		t.Errorf("ReadStable: %v, %v", records, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := reader.ReadAll(ctx, addresses, topic); err == nil {
		t.Error("ReadAll did not wait for the open transaction")
	}
	if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	records, err = reader.ReadAll(t.Context(), addresses, topic)
	if err != nil || values(records) != "x" {
		t.Errorf("ReadAll after the commit: %v, %v", records, err)
	}
}

func TestReadAllUnknownTopic(t *testing.T) { eachWorld(t, readAllUnknownTopic) }

func readAllUnknownTopic(t *testing.T, addresses []string) {
	if _, err := reader.ReadAll(t.Context(), addresses, "no-such-topic"); err == nil || !strings.Contains(err.Error(), "no such topic") {
		t.Errorf("got %v", err)
	}
}
