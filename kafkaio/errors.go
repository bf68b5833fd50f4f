package kafkaio

import (
	"errors"
	"fmt"
)

// What an error of the log means to its user. Implementations wrap these with
// the topic, partition or broker concerned.
var (
	// ErrTransient passes by itself: the same call may succeed later.
	ErrTransient = errors.New("the cluster is not ready")
	// ErrUnreachable: no broker could be reached in the time given.
	ErrUnreachable = errors.New("no broker can be reached")
	// ErrFenced: another holder of the transactional id, member or generation
	// has taken over; nothing that this one writes counts any more.
	ErrFenced = errors.New("fenced by another owner")
	// ErrAborted: the transaction was given up and nothing of it counts; the
	// producer may begin the next. The cause is wrapped beside it.
	ErrAborted = errors.New("the transaction was aborted")
	// ErrUnknownTopic: the topic or partition does not exist, or may not be seen.
	ErrUnknownTopic = errors.New("the topic does not exist or access to it is denied")
	// ErrTopicExists: the name is taken.
	ErrTopicExists = errors.New("the topic exists already")
	// ErrOffsetOutOfRange: the position lies before the first or behind the
	// last record kept.
	ErrOffsetOutOfRange = errors.New("the position is outside what the partition holds")
	// ErrRecordTooLarge: the broker does not take a batch of this size.
	ErrRecordTooLarge = errors.New("the record is larger than the topic allows")
	// ErrInvalidTimestamp: the broker refuses a record's timestamp.
	ErrInvalidTimestamp = errors.New("the topic does not accept the record's timestamp")
	// ErrDenied: the cluster's access rules refuse the call.
	ErrDenied = errors.New("access denied")
	// ErrCorrupt: bytes that are no record batch.
	ErrCorrupt = errors.New("corrupt record batch")
)

// PartitionError is an error of one partition.
type PartitionError struct {
	TopicPartition
	Offset int64 // -1: not known
	Err    error
}

func (e *PartitionError) Error() string {
	if e.Offset >= 0 {
		return fmt.Sprintf("topic %s, partition %d, offset %d: %v", e.Topic, e.Partition, e.Offset, e.Err)
	}
	return fmt.Sprintf("topic %s, partition %d: %v", e.Topic, e.Partition, e.Err)
}

func (e *PartitionError) Unwrap() error { return e.Err }
