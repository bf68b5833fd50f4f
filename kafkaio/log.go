// Package kafkaio is the port to the log: fetch, transactional produce,
// committed offsets and admin, as the engine needs them. kafkaio/client
// implements it on Kafka's protocol, kafkaio/memory in the process for replays
// and tests; kafkaio/conformance is the suite that both pass. The package also
// holds what both share: record batches, compression and the partitioner.
package kafkaio

import (
	"context"
	"time"
)

// TopicPartition names a partition of a topic.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// Log is one cluster. It is safe for concurrent use.
//
// Every call that talks to a cluster retries what passes by itself (see
// ErrTransient) until ctx ends, and then says which broker, for how long and
// what the last answer was.
type Log interface {
	Admin

	// NewFetcher is a reader of committed records.
	NewFetcher(options FetchOptions) Fetcher

	// NewProducer is a transactional producer. The id is the name under which
	// the cluster fences an earlier holder.
	NewProducer(options ProducerOptions) Producer

	// Fence ends whatever transaction the producer ids left open: it does what
	// the ids' own Init would do and forgets the result. Whoever takes over the
	// partitions of a dead worker calls it before CommittedOffsets.
	Fence(ctx context.Context, transactionalIDs []string) error

	// CommittedOffsets gives the group's positions, waiting until no
	// transactional commit is pending on them. Partitions without a commit are
	// absent from the result.
	CommittedOffsets(ctx context.Context, group string, partitions []TopicPartition) (map[TopicPartition]int64, error)

	// Offsets gives the first offset, the last stable offset and the high
	// watermark of each partition.
	Offsets(ctx context.Context, partitions []TopicPartition) (map[TopicPartition]OffsetRange, error)

	// Close releases the connections. Fetchers and producers must be closed before.
	Close() error
}

// OffsetRange is what a partition holds. Offsets in [Start, Stable) can be read
// read_committed; HighWatermark is where the next committed record may stand,
// and the end of a restore.
type OffsetRange struct {
	Start, Stable, HighWatermark int64
}

// Topic describes a topic. ID changes when a topic is deleted and made again.
type Topic struct {
	Name       string
	ID         [16]byte
	Partitions int
	Replicas   int
	Internal   bool
	Config     map[string]string // only what Admin.TopicConfig read or TopicSpec wants
}

// TopicSpec is a topic to create. Replicas 0 takes the cluster's default.
type TopicSpec struct {
	Name       string
	Partitions int
	Replicas   int
	Config     map[string]string // retention.ms, cleanup.policy, ..
}

// Admin looks at and changes topics and groups.
type Admin interface {
	// Topics describes the named topics, or all when no name is given. A topic
	// that does not exist, or may not be seen, is absent from the result.
	Topics(ctx context.Context, names ...string) (map[string]Topic, error)
	// TopicConfig reads a topic's configuration.
	TopicConfig(ctx context.Context, name string) (map[string]string, error)
	// CreateTopic makes a topic and returns when each of its partitions
	// answers a fetch. It fails with ErrTopicExists where the name is taken.
	CreateTopic(ctx context.Context, spec TopicSpec) error
	// DeleteTopic deletes a topic; ErrUnknownTopic if there is none.
	DeleteTopic(ctx context.Context, name string) error
	// DeleteGroup deletes a consumer group with its positions, once no
	// transactional commit is pending on them. A group that does not exist is no
	// error, so that the call may be repeated; one with members is.
	DeleteGroup(ctx context.Context, group string) error
	// DeleteRecords lets the cluster drop the records before the given offsets.
	DeleteRecords(ctx context.Context, before map[TopicPartition]int64) error
}

// FetchOptions sets up a Fetcher. Zero values take the defaults named.
type FetchOptions struct {
	MaxWait        time.Duration // how long a broker may wait for data; 100 ms
	PartitionBytes int           // asked for per partition and request; 1 MiB
	BufferBytes    int           // fetched and not yet released, in all; 32 MiB
}

// Fetcher reads committed records of the partitions it is told to. Fetching
// goes on in the background up to FetchOptions.BufferBytes. One goroutine uses
// a Fetcher; Close may be called from another.
type Fetcher interface {
	// Assign replaces the partitions to read and where to read them from.
	// Buffered data of partitions that stay at their position is kept.
	Assign(positions map[TopicPartition]int64)

	// Poll returns what has arrived, waiting up to wait for something. Each
	// Records is a run of one partition that follows the last one returned of
	// it. A run without records but with a new Next or Stable is returned too,
	// so that a reader learns that it has reached the end.
	//
	// The caller owns the runs until it calls Release on each of them; until
	// then their slices do not change. A partition with more than its share
	// unreleased is not fetched further.
	Poll(ctx context.Context, wait time.Duration) ([]*Records, error)

	Close() error
}

// Records is a run of committed records of one partition, in offset order, as
// parallel slices. Keys and values point into a fetched or decompressed buffer.
type Records struct {
	TopicPartition
	Offsets    []int64
	Timestamps []int64
	Keys       [][]byte // nil: null
	Values     [][]byte // nil: null
	Headers    [][]byte // encoded header blocks (see AppendHeaders); an empty block is nil

	Next   int64 // position after this run: beyond markers, aborted and compacted records
	Stable int64 // the last stable offset when this run was fetched
	// HighWatermark when this run was fetched; where a restore ends.
	HighWatermark int64

	release func(*Records)
}

// Len is the number of records.
func (r *Records) Len() int { return len(r.Offsets) }

// OnRelease sets what Release does; for implementations of Fetcher.
func (r *Records) OnRelease(f func(*Records)) { r.release = f }

// Release gives the run's buffers back. The run must not be used afterwards.
func (r *Records) Release() {
	if r.release != nil {
		f := r.release
		r.release = nil
		f(r)
	}
}

// Compression is Kafka's id of a codec.
type Compression int8

// The codecs.
const (
	NoCompression Compression = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// ProducerOptions sets up a Producer.
type ProducerOptions struct {
	TransactionalID string
	Timeout         time.Duration // of a transaction, at the broker; 60 s
	Compression     Compression
	BatchBytes      int // a partition's batch is sent when it holds this much; 512 KiB
}

// Group identifies the consumer whose offsets a transaction commits. Without
// membership Generation is -1 and Member empty.
type Group struct {
	Name       string
	Generation int32
	Member     string
	Instance   string
}

// Producer writes transactions. One goroutine uses it. The transaction begins
// with the first Append or SendOffsets after Init, Commit or Abort.
//
// After ErrFenced, or an error of Commit that is not ErrAborted, the producer's
// transaction is in doubt: the owner calls Init again (which waits for the end
// of it, either way) and reads the committed offsets to learn what happened.
type Producer interface {
	// Init obtains the producer id and fences every earlier holder of the
	// transactional id, aborting what it left open.
	Init(ctx context.Context) error

	// Append adds a record to the transaction; key, value and headers (an
	// encoded block) are copied. Batches that are full are sent in the
	// background while Append returns.
	Append(ctx context.Context, to TopicPartition, timestamp int64, key, value, headers []byte) error

	// SendOffsets makes the positions of a group part of the transaction.
	SendOffsets(ctx context.Context, group Group, positions map[TopicPartition]int64) error

	// Flush sends what is buffered and returns when all is acknowledged.
	Flush(ctx context.Context) error

	// Commit flushes and commits. Without Append and SendOffsets it does nothing.
	Commit(ctx context.Context) error

	// Abort drops the transaction.
	Abort(ctx context.Context) error

	Close() error
}
