package exec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/kafkaio"
	"millrace/kafkaio/memory"
)

// input is a record of a test; an empty value is null, "-" an empty key.
type input struct {
	topic     string
	partition int32
	time      int64
	key       string
	value     string
}

func newLog(t testing.TB, partitions int, topics ...string) *memory.Log {
	t.Helper()
	log := memory.New()
	createTopics(t, log, partitions, topics...)
	return log
}

func createTopics(t testing.TB, log kafkaio.Log, partitions int, topics ...string) {
	t.Helper()
	for _, topic := range topics {
		if err := log.CreateTopic(t.Context(), kafkaio.TopicSpec{Name: topic, Partitions: partitions}); err != nil {
			t.Fatal(err)
		}
	}
}

func produce(t testing.TB, log kafkaio.Log, records ...input) {
	t.Helper()
	producer := log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "test"})
	ctx := t.Context()
	if err := producer.Init(ctx); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		var key, value []byte
		if r.key != "" {
			key = []byte(strings.TrimPrefix(r.key, "-"))
		}
		if r.value != "" {
			value = []byte(r.value)
		}
		if err := producer.Append(ctx, kafkaio.TopicPartition{Topic: r.topic, Partition: r.partition}, r.time, key, value, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := producer.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := producer.Close(); err != nil {
		t.Fatal(err)
	}
}

// content is what is committed in a topic, a line a record, by partition.
func content(t testing.TB, log kafkaio.Log, topic string) string {
	t.Helper()
	ctx := t.Context()
	topics, err := log.Topics(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	positions := make(map[kafkaio.TopicPartition]int64)
	for p := range topics[topic].Partitions {
		positions[kafkaio.TopicPartition{Topic: topic, Partition: int32(p)}] = 0
	}
	ranges, err := log.Offsets(ctx, slices.Collect(maps.Keys(positions)))
	if err != nil {
		t.Fatal(err)
	}
	fetcher := log.NewFetcher(kafkaio.FetchOptions{})
	fetcher.Assign(positions)
	lines := make([]strings.Builder, len(positions))
	atEnd := func() bool {
		for tp, position := range positions {
			if position < ranges[tp].HighWatermark {
				return false
			}
		}
		return true
	}
	for !atEnd() {
		runs, err := fetcher.Poll(ctx, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range runs {
			for i := range run.Offsets {
				fmt.Fprintf(&lines[run.Partition], "%d@%d %s = %s\n", run.Partition, run.Timestamps[i], text(run.Keys[i]), text(run.Values[i]))
			}
			positions[run.TopicPartition] = run.Next
			run.Release()
		}
	}
	if err := fetcher.Close(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for i := range lines {
		all.WriteString(lines[i].String())
	}
	return all.String()
}

func text(b []byte) string {
	if b == nil {
		return "null"
	}
	return strings.ToValidUTF8(string(b), "?")
}

func expect(t testing.TB, log kafkaio.Log, topic, want string) {
	t.Helper()
	if got := content(t, log, topic); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("topic %s:\n%s\nwant:\n%s", topic, got, want)
	}
}
