package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/findcoordinator"

	"millrace/kafkaio"
)

// topicLayout is what a topic's metadata said last.
type topicLayout struct {
	id       [16]byte
	internal bool
	replicas int
	leaders  []int32 // by partition; -1: none at the time
	code     int16
}

type versionRange struct{ least, most int16 }

// The versions of the raw requests, with what they need: topic ids are in
// Metadata 10 (Kafka 2.8), without them 8 will do.
const (
	leastMetadata      = 8
	flexibleMetadata   = 9
	topicIDMetadata    = 10
	mostMetadata       = 12
	fetchVersion       = 11
	produceVersion     = 8
	offsetFetchVersion = 7
	deleteVersion      = 1
)

// required are the APIs without which nothing works, and so the oldest broker.
var required = map[protocol.ApiKey]int16{
	protocol.Produce:     produceVersion,
	protocol.Fetch:       fetchVersion,
	protocol.Metadata:    leastMetadata,
	protocol.OffsetFetch: offsetFetchVersion,
}

// apiVersions asks the broker which versions it speaks, once a connection loss.
func (b *broker) apiVersions(ctx context.Context, timeout time.Duration) (map[protocol.ApiKey]versionRange, error) {
	b.mu.Lock()
	versions := b.versions
	b.mu.Unlock()
	if versions != nil {
		return versions, nil
	}
	answer, err := ask[*apiversions.Response](ctx, b, timeout, &apiversions.Request{})
	if err != nil {
		return nil, err
	}
	if answer.ErrorCode != 0 {
		return nil, fmt.Errorf("%v: versions: %w", b, codeErr(answer.ErrorCode))
	}
	versions = make(map[protocol.ApiKey]versionRange, len(answer.ApiKeys))
	for _, api := range answer.ApiKeys {
		versions[protocol.ApiKey(api.ApiKey)] = versionRange{api.MinVersion, api.MaxVersion}
	}
	for key, version := range required {
		if speaks := versions[key]; version > speaks.most || key != protocol.Metadata && version < speaks.least {
			return nil, fmt.Errorf("%v speaks %v versions %d to %d, %d is needed: Kafka 2.5 or later",
				b, key, speaks.least, speaks.most, version)
		}
	}
	b.mu.Lock()
	b.versions = versions
	b.mu.Unlock()
	return versions, nil
}

// candidates are the brokers to put a general question to, in turn.
func (c *Client) candidates() []*broker {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := slices.SortedFunc(maps.Values(c.brokers), func(a, b *broker) int { return int(a.id) - int(b.id) })
	if len(known) > 1 {
		first := c.turn % len(known)
		known = slices.Concat(known[first:], known[:first])
	}
	return append(known, c.seeds...)
}

// onAny puts a question to one broker after the other until one answers.
func (c *Client) onAny(ctx context.Context, do func(*broker) error) error {
	var last error = kafkaio.ErrUnreachable
	for _, b := range c.candidates() {
		err := do(b)
		if _, lost := errors.AsType[*connectionError](err); !lost {
			return err
		}
		last = err
		c.mu.Lock()
		c.turn++
		c.mu.Unlock()
		if ctx.Err() != nil {
			break
		}
	}
	return last
}

// refresh reads the layout of the named topics, all with nil, none with an
// empty list, and what brokers there are.
func (c *Client) refresh(ctx context.Context, names []string) (map[string]*topicLayout, error) {
	var topics map[string]*topicLayout
	err := c.onAny(ctx, func(b *broker) error {
		var err error
		topics, err = c.refreshFrom(ctx, b, names)
		return err
	})
	return topics, err
}

func (c *Client) refreshFrom(ctx context.Context, b *broker, names []string) (map[string]*topicLayout, error) {
	versions, err := b.apiVersions(ctx, c.questionTimeout())
	if err != nil {
		return nil, err
	}
	version := min(versions[protocol.Metadata].most, mostMetadata)
	request, answer := c.metadataRequest(version, names)
	if _, err := b.exchange(ctx, c.questionTimeout(), request); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.controller = answer.controller
	c.updateBrokers(answer.brokers)
	for name, topic := range answer.topics {
		if topic.code == 0 {
			c.topics[name] = topic
		} else {
			delete(c.topics, name)
		}
	}
	return answer.topics, nil
}

// updateBrokers takes over the list; the caller holds the lock. A broker that
// moved gets new connections, one that is gone loses them.
func (c *Client) updateBrokers(hosts map[int32]string) {
	for id, b := range c.brokers {
		if hosts[id] != b.host {
			b.disconnect()
			delete(c.brokers, id)
		}
	}
	for id, host := range hosts {
		if c.brokers[id] == nil {
			c.brokers[id] = c.newBroker(id, host)
		}
	}
}

// layout gives the topic's layout, from the cache if it is there.
func (c *Client) layout(ctx context.Context, name string) (*topicLayout, error) {
	c.mu.Lock()
	topic := c.topics[name]
	c.mu.Unlock()
	if topic != nil {
		return topic, nil
	}
	topics, err := c.refresh(ctx, []string{name})
	if err != nil {
		return nil, err
	}
	if topic = topics[name]; topic == nil {
		return nil, codeErr(codeUnknownTopic)
	}
	return topic, codeErr(topic.code)
}

// leader gives the broker that leads a partition.
func (c *Client) leader(ctx context.Context, tp kafkaio.TopicPartition) (*broker, error) {
	topic, err := c.layout(ctx, tp.Topic)
	if err != nil {
		return nil, err
	}
	if tp.Partition < 0 || int(tp.Partition) >= len(topic.leaders) {
		c.forgetTopic(tp.Topic)
		return nil, codeErr(codeUnknownTopic)
	}
	c.mu.Lock()
	b := c.brokers[topic.leaders[tp.Partition]]
	c.mu.Unlock()
	if b == nil {
		c.forgetTopic(tp.Topic)
		return nil, codeErr(codeLeaderNotAvailable)
	}
	return b, nil
}

// forgetTopic makes the next use of the topic read its layout anew.
func (c *Client) forgetTopic(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.topics, name)
}

// byLeader groups partitions by the broker that leads them. An error names its
// partition.
func (c *Client) byLeader(ctx context.Context, partitions []kafkaio.TopicPartition) (map[*broker][]kafkaio.TopicPartition, error) {
	grouped := make(map[*broker][]kafkaio.TopicPartition)
	for _, tp := range partitions {
		b, err := c.leader(ctx, tp)
		if err != nil {
			return nil, &kafkaio.PartitionError{TopicPartition: tp, Offset: -1, Err: err}
		}
		grouped[b] = append(grouped[b], tp)
	}
	return grouped, nil
}

// What a coordinator coordinates.
const (
	groupCoordinator       = 0
	transactionCoordinator = 1
)

type coordinatorKey struct {
	kind int8
	name string
}

// coordinator finds the broker that coordinates a group or a transactional id.
func (c *Client) coordinator(ctx context.Context, key coordinatorKey) (*broker, error) {
	c.mu.Lock()
	id, known := c.coordinators[key]
	b := c.brokers[id]
	c.mu.Unlock()
	if known && b != nil {
		return b, nil
	}
	var answer *findcoordinator.Response
	err := c.onAny(ctx, func(b *broker) error {
		var err error
		answer, err = ask[*findcoordinator.Response](ctx, b, c.questionTimeout(),
			&findcoordinator.Request{Key: key.name, KeyType: key.kind})
		return err
	})
	if err != nil {
		return nil, err
	}
	if answer.ErrorCode != 0 {
		return nil, &codeError{code: answer.ErrorCode, message: answer.ErrorMessage}
	}
	host := net.JoinHostPort(answer.Host, strconv.Itoa(int(answer.Port)))
	c.mu.Lock()
	defer c.mu.Unlock()
	b = c.brokers[answer.NodeID]
	if b == nil || b.host != host {
		if b != nil {
			b.disconnect()
		}
		b = c.newBroker(answer.NodeID, host)
		c.brokers[answer.NodeID] = b
	}
	c.coordinators[key] = answer.NodeID
	return b, nil
}

// onCoordinator asks the coordinator until the error is none that passes.
func (c *Client) onCoordinator(ctx context.Context, key coordinatorKey, do func(*broker) error) error {
	return retry(ctx, func() error { return c.tryCoordinator(ctx, key, do) })
}

// tryCoordinator asks the coordinator once; if it was the wrong one or could
// not be reached, the next try looks for it again.
func (c *Client) tryCoordinator(ctx context.Context, key coordinatorKey, do func(*broker) error) error {
	b, err := c.coordinator(ctx, key)
	if err == nil {
		err = do(b)
	}
	_, lost := errors.AsType[*connectionError](err)
	if lost || hasCode(err, 14, 15, 16) {
		c.mu.Lock()
		delete(c.coordinators, key)
		c.mu.Unlock()
	}
	return err
}
