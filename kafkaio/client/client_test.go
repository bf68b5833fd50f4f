package client_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/kafkaio/conformance"
	"millrace/tests/kafka"
)

// fake starts a broker in the process.
func fake(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	// An answer that is cut by the limit of the request, not of a partition,
	// lacks the list of aborted transactions.
	cluster.ControlKey(int16(kmsg.Fetch), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		request.(*kmsg.FetchRequest).MaxBytes = math.MaxInt32
		return nil, nil, false
	})
	return cluster
}

func open(t testing.TB, brokers []string) *client.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := client.Open(ctx, client.Options{Brokers: brokers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// eachCluster runs a test on the broker in the process and on a real one where
// that is at hand.
func eachCluster(t *testing.T, test func(t *testing.T, brokers []string)) {
	t.Run("in process", func(t *testing.T) { test(t, fake(t).ListenAddrs()) })
	if brokers, ok := kafka.Start(t); ok {
		t.Run("Apache Kafka", func(t *testing.T) { test(t, brokers) })
	}
}

func TestConformance(t *testing.T) {
	eachCluster(t, func(t *testing.T, brokers []string) {
		conformance.Run(t, func(t *testing.T) kafkaio.Log { return open(t, brokers) })
	})
}
