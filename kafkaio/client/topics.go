package client

import (
	"iter"

	"millrace/kafkaio"
)

// topicPartitions are partitions of one topic, as requests name them.
type topicPartitions struct {
	name       string
	partitions []int32
}

// groupByTopic groups partitions by topic, topics and partitions in the order
// given.
func groupByTopic(partitions iter.Seq[kafkaio.TopicPartition]) []topicPartitions {
	var topics []topicPartitions
	at := make(map[string]int)
	for tp := range partitions {
		i, ok := at[tp.Topic]
		if !ok {
			i = len(topics)
			at[tp.Topic] = i
			topics = append(topics, topicPartitions{name: tp.Topic})
		}
		topics[i].partitions = append(topics[i].partitions, tp.Partition)
	}
	return topics
}
