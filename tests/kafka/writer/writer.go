// Package writer makes topics and transactions for tests. Like the reader
// beside it, it shares no code with the engine's own client: its client is
// franz-go's.
package writer

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// createTimeout is long, as a loaded machine needs it.
const createTimeout = 30 * time.Second

// NewClient gives a client that writes each record to the partition that the
// record names. It is closed when the test ends.
func NewClient(t testing.TB, addresses []string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(options,
		kgo.SeedBrokers(addresses...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(10*time.Millisecond),
		kgo.ProducerLinger(0), kgo.DisableClientMetrics())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// TryCreateTopic makes a topic; configs are name, value, name, value. A refusal
// is one of kerr's errors.
func TryCreateTopic(ctx context.Context, client *kgo.Client, name string, partitions int32, configs ...string) error {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = int32(createTimeout.Milliseconds())
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	for i := 0; i < len(configs); i += 2 {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = configs[i], kmsg.StringPtr(configs[i+1])
		topic.Configs = append(topic.Configs, config)
	}
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Topics[0].ErrorCode)
}

// CreateTopic is TryCreateTopic for a topic that must come to be.
func CreateTopic(t testing.TB, client *kgo.Client, name string, partitions int32, configs ...string) {
	t.Helper()
	if err := TryCreateTopic(t.Context(), client, name, partitions, configs...); err != nil {
		t.Fatal(err)
	}
}

// Produce writes records one after the other.
func Produce(t testing.TB, client *kgo.Client, records ...*kgo.Record) {
	t.Helper()
	for _, record := range records {
		if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// Transact writes one transaction: a record with the key k and the value to
// each of the topic's first partitions.
func Transact(t testing.TB, client *kgo.Client, topic string, partitions int32, value string, end kgo.TransactionEndTry) {
	t.Helper()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for p := range partitions {
		Produce(t, client, &kgo.Record{Topic: topic, Partition: p, Key: []byte("k"), Value: []byte(value)})
	}
	if err := client.EndTransaction(t.Context(), end); err != nil {
		t.Fatal(err)
	}
}
