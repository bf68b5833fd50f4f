package client_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
)

// independent reads a topic's committed records with another client, up to the
// high watermarks that it is given.
func independent(t *testing.T, brokers []string, ends map[kafkaio.TopicPartition]int64) map[kafkaio.TopicPartition][]string {
	t.Helper()
	offsets := map[string]map[int32]kgo.Offset{}
	left := 0
	for tp, end := range ends {
		if offsets[tp.Topic] == nil {
			offsets[tp.Topic] = map[int32]kgo.Offset{}
		}
		offsets[tp.Topic][tp.Partition] = kgo.NewOffset().At(0)
		left += int(end)
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumePartitions(offsets),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	values := map[kafkaio.TopicPartition][]string{}
	next := map[kafkaio.TopicPartition]int64{}
	done := func() bool {
		for tp, end := range ends {
			if next[tp] < end {
				return false
			}
		}
		return true
	}
	for !done() {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%v at %v of %v", err, next, ends)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			tp := kafkaio.TopicPartition{Topic: r.Topic, Partition: r.Partition}
			next[tp] = r.Offset + 1
			if !r.Attrs.IsControl() {
				values[tp] = append(values[tp], string(r.Value))
			}
		})
	}
	return values
}

// settled waits until no transaction is open on the partitions and gives their ends.
func settled(t *testing.T, c *client.Client, tps []kafkaio.TopicPartition) map[kafkaio.TopicPartition]int64 {
	t.Helper()
	for {
		ranges, err := c.Offsets(t.Context(), tps)
		if err != nil {
			t.Fatal(err)
		}
		ends := map[kafkaio.TopicPartition]int64{}
		for tp, r := range ranges {
			if r.Stable == r.HighWatermark {
				ends[tp] = r.HighWatermark
			}
		}
		if len(ends) == len(tps) {
			return ends
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// topicOf makes a topic of the partitions and deletes it at the end.
func topicOf(t *testing.T, c *client.Client, partitions int) []kafkaio.TopicPartition {
	t.Helper()
	name := fmt.Sprintf("client-%d", time.Now().UnixNano())
	spec := kafkaio.TopicSpec{Name: name, Partitions: partitions, Config: map[string]string{"retention.ms": "-1"}} // records of 1970 stay
	if err := c.CreateTopic(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.DeleteTopic(ctx, name); err != nil {
			t.Log(err)
		}
	})
	tps := make([]kafkaio.TopicPartition, partitions)
	for i := range tps {
		tps[i] = kafkaio.TopicPartition{Topic: name, Partition: int32(i)}
	}
	return tps
}

// producerOf makes an initialised producer.
func producerOf(t *testing.T, c *client.Client, options kafkaio.ProducerOptions) kafkaio.Producer {
	t.Helper()
	options.TransactionalID = fmt.Sprintf("client-%d", time.Now().UnixNano())
	p := c.NewProducer(options)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// transactions writes numbered transactions over the partitions, every third
// of which is aborted, and gives what was committed.
func transactions(t *testing.T, p kafkaio.Producer, tps []kafkaio.TopicPartition, count int) map[kafkaio.TopicPartition][]string {
	t.Helper()
	committed := map[kafkaio.TopicPartition][]string{}
	for i := range count {
		for n := range 50 {
			tp := tps[(i+n)%len(tps)]
			value := fmt.Sprintf("%d/%d", i, n)
			if err := p.Append(t.Context(), tp, int64(i), nil, []byte(value), nil); err != nil {
				t.Fatal(err)
			}
			if i%3 != 2 {
				committed[tp] = append(committed[tp], value)
			}
		}
		if i%3 == 2 {
			if i%2 == 0 {
				if err := p.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Abort(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else if err := p.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return committed
}

func compareValues(t *testing.T, got, want map[kafkaio.TopicPartition][]string) {
	t.Helper()
	for tp, values := range want {
		if !slices.Equal(got[tp], values) {
			t.Errorf("%v: %d records %.300v, expected %d", tp, len(got[tp]), got[tp], len(values))
		}
	}
	if len(got) > len(want) {
		t.Errorf("records of %d partitions, expected %d", len(got), len(want))
	}
}

// fetchAll reads the partitions to their ends with our own reader.
func fetchAll(t *testing.T, c *client.Client, ends map[kafkaio.TopicPartition]int64) map[kafkaio.TopicPartition][]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f := c.NewFetcher(kafkaio.FetchOptions{})
	defer f.Close()
	positions := map[kafkaio.TopicPartition]int64{}
	for tp := range ends {
		positions[tp] = 0
	}
	f.Assign(positions)
	left := len(ends)
	values := map[kafkaio.TopicPartition][]string{}
	for left > 0 {
		runs, err := f.Poll(ctx, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range runs {
			for _, value := range run.Values {
				values[run.TopicPartition] = append(values[run.TopicPartition], string(value))
			}
			if positions[run.TopicPartition] < ends[run.TopicPartition] && run.Next >= ends[run.TopicPartition] {
				left--
			}
			positions[run.TopicPartition] = run.Next
			run.Release()
		}
	}
	return values
}

// Another client must see exactly what our producer committed.
func TestIndependentReader(t *testing.T) {
	eachCluster(t, func(t *testing.T, brokers []string) {
		c := open(t, brokers)
		for codec := kafkaio.NoCompression; codec <= kafkaio.Zstd; codec++ {
			tps := topicOf(t, c, 3)
			p := producerOf(t, c, kafkaio.ProducerOptions{Compression: codec, BatchBytes: 200})
			want := transactions(t, p, tps, 12)
			ends := settled(t, c, tps)
			compareValues(t, independent(t, brokers, ends), want)
			compareValues(t, fetchAll(t, c, ends), want)
		}
	})
}
