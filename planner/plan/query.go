package plan

// Store is one operator's state, backed by a changelog topic.
type Store struct {
	Name      string
	Windowed  bool
	Changelog string // topic; empty: the store is filled from its source's topic again
	// Retention is how long, in ms of stream time, a window's state is kept
	// from its start: size + grace, of sliding windows 2 * size + grace; of a
	// session from its end: gap + grace. 0 for unwindowed stores.
	Retention int64
}

// Repartition is an internal topic between two subgraphs.
type Repartition struct {
	Topic string
	// As names the source topics whose number of partitions it takes.
	// The join partner decides, else the input.
	PartitionsOf string
}

// Subgraph is a part of a plan that one task runs for one partition number: a
// tree of nodes from its inputs to one sink.
type Subgraph struct {
	ID     int
	Root   Node   // *Sink, *RepartitionSink or *Materialize
	Inputs []Node // *Source or *RepartitionSource, in order of reading the tree from the left
	Stores []Store
	// Ordered says that what the subgraph writes must be in the order of event
	// time over all of its partitions: it is repartitioned for a window, which
	// would take rows that others have run ahead of for late ones.
	Ordered bool
}

// Query is the physical plan of a continuous query.
type Query struct {
	ID           string
	Statement    string
	Logical      []string // what the query does, in words, for EXPLAIN
	Group        string   // consumer group that owns its input offsets
	Subgraphs    []*Subgraph
	Repartitions []Repartition
	SinkTopic    string
	// SinkPartitions and SinkReplicas are 0 where the sink takes its (left)
	// source's.
	SinkPartitions, SinkReplicas int
	SinkConfig                   map[string]string // retention.ms, cleanup.policy where given
	Sources                      []string          // names of what it reads
	Transient                    bool              // its result is looked at once and not kept
	// CoPartitioned are sets of source topics that must have equally many partitions.
	CoPartitioned [][]string
}

// InputTopic is the topic that an input of a subgraph reads.
func InputTopic(input Node) string {
	switch n := input.(type) {
	case *Source:
		return n.Topic
	case *RepartitionSource:
		return n.Topic
	}
	return ""
}
