package client

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// seedID marks a broker that is known by its address only.
const seedID = -1

// broker is a node of the cluster with its connections. Each has a Transport
// of its own, so that dropping the connections of one that failed leaves the
// others alone, and so that routing is never the Transport's.
type broker struct {
	id        int32
	host      string // host:port
	address   net.Addr
	transport *kafka.Transport
	clientID  string

	mu       sync.Mutex
	versions map[protocol.ApiKey]versionRange // nil until asked for
}

// layoutAge is how often a Transport looks for brokers that we do not use it
// to find; it asks for no topics.
const layoutAge = time.Minute

func (c *Client) newBroker(id int32, host string) *broker {
	return &broker{
		id:       id,
		host:     host,
		address:  kafka.TCP(host),
		clientID: c.options.ClientID,
		transport: &kafka.Transport{
			ClientID:       c.options.ClientID,
			Dial:           c.options.Dial,
			DialTimeout:    c.options.DialTimeout,
			TLS:            c.options.TLS,
			SASL:           c.options.SASL,
			MetadataTTL:    layoutAge,
			MetadataTopics: []string{},
		},
	}
}

func (b *broker) String() string {
	if b.id == seedID {
		return "broker " + b.host
	}
	return fmt.Sprintf("broker %d at %s", b.id, b.host)
}

func (b *broker) disconnect() { b.transport.CloseIdleConnections() }

// exchange sends a message and waits for the answer. After an error that is
// not the broker's answer, the connections are dropped and the message's
// buffers must not be used again: the connection may still be reading them.
func (b *broker) exchange(ctx context.Context, timeout time.Duration, message protocol.Message) (protocol.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := b.transport.RoundTrip(bounded, b.address, message)
	if err == nil {
		return answer, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%v: %w", b, ctx.Err())
	}
	b.disconnect()
	b.mu.Lock()
	b.versions = nil // the broker that comes back may be another version
	b.mu.Unlock()
	return nil, &connectionError{broker: b, err: err}
}

// typedMessage sends one of kafka-go's messages to the broker that we chose,
// past the Transport's own routing.
type typedMessage struct {
	protocol.Message
	clientID string
	version  int16
	sent     atomic.Bool
}

var correlation atomic.Int32

// Required takes the exchange over and notes the negotiated version.
func (m *typedMessage) Required(versions map[protocol.ApiKey]int16) bool {
	m.version = versions[m.ApiKey()]
	return true
}

// RawExchange implements protocol.RawExchanger.
func (m *typedMessage) RawExchange(rw readWriter) (protocol.Message, error) {
	m.sent.Store(true)
	answer, err := protocol.RoundTrip(rw, m.version, correlation.Add(1), m.clientID, m.Message)
	return typedAnswer{answer}, err
}

// typedAnswer hides the answer's type from the Transport, which would wait for
// a created topic to show in its own layout.
type typedAnswer struct{ protocol.Message }

// ask exchanges one of kafka-go's messages; R is its answer's type.
func ask[R protocol.Message](ctx context.Context, b *broker, timeout time.Duration, request protocol.Message) (R, error) {
	return askTyped[R](ctx, b, timeout, &typedMessage{Message: request, clientID: b.clientID})
}

func askTyped[R protocol.Message](ctx context.Context, b *broker, timeout time.Duration, message *typedMessage) (R, error) {
	var none R
	answer, err := b.exchange(ctx, timeout, message)
	if err != nil {
		return none, err
	}
	wrapped, _ := answer.(typedAnswer)
	typed, ok := wrapped.Message.(R)
	if !ok {
		return none, fmt.Errorf("%v: answer of type %T to %v", b, answer, message.ApiKey())
	}
	return typed, nil
}
