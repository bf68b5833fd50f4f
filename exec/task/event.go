package task

import (
	"fmt"

	"millrace/kafkaio"
)

// Place names a record: where it came from and who read it.
type Place struct {
	Query string
	kafkaio.TopicPartition
	Offset int64 // -1: not known, as for a row that an aggregation made
	// Origin names the sources whose rows the query itself has written into the
	// topic, as ORDERS (topic orders); empty for a topic of the user's.
	Origin string
}

func (p Place) String() string { return fmt.Sprintf("query %s, %s", p.Query, p.Record()) }

// Record is the place without the query.
func (p Place) Record() string {
	text := fmt.Sprintf("topic %s, partition %d", p.Topic, p.Partition)
	if p.Offset >= 0 {
		text += fmt.Sprintf(", offset %d", p.Offset)
	}
	if p.Origin != "" {
		text += ", a row of " + p.Origin
	}
	return text
}

// Reason sorts skipped records and rows; it is the name under which they are counted.
type Reason string

// The reasons.
const (
	BadKey        Reason = "undecodable key"
	BadValue      Reason = "undecodable value"
	BadHeaders    Reason = "undecodable headers"
	BadTimestamp  Reason = "invalid timestamp"
	NoKey         Reason = "null key"
	NoValue       Reason = "null value"
	Unencodable   Reason = "not encodable"
	Refused       Reason = "not taken by the sink's topic"
	DeletedUnread Reason = "deleted before it was read"
)

// RecordSkipped says that a record was left out.
type RecordSkipped struct {
	Place
	Reason Reason
	Path   string // of the field, if one is to blame
	Detail string
}

func (i RecordSkipped) String() string {
	text := fmt.Sprintf("%s: record skipped: %s", i.Place, i.Reason)
	if i.Path != "" {
		text += ": " + i.Path
	}
	if i.Detail != "" {
		text += ": " + i.Detail
	}
	return text
}

// RowError says that an expression failed on a row, which made it null there.
type RowError struct {
	Place
	Expression string
	Err        error
}

func (i RowError) String() string {
	return fmt.Sprintf("%s: %s: %v", i.Place, i.Expression, i.Err)
}

// LateRecord says that a row came after its window was closed.
type LateRecord struct {
	Place
	Timestamp int64
}

func (i LateRecord) String() string {
	return fmt.Sprintf("%s: timestamp %d: too late, its window is closed", i.Place, i.Timestamp)
}

// StateRestored says that a task's store was read back from its changelog.
type StateRestored struct {
	Query     string
	Store     string
	Partition int32
	Records   int64
	From      int64 // offset in the changelog
}

func (i StateRestored) String() string {
	return fmt.Sprintf("query %s, store %s, partition %d: restored from offset %d, %d records", i.Query, i.Store, i.Partition, i.From, i.Records)
}

// StateDropped says that the local copy of a task's state could not be used and
// was removed. The state is read back from the changelogs.
type StateDropped struct {
	Query     string
	Partition int32
	Cause     error
}

func (i StateDropped) String() string {
	return fmt.Sprintf("query %s, partition %d: the local copy of the state was dropped: %v", i.Query, i.Partition, i.Cause)
}

// Reporter is told what a task leaves out and restores. A nil function is not
// called. The functions are called from the worker's goroutine.
type Reporter struct {
	RecordSkipped func(RecordSkipped)
	RowError      func(RowError)
	LateRecord    func(LateRecord)
	StateRestored func(StateRestored)
	StateDropped  func(StateDropped)
}

// Counts is what a task did since it was last asked.
type Counts struct {
	In, Out   int64
	Late      int64
	RowErrors int64
	Skipped   map[Reason]int64
}

func (c *Counts) skip(reason Reason, n int64) {
	if c.Skipped == nil {
		c.Skipped = make(map[Reason]int64)
	}
	c.Skipped[reason] += n
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.In += other.In
	c.Out += other.Out
	c.Late += other.Late
	c.RowErrors += other.RowErrors
	for reason, n := range other.Skipped {
		c.skip(reason, n)
	}
}
