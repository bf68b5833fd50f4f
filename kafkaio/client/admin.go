package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/createtopics"
	"github.com/segmentio/kafka-go/protocol/deletetopics"
	"github.com/segmentio/kafka-go/protocol/describeconfigs"

	"millrace/kafkaio"
)

// Topics implements kafkaio.Admin.
func (c *Client) Topics(ctx context.Context, names ...string) (map[string]kafkaio.Topic, error) {
	if len(names) == 0 {
		names = nil
	}
	var layouts map[string]*topicLayout
	err := retry(ctx, func() error {
		var err error
		if layouts, err = c.refresh(ctx, names); err != nil {
			return err
		}
		for _, name := range names {
			// A topic that is being made has no leaders for a moment.
			layout := layouts[name]
			if layout == nil {
				continue
			}
			if err := codeErr(layout.code); errors.Is(err, kafkaio.ErrTransient) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("describe topics: %w", err)
	}
	topics := make(map[string]kafkaio.Topic, len(layouts))
	for name, layout := range layouts {
		if layout.code == 0 {
			topics[name] = kafkaio.Topic{
				Name: name, ID: layout.id, Partitions: len(layout.leaders), Replicas: layout.replicas, Internal: layout.internal,
			}
		}
	}
	return topics, nil
}

// resourceTopic is DescribeConfigs' type of a topic.
const resourceTopic = 2

// TopicConfig implements kafkaio.Admin.
func (c *Client) TopicConfig(ctx context.Context, name string) (map[string]string, error) {
	config := make(map[string]string)
	err := retry(ctx, func() error {
		return c.onAny(ctx, func(b *broker) error {
			answer, err := ask[*describeconfigs.Response](ctx, b, c.options.RequestTimeout, &describeconfigs.Request{
				Resources: []describeconfigs.RequestResource{{ResourceType: resourceTopic, ResourceName: name}},
			})
			if err != nil {
				return err
			}
			for _, resource := range answer.Resources {
				if resource.ErrorCode != 0 {
					return &codeError{code: resource.ErrorCode, message: resource.ErrorMessage}
				}
				for _, entry := range resource.ConfigEntries {
					config[entry.ConfigName] = entry.ConfigValue
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("configuration of topic %s: %w", name, err)
	}
	return config, nil
}

// onController sends a request to the controller and finds that again when it
// has moved.
func (c *Client) onController(ctx context.Context, do func(*broker) error) error {
	return retry(ctx, func() error {
		c.mu.Lock()
		b := c.brokers[c.controller]
		c.mu.Unlock()
		if b == nil {
			return c.onAny(ctx, do)
		}
		err := do(b)
		if errors.Is(err, kafkaio.ErrTransient) {
			if _, layoutErr := c.refresh(ctx, []string{}); layoutErr != nil {
				return errors.Join(err, layoutErr)
			}
		}
		return err
	})
}

// CreateTopic implements kafkaio.Admin.
func (c *Client) CreateTopic(ctx context.Context, spec kafkaio.TopicSpec) error {
	if err := kafkaio.CheckTopicName(spec.Name); err != nil {
		return err
	}
	topic := createtopics.RequestTopic{Name: spec.Name, NumPartitions: -1, ReplicationFactor: -1}
	if spec.Partitions > 0 {
		topic.NumPartitions = int32(spec.Partitions)
	}
	if spec.Replicas > 0 {
		topic.ReplicationFactor = int16(spec.Replicas)
	}
	for name, value := range spec.Config {
		topic.Configs = append(topic.Configs, createtopics.RequestConfig{Name: name, Value: value})
	}
	attempts := 0
	err := c.onController(ctx, func(b *broker) error {
		attempts++
		answer, err := ask[*createtopics.Response](ctx, b, c.options.RequestTimeout, &createtopics.Request{
			Topics: []createtopics.RequestTopic{topic}, TimeoutMs: milliseconds(c.options.RequestTimeout),
		})
		if err != nil {
			return err
		}
		for _, result := range answer.Topics {
			if result.ErrorCode != 0 {
				return &codeError{code: result.ErrorCode, message: result.ErrorMessage}
			}
		}
		return nil
	})
	// After a lost answer the topic may be our own.
	if err != nil && !(attempts > 1 && errors.Is(err, kafkaio.ErrTopicExists)) {
		return fmt.Errorf("create topic %s: %w", spec.Name, err)
	}
	c.forgetTopic(spec.Name)
	if err := c.awaitTopic(ctx, spec.Name); err != nil {
		return fmt.Errorf("topic %s was created but is not ready: %w", spec.Name, err)
	}
	return nil
}

// awaitTopic waits until each partition answers a fetch: brokers acknowledge
// the creation before the leaders know that they lead.
func (c *Client) awaitTopic(ctx context.Context, name string) error {
	partitions := 0
	appears := func(err error) bool {
		return errors.Is(err, kafkaio.ErrTransient) || errors.Is(err, kafkaio.ErrUnknownTopic)
	}
	err := retryWhile(ctx, func() error {
		c.forgetTopic(name)
		layout, err := c.layout(ctx, name)
		if err != nil {
			return err
		}
		partitions = len(layout.leaders)
		return nil
	}, appears)
	if err != nil {
		return err
	}
	all := make([]int32, partitions)
	for i := range all {
		all[i] = int32(i)
	}
	return parallel(all, func(partition int32) error {
		tp := kafkaio.TopicPartition{Topic: name, Partition: partition}
		return retryWhile(ctx, func() error {
			err := c.probe(ctx, tp)
			if err != nil {
				c.forgetTopic(name)
			}
			return err
		}, appears)
	})
}

// probe fetches nothing from a partition, to see whether its leader is ready.
func (c *Client) probe(ctx context.Context, tp kafkaio.TopicPartition) error {
	b, err := c.leader(ctx, tp)
	if err != nil {
		return err
	}
	request := &fetchRequest{
		clientID: c.options.ClientID,
		parts:    []fetchPart{{TopicPartition: tp, maxBytes: 1}},
	}
	if _, err := b.exchange(ctx, c.options.RequestTimeout, request); err != nil {
		return err
	}
	return codeErr(request.parts[0].code)
}

// DeleteTopic implements kafkaio.Admin.
func (c *Client) DeleteTopic(ctx context.Context, name string) error {
	attempts := 0
	err := c.onController(ctx, func(b *broker) error {
		attempts++
		answer, err := ask[*deletetopics.Response](ctx, b, c.options.RequestTimeout, &deletetopics.Request{
			TopicNames: []string{name}, TimeoutMs: milliseconds(c.options.RequestTimeout),
		})
		if err != nil {
			return err
		}
		for _, result := range answer.Responses {
			if result.ErrorCode != 0 {
				return codeErr(result.ErrorCode)
			}
		}
		return nil
	})
	if err != nil && !(attempts > 1 && errors.Is(err, kafkaio.ErrUnknownTopic)) {
		return fmt.Errorf("delete topic %s: %w", name, err)
	}
	c.forgetTopic(name)
	return c.awaitDeletion(ctx, name)
}

// awaitDeletion waits until every broker has stopped to know the topic, so that
// a new one of the same name is not taken for it.
func (c *Client) awaitDeletion(ctx context.Context, name string) error {
	c.mu.Lock()
	brokers := make([]*broker, 0, len(c.brokers))
	for _, b := range c.brokers {
		brokers = append(brokers, b)
	}
	c.mu.Unlock()
	errStillThere := fmt.Errorf("%w: topic %s is still being deleted", kafkaio.ErrTransient, name)
	return parallel(brokers, func(b *broker) error {
		return retry(ctx, func() error {
			topics, err := c.refreshFrom(ctx, b, []string{name})
			if _, lost := errors.AsType[*connectionError](err); lost {
				return nil // a broker that is down learns of it when it comes back
			}
			if err != nil {
				return err
			}
			if topic := topics[name]; topic != nil && topic.code == 0 {
				return errStillThere
			}
			return nil
		})
	})
}

// DeleteRecords implements kafkaio.Admin.
func (c *Client) DeleteRecords(ctx context.Context, before map[kafkaio.TopicPartition]int64) error {
	rest := make([]kafkaio.TopicPartition, 0, len(before))
	for tp := range before {
		rest = append(rest, tp)
	}
	err := retry(ctx, func() error {
		grouped, err := c.byLeader(ctx, rest)
		if err != nil {
			return err
		}
		for b, partitions := range grouped {
			err := c.deleteRecords(ctx, b, partitions, before)
			if errors.Is(err, kafkaio.ErrOffsetOutOfRange) {
				err = c.onlyDeletedBefore(ctx, partitions, before, err)
			}
			if err != nil {
				for _, tp := range partitions {
					c.forgetTopic(tp.Topic)
				}
				return err
			}
			rest = slices.DeleteFunc(rest, func(tp kafkaio.TopicPartition) bool { return slices.Contains(partitions, tp) })
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete records: %w", err)
	}
	return nil
}

// onlyDeletedBefore drops an error that comes from records being gone already,
// which Kafka accepts and other brokers do not.
func (c *Client) onlyDeletedBefore(ctx context.Context, partitions []kafkaio.TopicPartition, before map[kafkaio.TopicPartition]int64, cause error) error {
	ranges, err := c.Offsets(ctx, partitions)
	if err != nil {
		return err
	}
	for _, tp := range partitions {
		if before[tp] > ranges[tp].Start {
			return cause
		}
	}
	return nil
}

func (c *Client) deleteRecords(ctx context.Context, b *broker, partitions []kafkaio.TopicPartition, before map[kafkaio.TopicPartition]int64) error {
	var failure error
	request := &rawMessage{
		key: protocol.DeleteRecords, version: deleteVersion, clientID: c.options.ClientID,
		encode: func(e *encoder) {
			e.array(len(partitions))
			for _, tp := range partitions {
				e.string(tp.Topic)
				e.array(1)
				e.int32(tp.Partition)
				e.int64(before[tp])
			}
			e.int32(milliseconds(c.options.RequestTimeout))
		},
		decode: func(d *decoder) {
			d.int32() // throttle time
			for range d.array() {
				topic := d.string()
				for range d.array() {
					tp := kafkaio.TopicPartition{Topic: topic, Partition: d.int32()}
					d.int64() // the new first offset
					if code := d.int16(); code != 0 && failure == nil {
						failure = &kafkaio.PartitionError{TopicPartition: tp, Offset: before[tp], Err: codeErr(code)}
					}
				}
			}
		},
	}
	if _, err := b.exchange(ctx, c.options.RequestTimeout, request); err != nil {
		return err
	}
	return failure
}

func milliseconds(d time.Duration) int32 { return int32(d.Milliseconds()) }
