package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/tests/kafka"
)

const benchmarkRecords = 200_000

// benchmarkValues are JSON of about 150 bytes.
var benchmarkValues = func() (values [1000][]byte) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = fmt.Appendf(nil, `{"id":%d,"customer":"customer-%d","item":"item-%x","price":%.2f,"status":"SHIPPED","note":"%x","at":%d}`,
			random.Int64(), random.IntN(10000), random.IntN(1<<20), random.Float64()*1000, random.Int64(), 1700000000000+random.Int64N(1e9))
	}
	return values
}()

// benchmarkLog opens a real broker where one is at hand, else one in the
// process, whose own work then counts too.
func benchmarkLog(b *testing.B) (*client.Client, kafkaio.TopicPartition) {
	b.Helper()
	brokers, ok := kafka.Start(b)
	if !ok {
		brokers = fake(b).ListenAddrs()
	}
	c := open(b, brokers)
	topic := fmt.Sprintf("benchmark-%d", time.Now().UnixNano())
	if err := c.CreateTopic(b.Context(), kafkaio.TopicSpec{Name: topic, Partitions: 1}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.DeleteTopic(ctx, topic); err != nil {
			b.Error(err)
		}
	})
	return c, kafkaio.TopicPartition{Topic: topic}
}

func benchmarkProducer(b *testing.B, c *client.Client, codec kafkaio.Compression) kafkaio.Producer {
	b.Helper()
	p := c.NewProducer(kafkaio.ProducerOptions{TransactionalID: fmt.Sprintf("benchmark-%d", time.Now().UnixNano()), Compression: codec})
	b.Cleanup(func() { p.Close() })
	if err := p.Init(b.Context()); err != nil {
		b.Fatal(err)
	}
	return p
}

func fill(b *testing.B, p kafkaio.Producer, tp kafkaio.TopicPartition) {
	b.Helper()
	key := []byte("key-000")
	for i := range int64(benchmarkRecords) {
		if err := p.Append(b.Context(), tp, 1700000000000+i, key, benchmarkValues[i%int64(len(benchmarkValues))], nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// cpu is the time that the process has used on all cores.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func report(b *testing.B, began time.Duration) {
	b.ReportMetric(float64((cpu()-began).Nanoseconds())/float64(b.N*benchmarkRecords), "cpu-ns/record")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchmarkRecords), "ns/record")
}

func BenchmarkProduce(b *testing.B) {
	for _, codec := range []kafkaio.Compression{kafkaio.NoCompression, kafkaio.LZ4} {
		b.Run(codec.String(), func(b *testing.B) {
			c, tp := benchmarkLog(b)
			p := benchmarkProducer(b, c, codec)
			b.ReportAllocs()
			began := cpu()
			for b.Loop() {
				fill(b, p, tp)
			}
			report(b, began)
		})
	}
}

func BenchmarkFetch(b *testing.B) {
	for _, codec := range []kafkaio.Compression{kafkaio.NoCompression, kafkaio.LZ4} {
		b.Run(codec.String(), func(b *testing.B) {
			c, tp := benchmarkLog(b)
			fill(b, benchmarkProducer(b, c, codec), tp)
			f := c.NewFetcher(kafkaio.FetchOptions{})
			b.Cleanup(func() { f.Close() })
			b.ReportAllocs()
			began := cpu()
			for b.Loop() {
				f.Assign(nil)
				f.Assign(map[kafkaio.TopicPartition]int64{tp: 0})
				for seen := 0; seen < benchmarkRecords; {
					runs, err := f.Poll(b.Context(), time.Second)
					if err != nil {
						b.Fatal(err)
					}
					for _, run := range runs {
						seen += run.Len()
						run.Release()
					}
				}
			}
			report(b, began)
		})
	}
}

// BenchmarkCommit is the latency of a small transaction with offsets.
func BenchmarkCommit(b *testing.B) {
	c, tp := benchmarkLog(b)
	p := benchmarkProducer(b, c, kafkaio.NoCompression)
	group := kafkaio.Group{Name: tp.Topic, Generation: -1}
	for b.Loop() {
		if err := p.Append(b.Context(), tp, 1, nil, []byte("value"), nil); err != nil {
			b.Fatal(err)
		}
		if err := p.SendOffsets(b.Context(), group, map[kafkaio.TopicPartition]int64{tp: 1}); err != nil {
			b.Fatal(err)
		}
		if err := p.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
