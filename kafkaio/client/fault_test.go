package client_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/kafkaio/conformance"
)

func TestConformanceThreeBrokers(t *testing.T) {
	brokers := fake(t, kfake.NumBrokers(3)).ListenAddrs()
	conformance.Run(t, func(t *testing.T) kafkaio.Log { return open(t, brokers) })
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := listener.Addr().String()
	defer listener.Close()
	for _, test := range []struct {
		name, address string
		want          []string
	}{
		{"nobody listens", "127.0.0.1:1", []string{"127.0.0.1:1", "refused", "check that Kafka is running"}},
		{"nobody answers", silent, []string{silent, "firewall"}},
		{"no host", "no-such-host.invalid:9092", []string{"no-such-host.invalid", "check the host name"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := client.Open(ctx, client.Options{Brokers: []string{test.address}})
			if !errors.Is(err, kafkaio.ErrUnreachable) {
				t.Fatalf("got %v", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
		})
	}
	if _, err := client.Open(t.Context(), client.Options{}); !errors.Is(err, kafkaio.ErrUnreachable) {
		t.Errorf("without an address: %v", err)
	}
}

// The end of the time that Open has is no answer of a broker: what was answered
// before is told.
func TestUnreachableTellsTheLastCause(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	const refused = 2 // kafka-go dials once for itself, too
	var dials atomic.Int64
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		if dials.Add(1) <= refused {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := client.Open(ctx, client.Options{Brokers: []string{"127.0.0.1:9092"}, Dial: dial})
	if !errors.Is(err, kafkaio.ErrUnreachable) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("got %v", err)
	}
	if dials.Load() <= refused {
		t.Fatal("no attempt was cut off")
	}
	if !strings.Contains(err.Error(), "check that Kafka is running") {
		t.Errorf("the advice is not that of the cause: %v", err)
	}
}

// cutter fails connections after some number of reads.
type cutter struct{ reads, every atomic.Int64 }

func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	return &cutConn{conn, c}, err
}

type cutConn struct {
	net.Conn
	cutter *cutter
}

func (c *cutConn) Read(buf []byte) (int, error) {
	if every := c.cutter.every.Load(); every > 0 && c.cutter.reads.Add(1)%every == 0 {
		c.Conn.Close()
	}
	return c.Conn.Read(buf)
}

// Connections that break between requests and answers must neither lose nor
// double records. Where a commit is in doubt, the offsets in it tell its end.
func TestBrokenConnections(t *testing.T) {
	eachCluster(t, func(t *testing.T, brokers []string) {
		var cut cutter
		c, err := client.Open(t.Context(), client.Options{Brokers: brokers, Dial: cut.dial})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		tps := topicOf(t, c, 3)
		p := producerOf(t, c, kafkaio.ProducerOptions{BatchBytes: 300})
		group := kafkaio.Group{Name: tps[0].Topic, Generation: -1}
		want := map[kafkaio.TopicPartition][]string{}
		cut.every.Store(23)
		doubts := 0
		for step := int64(1); step <= 60; step++ {
			written := map[kafkaio.TopicPartition][]string{}
			err := func() error {
				for n := range 30 {
					tp := tps[n%len(tps)]
					value := strings.Repeat("x", n) + time.Duration(step).String()
					written[tp] = append(written[tp], value)
					if err := p.Append(t.Context(), tp, step, nil, []byte(value), nil); err != nil {
						return err
					}
				}
				if err := p.SendOffsets(t.Context(), group, map[kafkaio.TopicPartition]int64{tps[0]: step}); err != nil {
					return err
				}
				return p.Commit(t.Context())
			}()
			if err != nil {
				doubts++
				if err := p.Init(t.Context()); err != nil {
					t.Fatal(err)
				}
				offsets, err := c.CommittedOffsets(t.Context(), group.Name, tps[:1])
				if err != nil {
					t.Fatal(err)
				}
				if offsets[tps[0]] != step {
					continue
				}
			}
			for tp, values := range written {
				want[tp] = append(want[tp], values...)
			}
		}
		t.Logf("%d of 60 commits were in doubt", doubts)
		ends := settled(t, c, tps)
		compareValues(t, fetchAll(t, c, ends), want)
		cut.every.Store(0)
		compareValues(t, independent(t, brokers, ends), want)
	})
}

// Codes that pass by themselves are tried again without the caller's help.
func TestPassingCodes(t *testing.T) {
	cluster := fake(t)
	c := open(t, cluster.ListenAddrs())
	tps := topicOf(t, c, 2)
	p := producerOf(t, c, kafkaio.ProducerOptions{})
	for _, code := range []int16{
		kerr.NotLeaderForPartition.Code, kerr.RequestTimedOut.Code, kerr.NotEnoughReplicas.Code,
		kerr.NotEnoughReplicasAfterAppend.Code, kerr.LeaderNotAvailable.Code, kerr.UnknownTopicOrPartition.Code,
	} {
		failProduce(cluster, code)
		want := transactionOf(t, p, tps)
		ends := settled(t, c, tps)
		got := fetchAll(t, c, ends)
		for tp, value := range want {
			if values := got[tp]; len(values) == 0 || values[len(values)-1] != value {
				t.Errorf("code %d: %v ends with %v", code, tp, values)
			}
		}
	}
}

// failProduce answers the next produce request with a code.
func failProduce(cluster *kfake.Cluster, code int16) {
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		produce := request.(*kmsg.ProduceRequest)
		answer := produce.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range produce.Topics {
			t := kmsg.NewProduceResponseTopic()
			t.Topic = topic.Topic
			for _, partition := range topic.Partitions {
				p := kmsg.NewProduceResponseTopicPartition()
				p.Partition, p.ErrorCode = partition.Partition, code
				t.Partitions = append(t.Partitions, p)
			}
			answer.Topics = append(answer.Topics, t)
		}
		return answer, nil, true
	})
}

func transactionOf(t *testing.T, p kafkaio.Producer, tps []kafkaio.TopicPartition) map[kafkaio.TopicPartition]string {
	t.Helper()
	want := map[kafkaio.TopicPartition]string{}
	for _, tp := range tps {
		want[tp] = time.Now().String()
		if err := p.Append(t.Context(), tp, 1, nil, []byte(want[tp]), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return want
}

// Each code of a produce request that does not pass has its meaning.
func TestProduceErrors(t *testing.T) {
	cluster := fake(t)
	c := open(t, cluster.ListenAddrs())
	tps := topicOf(t, c, 1)
	for _, test := range []struct {
		code int16
		want error
	}{
		{kerr.MessageTooLarge.Code, kafkaio.ErrRecordTooLarge},
		{kerr.InvalidTimestamp.Code, kafkaio.ErrInvalidTimestamp},
		{kerr.TopicAuthorizationFailed.Code, kafkaio.ErrDenied},
		{kerr.InvalidProducerEpoch.Code, kafkaio.ErrFenced},
		{kerr.ProducerFenced.Code, kafkaio.ErrFenced},
		{kerr.OutOfOrderSequenceNumber.Code, kafkaio.ErrFenced},
	} {
		p := producerOf(t, c, kafkaio.ProducerOptions{})
		failProduce(cluster, test.code)
		if err := p.Append(t.Context(), tps[0], 1, nil, []byte("value"), nil); err != nil {
			t.Fatal(err)
		}
		err := p.Flush(t.Context())
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), tps[0].Topic) {
			t.Errorf("code %d gave %v", test.code, err)
		}
		err = p.Abort(t.Context())
		if fenced := errors.Is(test.want, kafkaio.ErrFenced); fenced != errors.Is(err, kafkaio.ErrFenced) || !fenced && err != nil {
			t.Errorf("code %d: abort gave %v", test.code, err)
		}
	}
}

// A leader that moves is found again at once by producers and fetchers.
func TestLeaderMoves(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(3))
	c := open(t, cluster.ListenAddrs())
	tps := topicOf(t, c, 1)
	p := producerOf(t, c, kafkaio.ProducerOptions{})
	f := c.NewFetcher(kafkaio.FetchOptions{})
	defer f.Close()
	f.Assign(map[kafkaio.TopicPartition]int64{tps[0]: 0})
	for move := range 6 {
		if err := cluster.MoveTopicPartition(tps[0].Topic, 0, int32(move%3)); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		want := transactionOf(t, p, tps)[tps[0]]
		for got := ""; got != want; {
			runs, err := f.Poll(t.Context(), 10*time.Second)
			if err != nil || len(runs) == 0 {
				t.Fatalf("move %d: %d runs, error %v", move, len(runs), err)
			}
			for _, run := range runs {
				if run.Len() > 0 {
					got = string(run.Values[run.Len()-1])
				}
				run.Release()
			}
		}
		t.Logf("move %d: %v", move, time.Since(begin))
	}
}

// A broker that stands still for a while delays a commit and does not fail it.
func TestStalledBroker(t *testing.T) {
	cluster := fake(t)
	ctx := t.Context()
	c, err := client.Open(ctx, client.Options{
		Brokers: cluster.ListenAddrs(), RequestTimeout: 100 * time.Millisecond, DialTimeout: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tps := topicOf(t, c, 2)
	p := producerOf(t, c, kafkaio.ProducerOptions{})
	for _, key := range []kmsg.Key{kmsg.Produce, kmsg.AddPartitionsToTxn, kmsg.EndTxn} {
		var stall sync.Once
		cluster.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			stall.Do(func() { time.Sleep(600 * time.Millisecond) })
			return nil, nil, false
		})
		want := transactionOf(t, p, tps)
		got := fetchAll(t, c, settled(t, c, tps))
		for tp, value := range want {
			if values := got[tp]; len(values) == 0 || values[len(values)-1] != value {
				t.Errorf("%v stood still: %v ends with %v", key, tp, values)
			}
		}
	}
}

// The answer to EndTxn that is lost leaves the commit in doubt, and Init ends
// the doubt.
func TestLostCommitAnswer(t *testing.T) {
	cluster := fake(t)
	c := open(t, cluster.ListenAddrs())
	tps := topicOf(t, c, 1)
	p := producerOf(t, c, kafkaio.ProducerOptions{})
	cluster.ControlKey(int16(kmsg.EndTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
		return nil, errors.New("the connection breaks"), true
	})
	if err := p.Append(t.Context(), tps[0], 1, nil, []byte("in doubt"), nil); err != nil {
		t.Fatal(err)
	}
	err := p.Commit(t.Context())
	if err == nil || errors.Is(err, kafkaio.ErrAborted) || errors.Is(err, kafkaio.ErrTransient) {
		t.Fatalf("commit gave %v", err)
	}
	if err := p.Append(t.Context(), tps[0], 1, nil, []byte("refused"), nil); err == nil {
		t.Error("Append went on after a commit in doubt")
	}
	if err := p.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	transactionOf(t, p, tps)
	if got := fetchAll(t, c, settled(t, c, tps))[tps[0]]; len(got) != 1 {
		t.Errorf("got %v", got)
	}
}
