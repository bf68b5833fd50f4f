package memory_test

import (
	"context"
	"fmt"
	"testing"

	"millrace/kafkaio"
	"millrace/kafkaio/conformance"
	"millrace/kafkaio/memory"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) kafkaio.Log { return memory.New() })
}

// One goroutine that never waits is how replays use the log.
func TestSingleGoroutine(t *testing.T) {
	ctx := context.Background()
	log := memory.New()
	tp := kafkaio.TopicPartition{Topic: "t"}
	if err := log.CreateTopic(ctx, kafkaio.TopicSpec{Name: "t"}); err != nil {
		t.Fatal(err)
	}
	p := log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "id"})
	if err := p.Init(ctx); err != nil {
		t.Fatal(err)
	}
	f := log.NewFetcher(kafkaio.FetchOptions{})
	f.Assign(map[kafkaio.TopicPartition]int64{tp: 0})
	for i := range int64(10) {
		if err := p.Append(ctx, tp, i, nil, fmt.Append(nil, i), nil); err != nil {
			t.Fatal(err)
		}
		if err := p.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		runs, err := f.Poll(ctx, 0)
		if err != nil || len(runs) != 1 || runs[0].Len() != 1 || runs[0].Offsets[0] != i {
			t.Fatalf("step %d: %d runs, error %v", i, len(runs), err)
		}
		runs[0].Release()
	}
}

func BenchmarkAppendPoll(b *testing.B) {
	ctx := context.Background()
	tp := kafkaio.TopicPartition{Topic: "t"}
	value := make([]byte, 150)
	log := memory.New()
	if err := log.CreateTopic(ctx, kafkaio.TopicSpec{Name: "t"}); err != nil {
		b.Fatal(err)
	}
	p := log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "id"})
	if err := p.Init(ctx); err != nil {
		b.Fatal(err)
	}
	f := log.NewFetcher(kafkaio.FetchOptions{})
	f.Assign(map[kafkaio.TopicPartition]int64{tp: 0})
	b.ReportAllocs()
	for b.Loop() {
		for range 1000 {
			if err := p.Append(ctx, tp, 1, nil, value, nil); err != nil {
				b.Fatal(err)
			}
		}
		if err := p.Commit(ctx); err != nil {
			b.Fatal(err)
		}
		runs, err := f.Poll(ctx, 0)
		if err != nil {
			b.Fatal(err)
		}
		end := int64(0)
		for _, run := range runs {
			end = run.Next
			run.Release()
		}
		if err := log.DeleteRecords(ctx, map[kafkaio.TopicPartition]int64{tp: end}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/record")
}
