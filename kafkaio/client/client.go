// Package client is the log on a Kafka cluster. kafka-go dials, logs in and
// pools the connections; routing, the fetch and produce requests, transactions
// and the read_committed filter are ours, since kafka-go's own reader and
// writer deliver aborted records and know no transactions.
package client

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go/sasl"

	"millrace/kafkaio"
)

// Options sets a client up. Zero values take the defaults named.
type Options struct {
	Brokers  []string       // host:port of at least one broker
	ClientID string         // what brokers' logs and quotas call us; "millrace"
	TLS      *tls.Config    // nil: no TLS
	SASL     sasl.Mechanism // nil: no login
	// Dial replaces the way to a broker, through a proxy for one.
	Dial        func(ctx context.Context, network, address string) (net.Conn, error)
	DialTimeout time.Duration // of one connection, login included; 5 s
	// RequestTimeout bounds one answer, after which the request is sent again;
	// 20 s, more than a cluster takes to replace a dead broker.
	RequestTimeout time.Duration
}

func (o *Options) setDefaults() {
	if o.ClientID == "" {
		o.ClientID = "millrace"
	}
	if o.DialTimeout <= 0 {
		o.DialTimeout = 5 * time.Second
	}
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = 20 * time.Second
	}
}

// Client implements kafkaio.Log.
type Client struct {
	options Options
	seeds   []*broker

	mu           sync.Mutex
	brokers      map[int32]*broker
	controller   int32
	topics       map[string]*topicLayout
	coordinators map[coordinatorKey]int32
	turn         int // which broker answers the next question that any broker can
}

var _ kafkaio.Log = (*Client)(nil)

// questionTimeout bounds a question that any broker can answer at once, so that
// the next one is asked soon when one is silent.
func (c *Client) questionTimeout() time.Duration { return min(c.options.RequestTimeout, 5*time.Second) }

// openTimeout bounds Open where its context has no deadline.
const openTimeout = 30 * time.Second

// Open connects to the cluster. It tries until ctx ends, 30 s if that has no
// deadline, and then fails with ErrUnreachable, or with ErrDenied where the
// cluster refuses the login.
func Open(ctx context.Context, options Options) (*Client, error) {
	options.setDefaults()
	c := &Client{
		options:      options,
		brokers:      make(map[int32]*broker),
		controller:   -1,
		topics:       make(map[string]*topicLayout),
		coordinators: make(map[coordinatorKey]int32),
	}
	for _, address := range options.Brokers {
		c.seeds = append(c.seeds, c.newBroker(seedID, address))
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, openTimeout)
		defer cancel()
	}
	if err := c.connect(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close implements kafkaio.Log.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.seeds {
		b.disconnect()
	}
	for _, b := range c.brokers {
		b.disconnect()
	}
	return nil
}

// Fence implements kafkaio.Log.
func (c *Client) Fence(ctx context.Context, transactionalIDs []string) error {
	return parallel(transactionalIDs, func(id string) error {
		_, _, err := c.initProducer(ctx, initRequest(id, fenceTimeout, -1, -1))
		return err
	})
}

// fenceTimeout goes with an InitProducerId whose producer never writes.
const fenceTimeout = time.Minute

// maxParallel bounds the requests that one call sends at the same time.
const maxParallel = 16

// parallel calls do for each item, several at a time, and returns one of the
// errors.
func parallel[T any](items []T, do func(T) error) error {
	if len(items) == 1 {
		return do(items[0])
	}
	for chunk := range slices.Chunk(items, maxParallel) {
		errs := make([]error, len(chunk))
		var group sync.WaitGroup
		for i, item := range chunk {
			group.Go(func() { errs[i] = do(item) })
		}
		group.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
