package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/kafkaio"
	"millrace/tests/bench"
)

// Load makes the topics of the works, if they are not there, and fills them
// with n orders each. It gives the records written and the time it took.
func Load(ctx context.Context, log kafkaio.Log, n int, works []Work) (records int, took time.Duration, err error) {
	begin := time.Now()
	needed := make(map[string]filler)
	for _, w := range works {
		needed[w.topic(n)] = func(ctx context.Context, p kafkaio.Producer, topic string) (int, error) {
			return n, loadOrders(ctx, p, topic, w.Customers, n)
		}
		if w.customers {
			needed[customersTopic] = loadCustomers
		}
	}
	for topic, fill := range needed {
		count, err := load(ctx, log, topic, fill)
		if err != nil {
			return records, time.Since(begin), fmt.Errorf("load %s: %w", topic, err)
		}
		records += count
	}
	return records, time.Since(begin), nil
}

type filler func(ctx context.Context, p kafkaio.Producer, topic string) (int, error)

func load(ctx context.Context, log kafkaio.Log, topic string, fill filler) (int, error) {
	spec := kafkaio.TopicSpec{Name: topic, Partitions: Partitions, Config: map[string]string{"retention.ms": "-1"}}
	if err := log.CreateTopic(ctx, spec); err != nil {
		if errors.Is(err, kafkaio.ErrTopicExists) {
			return 0, nil
		}
		return 0, err
	}
	p := log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "bench_load_" + topic})
	defer func() { _ = p.Close() }()
	if err := p.Init(ctx); err != nil {
		return 0, err
	}
	count, err := fill(ctx, p, topic)
	if err != nil {
		return 0, err
	}
	return count, p.Commit(ctx)
}

func loadOrders(ctx context.Context, p kafkaio.Producer, topic string, customers, n int) error {
	orders := bench.NewOrders(customers)
	var buf []byte
	for i := range n {
		order := orders.Next(buf[:0])
		buf = order.JSON
		key := []byte(order.Customer)
		to := kafkaio.TopicPartition{Topic: topic, Partition: kafkaio.PartitionFor(key, Partitions)}
		if err := p.Append(ctx, to, timeOf(i, n), key, order.JSON, nil); err != nil {
			return err
		}
		if i%produceBatch == produceBatch-1 {
			if err := p.Commit(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func loadCustomers(ctx context.Context, p kafkaio.Producer, topic string) (int, error) {
	for i := range manyCustomers {
		key := []byte(bench.CustomerID(i))
		to := kafkaio.TopicPartition{Topic: topic, Partition: kafkaio.PartitionFor(key, Partitions)}
		if err := p.Append(ctx, to, firstTime-1, key, bench.Customer(i), nil); err != nil {
			return i, err
		}
	}
	return manyCustomers, nil
}
