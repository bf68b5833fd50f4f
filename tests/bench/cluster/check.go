package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"millrace/kafkaio"
	"millrace/tests/bench"
)

// tally is what a run must have written, or has.
type tally struct {
	Records int64 // W1, W2
	Groups  int   // W3
	N       int64 // sum of the counts
	Cents   int64 // sum of the amounts
}

// Check reads a run's output, committed records only, and compares it with what
// follows from the n orders.
func Check(ctx context.Context, log kafkaio.Log, w Work, run string, n int) error {
	got, err := readOutput(ctx, log, w, w.sink(run))
	if err != nil {
		return err
	}
	want := expected(w, n)
	if w.kind == updates {
		got.Records = 0
	}
	if w.kind == final {
		if got.Records != int64(got.Groups) {
			return fmt.Errorf("%s: %d rows for %d groups, want one each", w.Name, got.Records, got.Groups)
		}
		got.Records = 0
	}
	if got != want {
		return fmt.Errorf("%s wrote %+v, want %+v", w.Name, got, want)
	}
	return nil
}

const (
	windowMS = 60_000
	graceMS  = 10_000
)

type group struct {
	customer string
	window   int64
}

// expected computes the answer from the orders as they were loaded.
func expected(w Work, n int) tally {
	var t tally
	orders := bench.NewOrders(w.Customers)
	groups := make(map[group]struct{})
	times := streamTimes(w, n)
	var buf []byte
	for i := range n {
		order := orders.Next(buf[:0])
		buf = order.JSON
		time := timeOf(i, n)
		start := time - time%windowMS
		switch w.kind {
		case filtered:
			if order.Cents < 100_00 {
				continue
			}
			t.Records++
		case joined:
			t.Records++
		case final:
			if start+windowMS+graceMS > times[kafkaio.PartitionFor([]byte(order.Customer), Partitions)] {
				continue
			}
			groups[group{order.Customer, start}] = struct{}{}
		case updates:
			groups[group{order.Customer, start}] = struct{}{}
		}
		t.N++
		t.Cents += int64(order.Cents)
	}
	t.Groups = len(groups)
	return t
}

// streamTimes are those that the partitions reach, which close windows with
// EMIT FINAL.
func streamTimes(w Work, n int) map[int32]int64 {
	times := make(map[int32]int64)
	if w.kind != final {
		return times
	}
	orders := bench.NewOrders(w.Customers)
	var buf []byte
	for i := range n {
		order := orders.Next(buf[:0])
		buf = order.JSON
		times[kafkaio.PartitionFor([]byte(order.Customer), Partitions)] = timeOf(i, n)
	}
	return times
}

// output is a row of any work.
type output struct {
	Amount float64 `json:"AMOUNT"`
	Name   string  `json:"NAME"`
	N      int64   `json:"N"`
	Total  float64 `json:"TOTAL"`
}

func readOutput(ctx context.Context, log kafkaio.Log, w Work, topic string) (tally, error) {
	var t tally
	last := make(map[string]output)
	err := readAll(ctx, log, topic, func(key, value []byte) error {
		var row output
		if err := json.Unmarshal(value, &row); err != nil {
			return fmt.Errorf("%s: %s: %w", topic, value, err)
		}
		t.Records++
		if w.kind == updates || w.kind == final {
			last[string(key)] = row
			return nil
		}
		if w.kind == joined && row.Name == "" {
			return fmt.Errorf("%s: %s has no name", topic, value)
		}
		t.N++
		t.Cents += int64(math.Round(row.Amount * 100))
		return nil
	})
	t.Groups = len(last)
	for key, row := range last {
		if len(key) < 8 || int64(binary.BigEndian.Uint64([]byte(key[len(key)-8:])))%windowMS != 0 {
			return t, fmt.Errorf("%s: key %q has no window", topic, key)
		}
		t.N += row.N
		t.Cents += int64(math.Round(row.Total * 100))
	}
	return t, err
}

// readAll gives each committed record of a topic to yield.
func readAll(ctx context.Context, log kafkaio.Log, topic string, yield func(key, value []byte) error) error {
	positions := make(map[kafkaio.TopicPartition]int64)
	var partitions []kafkaio.TopicPartition
	for p := range int32(Partitions) {
		tp := kafkaio.TopicPartition{Topic: topic, Partition: p}
		positions[tp] = 0
		partitions = append(partitions, tp)
	}
	ends, err := log.Offsets(ctx, partitions)
	if err != nil {
		return err
	}
	fetcher := log.NewFetcher(kafkaio.FetchOptions{})
	defer func() { _ = fetcher.Close() }()
	for tp, end := range ends {
		if end.HighWatermark == 0 {
			delete(positions, tp)
		}
	}
	fetcher.Assign(positions)
	for left := len(positions); left > 0; {
		runs, err := fetcher.Poll(ctx, time.Second)
		if err != nil {
			return err
		}
		for _, run := range runs {
			for i, value := range run.Values {
				if err := yield(run.Keys[i], value); err != nil {
					return err
				}
			}
			if end := ends[run.TopicPartition].HighWatermark; run.Next >= end && positions[run.TopicPartition] < end {
				left--
			}
			positions[run.TopicPartition] = run.Next
			run.Release()
		}
	}
	return nil
}
