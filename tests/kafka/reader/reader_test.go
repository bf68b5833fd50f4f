package reader_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/kafkaio/embedded"
	"millrace/tests/kafka"
	"millrace/tests/kafka/reader"
	"millrace/tests/kafka/writer"
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

func TestReadAll(t *testing.T) { eachWorld(t, readAll) }

func readAll(t *testing.T, addresses []string) {
	topic := "read-all-" + time.Now().Format("150405.000000")
	client := writer.NewClient(t, addresses, kgo.TransactionalID(topic))
	writer.CreateTopic(t, client, topic, 2)
	writer.Transact(t, client, topic, 2, "a", kgo.TryCommit)
	writer.Transact(t, client, topic, 2, "b", kgo.TryAbort)
	writer.Transact(t, client, topic, 1, "c", kgo.TryCommit)
	writer.Transact(t, client, topic, 2, "d", kgo.TryAbort)

	records, err := reader.ReadAll(t.Context(), addresses, topic)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := reader.Values(records), "a c a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if r := records[0]; r.Partition != 0 || r.Offset != 0 || string(r.Key) != "k" || r.Timestamp == 0 {
		t.Errorf("the first record is %+v", r)
	}
}

func TestReadAllWaitsForOpenTransactions(t *testing.T) { eachWorld(t, readAllWaitsForOpenTransactions) }

func readAllWaitsForOpenTransactions(t *testing.T, addresses []string) {
	topic := "open-" + time.Now().Format("150405.000000")
	client := writer.NewClient(t, addresses, kgo.TransactionalID(topic))
	writer.CreateTopic(t, client, topic, 1)
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
	if err != nil || reader.Values(records) != "x" {
		t.Errorf("ReadAll after the commit: %v, %v", records, err)
	}
}

func TestReadAllUnknownTopic(t *testing.T) { eachWorld(t, readAllUnknownTopic) }

func readAllUnknownTopic(t *testing.T, addresses []string) {
	if _, err := reader.ReadAll(t.Context(), addresses, "no-such-topic"); err == nil || !strings.Contains(err.Error(), "no such topic") {
		t.Errorf("got %v", err)
	}
}
