package ast

import (
	"millrace/sql/types"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// WindowKind is the kind of a WINDOW clause.
type WindowKind string

// The kinds of windows.
const (
	Tumbling WindowKind = "TUMBLING"
	Hopping  WindowKind = "HOPPING"
	Session  WindowKind = "SESSION"
	Sliding  WindowKind = "SLIDING"
)

// Window is a WINDOW clause of a SELECT. Durations that were not given are nil.
type Window struct {
	Kind      WindowKind
	Size      *Duration // TUMBLING, HOPPING, SLIDING
	Advance   *Duration // HOPPING
	Gap       *Duration // SESSION
	Retention *Duration
	Grace     *Duration
	Position  types.Position
}

// Block is what a SELECT says beyond TiDB's SelectStmt.
type Block struct {
	Window      *Window
	PartitionBy []ast.ExprNode
	Position    types.Position // of the word SELECT
}

// JoinKind is the kind of a join.
type JoinKind string

// The kinds of joins.
const (
	InnerJoin JoinKind = "INNER"
	LeftJoin  JoinKind = "LEFT"
	RightJoin JoinKind = "RIGHT"
	FullJoin  JoinKind = "FULL"
)

// Join is what a join says beyond TiDB's Join, whose kind does not count.
type Join struct {
	Kind          JoinKind
	Before, After *Duration // WITHIN; nil when not given
	Grace         *Duration
	Position      types.Position
}

// Emit says which rows of a query are wanted.
type Emit string

// The refinements of a query.
const (
	EmitDefault Emit = ""
	EmitChanges Emit = "CHANGES"
	EmitFinal   Emit = "FINAL"
)

// Query is a query as TiDB's AST with side tables for what that AST cannot
// hold. Expressions hold Forms and Literals; names are upper case unless they
// were quoted, and to be read from CIStr.O.
type Query struct {
	Node   ast.ResultSetNode // *ast.SelectStmt or *ast.SetOprStmt
	Blocks map[*ast.SelectStmt]*Block
	Joins  map[*ast.Join]*Join
	Tables map[*ast.TableName]types.Position
	Emit   Emit
	Limit  *int // of the outermost query; Node has it too

	// Locate gives the place in the user's text of a node, from the node's
	// OriginTextPosition or SelectField.Offset.
	Locate func(offset int) types.Position
	// Text is the query as the user wrote it.
	Text string
}

// PositionOf is the place of an expression in the user's text.
func (q *Query) PositionOf(e ast.ExprNode) types.Position {
	return q.Locate(e.OriginTextPosition())
}
