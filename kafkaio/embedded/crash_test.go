package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"millrace/tests/kafka/reader"
	"millrace/tests/kafka/writer"
)

const (
	crashTopic      = "out"
	crashInput      = "in"
	crashGroup      = "group"
	crashPartitions = 40
)

func rounds(short, long int) int {
	if os.Getenv(longTests) != "" {
		return long
	}
	return short
}

// outcome is what the producer knows of a transaction.
type outcome int

const (
	unknown outcome = iota
	committed
	aborted
)

// transactions is a transactional producer over kills of its broker:
// transaction i writes "i" to every partition and commits the offset i+1.
type transactions struct {
	t        *testing.T
	outcomes []outcome
}

// run does transactions until the broker fails it or ctx ends, and says how. ending is
// closed when the first of them is about to end.
func (w *transactions) run(ctx context.Context, client *kgo.Client, ending chan<- struct{}) error {
	var once sync.Once
	begun := func() { once.Do(func() { close(ending) }) }
	defer begun()
	for {
		i := len(w.outcomes)
		w.outcomes = append(w.outcomes, unknown)
		if err := client.BeginTransaction(); err != nil {
			return fmt.Errorf("begin transaction %d: %w", i, err)
		}
		var records []*kgo.Record
		for p := range int32(crashPartitions) {
			records = append(records, record(crashTopic, p, strconv.Itoa(i)))
		}
		if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
			return fmt.Errorf("produce transaction %d: %w", i, err)
		}
		if err := stageOffset(ctx, client, int64(i)+1); err != nil {
			return fmt.Errorf("stage the offset of transaction %d: %w", i, err)
		}
		begun()
		end, result := kgo.TryCommit, committed
		if i%3 == 2 {
			end, result = kgo.TryAbort, aborted
		}
		if err := client.EndTransaction(ctx, end); err != nil {
			return fmt.Errorf("end transaction %d: %w", i, err)
		}
		w.outcomes[i] = result
	}
}

// until runs transactions on b, ends it with stop after a while, and starts it
// again.
func (w *transactions) until(b *child, after time.Duration, stop func(*child), options ...kgo.Opt) {
	w.t.Helper()
	client := newClient(w.t, b.address, append(options, kgo.TransactionalID("tx"), kgo.RecordRetries(0), kgo.RequestRetries(0))...)
	ending, done := make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	go func() { done <- w.run(ctx, client, ending) }()
	<-ending
	time.Sleep(after)
	select {
	case err := <-done:
		w.t.Fatalf("before the broker was stopped: %v", err)
	default:
	}
	stop(b)
	cancel()
	client.Close() // what is in flight is given up only so
	<-done
	b.start()
	w.check(b.address)
}

// stageOffset sends the group's offset within the client's transaction.
func stageOffset(ctx context.Context, client *kgo.Client, offset int64) error {
	id, epoch, err := client.ProducerID(ctx)
	if err != nil {
		return err
	}
	name := client.OptValue(kgo.TransactionalID).(string)
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = name, id, epoch, crashGroup
	if _, err := add.RequestWith(ctx, client); err != nil {
		return err
	}
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch = name, id, epoch
	request.Group, request.Generation = crashGroup, -1
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	p.Offset = offset
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = crashInput, topicID(ctx, client, crashInput)
	topic.Partitions = []kmsg.TxnOffsetCommitRequestTopicPartition{p}
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
}

func topicID(ctx context.Context, client *kgo.Client, name string) [16]byte {
	request := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(name)
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, client)
	if err != nil || len(response.Topics) == 0 {
		return [16]byte{}
	}
	return response.Topics[0].TopicID
}

// check looks at every transaction so far: all or nothing, as far as known as
// reported, and the offset that of the last one committed. What is seen of an
// unknown one is what has to be seen from then on.
func (w *transactions) check(address string) {
	w.t.Helper()
	seen := make([]int, len(w.outcomes))
	for _, r := range readAll(w.t, address, crashTopic) {
		i, err := strconv.Atoi(string(r.Value))
		if err != nil || i >= len(seen) {
			w.t.Fatalf("foreign record %q in partition %d", r.Value, r.Partition)
		}
		seen[i]++
	}
	last := int64(-1)
	for i, count := range seen {
		switch {
		case count != 0 && count != crashPartitions:
			w.t.Fatalf("transaction %d: %d of %d records", i, count, crashPartitions)
		case w.outcomes[i] == committed && count == 0:
			w.t.Fatalf("transaction %d was committed and is lost", i)
		case w.outcomes[i] == aborted && count != 0:
			w.t.Fatalf("transaction %d was aborted and is visible", i)
		}
		w.outcomes[i] = aborted
		if count != 0 {
			w.outcomes[i] = committed
			last = int64(i) + 1
		}
	}
	client := newClient(w.t, address)
	if got := groupOffset(w.t, client, crashGroup, crashInput, 0); got != last {
		w.t.Fatalf("the group's offset is %d, the last committed transaction's %d", got, last)
	}
}

func TestKilledBrokerKeepsTransactionsWhole(t *testing.T) {
	for _, c := range []struct {
		name    string
		sync    bool
		options []kgo.Opt
	}{
		// Before KIP-890 one epoch serves many transactions.
		{"one epoch for many transactions", false, []kgo.Opt{kgo.MaxVersions(kversion.V3_6_0())}},
		{"an epoch for each transaction", false, nil},
		{"synced, one epoch", true, []kgo.Opt{kgo.MaxVersions(kversion.V3_6_0())}},
		{"synced", true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			b := newChild(t, c.sync)
			client := newClient(t, b.address)
			writer.CreateTopic(t, client, crashTopic, crashPartitions)
			writer.CreateTopic(t, client, crashInput, 1)
			w := &transactions{t: t}
			for range rounds(6, 100) {
				w.until(b, time.Duration(random.IntN(8000))*time.Microsecond, (*child).kill, c.options...)
				if random.IntN(3) == 0 { // a second kill with nothing in between
					b.kill()
					b.start()
					w.check(b.address)
				}
			}
			b.stop()
			b.start()
			w.check(b.address)
		})
	}
}

// A kill with a transaction open, whose id goes on afterwards: the open one
// stays invisible, also after a second kill.
func TestOpenTransactionIsAborted(t *testing.T) {
	for _, stop := range []struct {
		name string
		end  func(*child)
	}{{"kill", (*child).kill}, {"clean stop", (*child).stop}} {
		t.Run(stop.name, func(t *testing.T) {
			b := newChild(t, false)
			before := newClient(t, b.address, kgo.TransactionalID("tx"))
			writer.CreateTopic(t, before, "x", 1)
			writer.CreateTopic(t, before, crashInput, 1)
			if err := before.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			writer.Produce(t, before, record("x", 0, "open"))
			if err := stageOffset(t.Context(), before, 7); err != nil {
				t.Fatal(err)
			}
			stop.end(b)
			b.start()
			if got := reader.Values(readAll(t, b.address, "x")); got != "" {
				t.Errorf("visible after the stop: %q", got)
			}

			if err := before.EndTransaction(t.Context(), kgo.TryCommit); err == nil {
				t.Error("the producer was told that its aborted transaction was committed")
			}
			after := newClient(t, b.address, kgo.TransactionalID("tx"))
			if err := after.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			writer.Produce(t, after, record("x", 0, "good"))
			if err := after.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got := reader.Values(readAll(t, b.address, "x")); got != "good" {
					t.Errorf("got %q, want good", got)
				}
				b.kill()
				b.start()
			}
			if got := groupOffset(t, newClient(t, b.address), crashGroup, crashInput, 0); got != -1 {
				t.Errorf("the aborted transaction's offset %d is committed", got)
			}
		})
	}
}

// Offsets committed outside transactions after the last transaction are not
// set back by the repair.
func TestRepairKeepsLaterOffsets(t *testing.T) {
	b := newChild(t, false)
	client := newClient(t, b.address, kgo.TransactionalID("tx"))
	writer.CreateTopic(t, client, crashInput, 1)
	writer.CreateTopic(t, client, "x", 1)
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	writer.Produce(t, client, record("x", 0, "v"))
	if err := stageOffset(t.Context(), client, 5); err != nil {
		t.Fatal(err)
	}
	if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group, request.Generation = crashGroup, -1
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset = 3
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.Partitions = crashInput, []kmsg.OffsetCommitRequestTopicPartition{p}
	request.Topics = append(request.Topics, topic)
	if _, err := request.RequestWith(t.Context(), newClient(t, b.address, kgo.MaxVersions(kversion.V3_6_0()))); err != nil {
		t.Fatal(err)
	}
	b.kill()
	b.start()
	if got := groupOffset(t, newClient(t, b.address), crashGroup, crashInput, 0); got != 3 {
		t.Errorf("the group's offset is %d, want 3", got)
	}
}

// A batch sent again over a kill is stored once.
func TestKilledBrokerKnowsItsProducers(t *testing.T) {
	for _, end := range []struct {
		name string
		stop func(*child)
	}{{"kill", (*child).kill}, {"clean stop", (*child).stop}} {
		t.Run(end.name, func(t *testing.T) {
			b := newChild(t, false)
			client := newClient(t, b.address)
			writer.CreateTopic(t, client, "x", 1)
			writer.Produce(t, client, record("x", 0, "a"), record("x", 0, "b"))
			end.stop(b)
			b.start()
			id, epoch, err := client.ProducerID(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, again := range []struct {
				sequence int32
				offset   int64
			}{{1, 1}, {0, 0}, {2, 2}} {
				if offset := sendSequence(t, b.address, "x", id, epoch, again.sequence); offset != again.offset {
					t.Errorf("sequence %d is at offset %d, want %d", again.sequence, offset, again.offset)
				}
			}
		})
	}
}

// sendSequence produces one record under a producer's sequence number.
func sendSequence(t *testing.T, address, topic string, producer int64, epoch int16, sequence int32) int64 {
	t.Helper()
	batch := markerBatch(0, -1, producer, epoch, true, time.UnixMilli(1))
	header := kmsg.RecordBatch{}
	if err := header.ReadFrom(batch); err != nil {
		t.Fatal(err)
	}
	header.Attributes, header.FirstSequence = 0, sequence
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = 8, -1, 1000
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = sealed(header.AppendTo(nil))
	asked := kmsg.NewProduceRequestTopic()
	asked.Topic, asked.Partitions = topic, []kmsg.ProduceRequestTopicPartition{p}
	request.Topics = append(request.Topics, asked)
	response, err := exchange(t.Context(), address, request)
	if err != nil {
		t.Fatal(err)
	}
	answer := response.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(answer.ErrorCode); err != nil {
		t.Fatalf("sequence %d: %v", sequence, err)
	}
	return answer.BaseOffset
}

// Clients that write while the broker is stopped in good order find their
// acknowledged records afterwards.
func TestStopUnderLoad(t *testing.T) {
	for round := range rounds(3, 30) {
		b := newChild(t, false)
		client := newClient(t, b.address)
		writer.CreateTopic(t, client, crashTopic, crashPartitions)
		writer.CreateTopic(t, client, crashInput, 1)
		w := &transactions{t: t}
		w.until(b, time.Duration(round)*700*time.Microsecond, (*child).stop)
		b.kill()
	}
}
