// Package ast is the tree of a parsed statement. Statements and streaming
// clauses are the types of this package; queries and expressions are TiDB's
// AST with Forms in it for what MySQL's grammar cannot say. A tree does not
// change once the parser has handed it on.
package ast

import "millrace/sql/types"

// Statement is one parsed statement.
type Statement interface{ statement() }

// SourceKind tells streams from tables.
type SourceKind string

// The kinds of sources.
const (
	Stream SourceKind = "STREAM"
	Table  SourceKind = "TABLE"
)

// TypeName is a type as written: its names are not resolved yet.
type TypeName struct {
	Name       string      // upper case unless quoted: INT, VARCHAR, DECIMAL, ARRAY, MAP, STRUCT or a custom type
	Quoted     bool        // the name was quoted, so it can only be a custom type
	Parameters []string    // DECIMAL(10, 2): "10", "2"
	Elements   []*TypeName // ARRAY: 1, MAP: 2, STRUCT: one for each field
	Fields     []string    // STRUCT
	Position   types.Position
}

// ColumnRole is what stands behind a column's type in a definition.
type ColumnRole uint8

// The roles of columns.
const (
	ValueColumn   ColumnRole = iota
	KeyColumn                // KEY
	PrimaryKey               // PRIMARY KEY
	HeadersColumn            // HEADERS
	HeaderColumn             // HEADER('key')
)

// ColumnDefinition is one column of CREATE, ALTER or ASSERT.
type ColumnDefinition struct {
	Name     string
	Type     *TypeName
	Role     ColumnRole
	Header   string // HeaderColumn: the header's key
	Position types.Position
}

// LiteralKind is the lexical class of a property's value.
type LiteralKind uint8

// The kinds of literals.
const (
	NullLiteral LiteralKind = iota
	StringLiteral
	NumberLiteral
	BooleanLiteral
)

// Property is one entry of a WITH clause. Name is upper case; Value is the
// literal's text without quotes (TRUE and FALSE in upper case).
type Property struct {
	Name          string
	Kind          LiteralKind
	Value         string
	Position      types.Position // of the name
	ValuePosition types.Position
}

// Duration is a number and a unit as written. Unit is singular: MILLISECOND,
// SECOND, MINUTE, HOUR, DAY, WEEK, MONTH or YEAR.
type Duration struct {
	Number   string
	Unit     string
	Position types.Position
}

// The statements. Name positions are those of the object's name.
type (
	// QueryStatement is a bare SELECT.
	QueryStatement struct{ Query *Query }

	// CreateSource is CREATE STREAM or TABLE over a topic, or, with Query, AS SELECT.
	CreateSource struct {
		Kind        SourceKind
		OrReplace   bool
		ReadOnly    bool // SOURCE
		Global      bool
		IfNotExists bool
		Name        string
		Columns     []ColumnDefinition
		Properties  []Property
		Query       *Query
		Position    types.Position
	}

	// InsertQuery is INSERT INTO .. SELECT.
	InsertQuery struct {
		Target     string
		Properties []Property
		Query      *Query
		Position   types.Position
	}

	// InsertValues is INSERT INTO .. VALUES. Rows is a SELECT without FROM
	// whose fields are RowForms.
	InsertValues struct {
		Target    string
		Columns   []string
		Positions []types.Position // of Columns
		Rows      *Query
		Position  types.Position
	}

	// Load is LOAD 'file' INTO source: a file's rows become records.
	Load struct {
		File         string
		Target       string
		Properties   []Property
		Position     types.Position // of the target
		FilePosition types.Position
	}

	// DeleteRows is DELETE FROM table WHERE key = ..; Where is a SELECT without
	// FROM whose only field is the condition.
	DeleteRows struct {
		Target   string
		Where    *Query
		Position types.Position
	}

	// CreateConnector is CREATE SOURCE|SINK CONNECTOR.
	CreateConnector struct {
		Kind        string
		IfNotExists bool
		Name        string
		Properties  []Property
		Position    types.Position
	}

	// CreateType is CREATE TYPE .. AS.
	CreateType struct {
		IfNotExists bool
		Name        string
		Type        *TypeName
		Position    types.Position
	}

	// AlterSource is ALTER STREAM|TABLE .. ADD COLUMN.
	AlterSource struct {
		Kind     SourceKind
		Name     string
		Add      []ColumnDefinition
		Position types.Position
	}

	// Drop is DROP STREAM|TABLE|TYPE|CONNECTOR|FUNCTION.
	Drop struct {
		What        string // STREAM, TABLE, TYPE, CONNECTOR, FUNCTION
		Name        string
		IfExists    bool
		DeleteTopic bool
		Position    types.Position
	}

	// Explain is EXPLAIN of a statement or of a running query.
	Explain struct {
		Statement Statement
		QueryID   string
		Position  types.Position
	}

	// Describe is DESCRIBE name, function, connector, STREAMS or TABLES.
	Describe struct {
		What     string // SOURCE, FUNCTION, CONNECTOR, STREAMS, TABLES
		Name     string
		Extended bool
		Position types.Position
	}

	// Show is SHOW or LIST of a class of things.
	Show struct {
		What     string // STREAMS, TABLES, TOPICS, QUERIES, FUNCTIONS, TYPES, PROPERTIES, VARIABLES, CONNECTORS, ..
		All      bool
		Extended bool
		Position types.Position
	}

	// SetProperty is SET 'name'='value'.
	SetProperty struct {
		Name, Value string
		Position    types.Position
	}

	// UnsetProperty is UNSET 'name'.
	UnsetProperty struct {
		Name     string
		Position types.Position
	}

	// Define is DEFINE name='value'.
	Define struct {
		Name, Value string
		Position    types.Position
	}

	// Undefine is UNDEFINE name.
	Undefine struct {
		Name     string
		Position types.Position
	}

	// Control is PAUSE, RESUME or TERMINATE of a query, or of ALL.
	Control struct {
		Verb     string
		QueryID  string // "ALL" for all
		Position types.Position
	}

	// Print is PRINT topic.
	Print struct {
		Topic         string
		FromBeginning bool
		Interval      int // every n-th record; 1 when not given
		Limit         int // -1: no limit
		Position      types.Position
	}

	// Assert is an ASSERT statement.
	Assert struct {
		What       string // TOPIC, SCHEMA, STREAM, TABLE, VALUES, NULL VALUES, TOMBSTONE
		Not        bool
		Name       string // topic, subject or source
		SchemaID   string
		Columns    []ColumnDefinition
		Properties []Property
		Timeout    *Duration
		Position   types.Position
	}

	// CreateFunction is CREATE [OR REPLACE] FUNCTION name(parameters) RETURNS
	// type AS expression; Body is a SELECT without FROM of that expression.
	CreateFunction struct {
		OrReplace  bool
		Name       string
		Parameters []ColumnDefinition
		Returns    *TypeName
		Body       *Query
		Position   types.Position
	}

	// RunScript is RUN SCRIPT 'file'.
	RunScript struct {
		File     string
		Position types.Position
	}
)

func (*QueryStatement) statement()  {}
func (*CreateSource) statement()    {}
func (*InsertQuery) statement()     {}
func (*InsertValues) statement()    {}
func (*Load) statement()            {}
func (*DeleteRows) statement()      {}
func (*CreateConnector) statement() {}
func (*CreateType) statement()      {}
func (*AlterSource) statement()     {}
func (*Drop) statement()            {}
func (*Explain) statement()         {}
func (*Describe) statement()        {}
func (*Show) statement()            {}
func (*SetProperty) statement()     {}
func (*UnsetProperty) statement()   {}
func (*Define) statement()          {}
func (*Undefine) statement()        {}
func (*Control) statement()         {}
func (*Print) statement()           {}
func (*Assert) statement()          {}
func (*CreateFunction) statement()  {}
func (*RunScript) statement()       {}
