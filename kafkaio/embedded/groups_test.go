package embedded

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/tests/kafka/writer"
)

// The positions of a deleted group do not come back after a kill.
func TestKilledBrokerForgetsDeletedGroups(t *testing.T) {
	b := newChild(t, false)
	admin := newClient(t, b.address, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	writer.CreateTopic(t, admin, crashInput, 2)
	log, err := client.Open(t.Context(), client.Options{Brokers: []string{b.address}})
	if err != nil {
		t.Fatal(err)
	}
	p := log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "id"})
	if err := p.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"deleted", "kept"} {
		positions := map[kafkaio.TopicPartition]int64{{Topic: crashInput}: 7, {Topic: crashInput, Partition: 1}: 8}
		if err := p.SendOffsets(t.Context(), kafkaio.Group{Name: group, Generation: -1}, positions); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := log.DeleteGroup(t.Context(), "deleted"); err != nil {
		t.Fatal(err)
	}
	b.kill()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	b.start()
	after := newClient(t, b.address)
	for partition := range int32(2) {
		if offset := groupOffset(t, after, "deleted", crashInput, partition); offset != -1 {
			t.Errorf("partition %d: the deleted group stands at %d", partition, offset)
		}
		if offset := groupOffset(t, after, "kept", crashInput, partition); offset != 7+int64(partition) {
			t.Errorf("partition %d: the other group stands at %d", partition, offset)
		}
	}
	b.stop()
}
