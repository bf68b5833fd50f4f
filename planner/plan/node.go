// Package plan is the physical plan of a query as immutable data: nodes that
// say what each operator does, cut into subgraphs at repartition topics. It
// prints itself as EXPLAIN and holds no state and no code that runs.
package plan

import (
	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// Column is one column of what a node puts out.
type Column struct {
	Name string
	Type *types.Type
}

// Schema describes the batches that a node puts out: their vectors stand in
// the order of Columns.
type Schema struct {
	Columns []Column
	Key     []int // which columns are the key, in key order
	// Changes: a table; batches hold changes with the row before, where the
	// node promises it (KeepsBefore).
	Changes     bool
	KeepsBefore bool
	// Window is set where the key carries a window; WindowStart and WindowEnd
	// are then the columns of its bounds (BIGINT), else -1.
	Window                 *catalog.KeyWindow
	WindowStart, WindowEnd int
}

// Node is one operator of a plan. Nodes form a tree whose leaves are Source
// and RepartitionSource and whose root is Sink, RepartitionSink or Materialize.
type Node interface {
	Schema() Schema
	Inputs() []Node
	// Describe is the node in one line of EXPLAIN, without its inputs.
	Describe() string
}

// Field is one field of a record's key or value, in the record's order, and
// the column that it is read into or written from; -1: not read.
type Field struct {
	Name   string
	Type   *types.Type
	Column int
}

// Pseudo says which columns take a record's own properties; -1: none does.
type Pseudo struct {
	RowTime, RowPartition, RowOffset, WindowStart, WindowEnd int
}

// NoPseudo reads none of them.
var NoPseudo = Pseudo{-1, -1, -1, -1, -1}

// HeaderField is a column that takes all headers of a record (Key empty) or
// the last one called Key.
type HeaderField struct {
	Key    string
	Column int
}

// Timestamp says which field of a source holds a record's time. Format is a
// Java pattern for STRING; for TIMESTAMP and BIGINT it is empty.
type Timestamp struct {
	Column int // of the node's schema, so it is always read
	Format string
	// FailOnInvalid makes a bad time end the query instead of skipping the record.
	FailOnInvalid bool
}

// Source reads the records of a stream's or table's topic.
//
// Records that cannot be decoded, and those with a negative or missing time,
// are skipped and reported. Of a table, records with a null key are skipped
// and reported. With Store the rows of a table are kept, so that batches hold
// the row before each change.
type Source struct {
	Name      string // of the stream or table
	Topic     string
	KeyFormat catalog.Format
	KeyFields []Field
	KeyWindow *catalog.KeyWindow

	ValueFormat catalog.Format
	ValueFields []Field

	Pseudo    Pseudo
	Headers   []HeaderField
	Timestamp *Timestamp
	Store     string // table only; "": not kept
	Output    Schema
}

// RepartitionSource reads the records that a RepartitionSink of the same query
// wrote: all columns of the sink's input, in its order.
type RepartitionSource struct {
	Topic  string
	Output Schema
}

// Filter keeps the rows for which Condition is true. Rows without a value are
// dropped from a stream. Of a table, a row that stops matching becomes a delete,
// and one that matched neither before nor after is dropped.
type Filter struct {
	Input     Node
	Condition expr.Expr
}

// NamedExpr is an expression with the name of the column that it makes.
type NamedExpr struct {
	Name string
	Expr expr.Expr
}

// Project computes columns. Key columns are computed also for rows without a
// value. Expressions over a table's row are computed for the row before as well.
type Project struct {
	Input   Node
	Columns []NamedExpr
	Output  Schema
}

// Unnest gives each row of a stream once for every element of the arrays, side
// by side: a row more for each element of the longest, null where another has
// ended. Its columns are the input's, then one a table function.
type Unnest struct {
	Input  Node
	Arrays []NamedExpr
	Output Schema
}

// AggregateCall is one aggregate function of an Aggregate.
type AggregateCall struct {
	Function  string        // upper case
	Distinct  bool          // equal arguments count once
	Filtered  bool          // only rows count in which Filter, a BOOLEAN column of the input, is true
	Filter    int           // where Filtered
	Arguments []int         // columns of the input
	Constants []expr.Expr   // literal parameters behind them, such as the k of TOPK
	Type      *types.Type   // of the result
	Inputs    []*types.Type // types of Arguments
	Name      string        // for EXPLAIN: COUNT(*), SUM(A), SUM(A) FILTER (WHERE B)
}

// Window is the window of an Aggregate. Durations are milliseconds.
type Window struct {
	Kind    catalog.WindowKind
	Size    int64 // 0 for SESSION; SLIDING windows are [start, start + Size], else the end is exclusive
	Advance int64 // HOPPING; TUMBLING: equal to Size
	Gap     int64 // SESSION
	Grace   int64
}

// Aggregate groups rows by columns and keeps one state a group (and window).
// Rows with a null in a group column, or without a value, are left out. Its
// columns are the group columns, then with a Window the bounds WINDOWSTART and
// WINDOWEND, then one a call.
type Aggregate struct {
	Input  Node
	Groups []int
	Calls  []AggregateCall
	Window *Window
	Final  bool // EMIT FINAL
	Store  string
	Output Schema
}

// JoinKind is the kind of a join.
type JoinKind string

// The kinds of joins.
const (
	InnerJoin JoinKind = "INNER"
	LeftJoin  JoinKind = "LEFT"
)

// StreamTableJoin looks up each row of the left stream in the table on the
// right, whose Source keeps it in a store. Its columns are the left's, then the
// right's. A left row with a null key column matches nothing.
type StreamTableJoin struct {
	Kind    JoinKind
	Left    Node
	Right   *Source
	LeftKey []int // columns of the left, equal to the right's key in order
	// KeyColumn is a column with the join's key: it is defined also where the
	// right side is padded.
	Output Schema
}

// RepartitionSink ends a subgraph: it writes rows to an internal topic so that
// rows with equal keys meet in one task. Keys are written in KeyFormat, the
// whole row as value. Rows with a null key are dropped, unless KeepNullKeys.
type RepartitionSink struct {
	Input        Node
	Topic        string
	KeyFormat    catalog.Format
	Key          []Field
	KeepNullKeys bool
}

// Sink writes the query's result to a topic.
type Sink struct {
	Input       Node
	Name        string // of the stream or table written
	Topic       string
	KeyFormat   catalog.Format
	Key         []Field
	ValueFormat catalog.Format
	Value       []Field
	Timestamp   *Timestamp // WITH(TIMESTAMP=..): the record's time is this column
	// PassesNullKeys says that the key is the source's own: a key whose columns
	// are all null came from a null key and is written as one.
	PassesNullKeys bool
}

// Schema implements Node.
func (n *Source) Schema() Schema { return n.Output }

// Schema implements Node.
func (n *RepartitionSource) Schema() Schema { return n.Output }

// Schema implements Node: that of the input.
func (n *Filter) Schema() Schema { return n.Input.Schema() }

// Schema implements Node.
func (n *Project) Schema() Schema { return n.Output }

// Schema implements Node.
func (n *Unnest) Schema() Schema { return n.Output }

// Schema implements Node.
func (n *Aggregate) Schema() Schema { return n.Output }

// Schema implements Node.
func (n *StreamTableJoin) Schema() Schema { return n.Output }

// Schema implements Node: that of the input.
func (n *RepartitionSink) Schema() Schema { return n.Input.Schema() }

// Schema implements Node: that of the input.
func (n *Sink) Schema() Schema { return n.Input.Schema() }

// Inputs implements Node.
func (n *Source) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *RepartitionSource) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Unnest) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *StreamTableJoin) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *RepartitionSink) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Sink) Inputs() []Node { return []Node{n.Input} }
