package kafka

import (
	"net"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/tests/kafka/reader"
)

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

func TestKillAndRestart(t *testing.T) {
	b, ok := StartOwn(t)
	if !ok {
		return
	}
	client := newClient(t, b.Addresses(), kgo.TransactionalID("killed"))
	createTopic(t, client, "kept", 1)
	transact(t, client, "kept", 1, "a", kgo.TryCommit)
	if _, err := reader.ReadAll(t.Context(), b.Addresses(), "kept"); err != nil { // the markers are written
		t.Fatal(err)
	}
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", b.Addresses()[0]); err == nil {
		_ = conn.Close()
		t.Error("the broker answers after Kill")
	}
	if err := b.Restart(); err != nil {
		t.Fatal(err)
	}
	records, err := reader.ReadAll(t.Context(), b.Addresses(), "kept")
	if err != nil || values(records) != "a" {
		t.Errorf("after the restart: %v, %v", records, err)
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
}
