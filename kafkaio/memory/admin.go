package memory

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"strconv"

	"millrace/kafkaio"
)

// defaultMessageBytes is Kafka's default of max.message.bytes.
const defaultMessageBytes = 1048588

type topic struct {
	name         string
	id           [16]byte
	config       map[string]string
	messageBytes int
	partitions   []*partition
}

func (t *topic) describe() kafkaio.Topic {
	return kafkaio.Topic{Name: t.name, ID: t.id, Partitions: len(t.partitions), Replicas: 1}
}

// Topics implements kafkaio.Admin.
func (l *Log) Topics(ctx context.Context, names ...string) (map[string]kafkaio.Topic, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	topics := make(map[string]kafkaio.Topic)
	if len(names) == 0 {
		for name, t := range l.topics {
			topics[name] = t.describe()
		}
	}
	for _, name := range names {
		if t := l.topics[name]; t != nil {
			topics[name] = t.describe()
		}
	}
	return topics, nil
}

// TopicConfig implements kafkaio.Admin. It holds what CreateTopic was given.
func (l *Log) TopicConfig(ctx context.Context, name string) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.topics[name]
	if t == nil {
		return nil, fmt.Errorf("topic %s: %w", name, kafkaio.ErrUnknownTopic)
	}
	return maps.Clone(t.config), nil
}

// CreateTopic implements kafkaio.Admin. Without a number of partitions the
// topic has one.
func (l *Log) CreateTopic(ctx context.Context, spec kafkaio.TopicSpec) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := kafkaio.CheckTopicName(spec.Name); err != nil {
		return err
	}
	t := &topic{name: spec.Name, config: make(map[string]string, len(spec.Config)), messageBytes: defaultMessageBytes}
	maps.Copy(t.config, spec.Config)
	if text, ok := spec.Config["max.message.bytes"]; ok {
		size, err := strconv.Atoi(text)
		if err != nil || size < 0 {
			return fmt.Errorf("topic %s: max.message.bytes is %q, not a size", spec.Name, text)
		}
		t.messageBytes = size
	}
	for range max(spec.Partitions, 1) {
		t.partitions = append(t.partitions, &partition{})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.topics[spec.Name] != nil {
		return fmt.Errorf("topic %s: %w", spec.Name, kafkaio.ErrTopicExists)
	}
	l.lastTopic++
	binary.BigEndian.PutUint64(t.id[8:], l.lastTopic)
	l.topics[spec.Name] = t
	return nil
}

// DeleteTopic implements kafkaio.Admin.
func (l *Log) DeleteTopic(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.topics[name] == nil {
		return fmt.Errorf("topic %s: %w", name, kafkaio.ErrUnknownTopic)
	}
	delete(l.topics, name)
	for _, g := range l.groups {
		maps.DeleteFunc(g.committed, func(tp kafkaio.TopicPartition, _ int64) bool { return tp.Topic == name })
	}
	l.notify()
	return nil
}

// DeleteRecords implements kafkaio.Admin.
func (l *Log) DeleteRecords(ctx context.Context, before map[kafkaio.TopicPartition]int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for tp, offset := range before {
		p, err := l.partition(tp)
		if err != nil {
			return err
		}
		if offset < 0 || offset > p.end() {
			return &kafkaio.PartitionError{TopicPartition: tp, Offset: offset, Err: kafkaio.ErrOffsetOutOfRange}
		}
		p.deleteBefore(offset)
	}
	return nil
}

// DeleteGroup implements kafkaio.Admin.
func (l *Log) DeleteGroup(ctx context.Context, group string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("delete group %s: %w", group, err)
		}
		if g := l.groups[group]; g == nil || len(g.pending) == 0 {
			delete(l.groups, group)
			return nil
		}
		l.wait(ctx.Done(), nil)
	}
}
