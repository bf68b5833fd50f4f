// Package session executes statements: one in, a result out. The shell,
// scripts, replays and tests all go through it. What differs between them is
// the log, the stores and the clock, which Options holds.
package session

import (
	"context"
	"fmt"
	"strings"

	"millrace/kafkaio"
	"millrace/kafkaio/registry"
	"millrace/planner"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/parser"
	"millrace/sql/token"
	"millrace/sql/types"
)

// Engine runs the queries that a session starts.
type Engine interface {
	// Start checks the query's topics, makes internal ones and runs it.
	Start(ctx context.Context, q *plan.Query) error
	// Stop ends a query after its last commit. A query of the same id that is
	// started later goes on from there.
	Stop(ctx context.Context, id string) error
	// Drop ends a query for good: its positions, its state and its internal topics
	// are deleted. What it wrote stays. After an error it can be done again.
	Drop(ctx context.Context, id string) error
	// Pause lets a query take no more records until Resume.
	Pause(id string) error
	Resume(id string) error
}

// Options sets up a session.
type Options struct {
	// Log holds the topics. nil: statements are planned only; topics are taken
	// to exist, and nothing is read or written.
	Log     kafkaio.Log
	Engine  Engine // nil: statements are planned and nothing runs
	Service string
	// Registry has the schemas of formats that need one; nil: these are refused.
	Registry registry.Registry
	// Now is the clock that stamps inserted rows, in ms.
	Now func() int64
	// Directory is where relative file names of LOAD start from.
	Directory string
	// Partitions tells how many partitions a topic has where the log does not
	// know it, as in a replay; nil: the log knows.
	Partitions func(topic string) int
	// CheckProperty refuses a property that SET gives, with a *types.Error; nil:
	// all are accepted.
	CheckProperty func(name, value string) error
	// Progress is told how far a long statement has come; may be nil.
	Progress func(statement string, records int64)
	// QueryStatus tells how a query stands, for SHOW QUERIES and DESCRIBE; may be nil.
	QueryStatus func(id string) QueryStatus
	// PrintRow takes the rows of PRINT one by one as they are read, in the columns
	// of PrintColumns, instead of the Result; may be nil. An error ends PRINT.
	PrintRow func(row []any) error
	// Follow makes PRINT wait for new records, until its LIMIT or the context's
	// end, as a person in front of a screen wants it. It needs PrintRow.
	Follow bool
}

// Session executes statements one after the other. One goroutine uses it.
type Session struct {
	options  Options
	catalog  *catalog.Catalog
	parser   *parser.Parser
	looks    int              // SELECTs of their own so far
	producer kafkaio.Producer // for INSERT and LOAD, made at the first use
	plans    map[string]*plan.Query
	paused   map[string]bool // queries by id
}

// New is a session without declarations.
func New(options Options) *Session {
	return &Session{options: options, catalog: catalog.New(), parser: parser.New(), plans: map[string]*plan.Query{}, paused: map[string]bool{}}
}

// Catalog is what the session's statements have declared. It is to be read only.
func (s *Session) Catalog() *catalog.Catalog { return s.catalog }

// SetProperty sets a session property as SET does.
func (s *Session) SetProperty(name, value string) {
	s.catalog.Properties[strings.ToLower(name)] = value
}

// Close ends the session. Its queries go on.
func (s *Session) Close() error {
	if s.producer == nil {
		return nil
	}
	return s.producer.Close()
}

func (s *Session) planner(ctx context.Context) *planner.Planner {
	return &planner.Planner{Catalog: s.catalog, Formats: s.formats(ctx), Service: s.options.Service}
}

func (s *Session) formats(ctx context.Context) formats { return formats{ctx, s.options.Registry} }

// StatementError says at which statement of a script execution ended.
type StatementError struct {
	Index     int // from 0
	Statement token.Piece
	Done      int // statements before it that were executed
	Total     int // statements of the script
	Err       error
}

func (e *StatementError) Error() string { return e.Err.Error() }

func (e *StatementError) Unwrap() error { return e.Err }

// Script executes the statements of a text in order and tells done of each. It
// ends at the first error; nothing after that statement is executed. The whole
// text is split first, so that an unterminated string runs nothing.
func (s *Session) Script(ctx context.Context, text string, done func(token.Piece, *Result)) error {
	pieces, _, err := token.Split(text)
	if err != nil {
		return err
	}
	for i, piece := range pieces {
		result, err := s.Execute(ctx, piece)
		if err != nil {
			return &StatementError{Index: i, Statement: piece, Done: i, Total: len(pieces), Err: err}
		}
		if done != nil {
			done(piece, result)
		}
	}
	return nil
}

// Execute executes one statement. On an error nothing of it has been done.
func (s *Session) Execute(ctx context.Context, piece token.Piece) (*Result, error) {
	statement, err := s.parser.ParseStatement(piece, s.catalog.Variables)
	if err != nil {
		return nil, err
	}
	result, err := s.execute(ctx, statement, piece.Text)
	if err != nil {
		return nil, types.At(err, piece.Position)
	}
	return result, nil
}

func (s *Session) execute(ctx context.Context, statement ast.Statement, text string) (*Result, error) {
	switch n := statement.(type) {
	case *ast.CreateSource:
		if n.Query != nil {
			return s.createAs(ctx, n, text)
		}
		return s.declare(ctx, n, text)
	case *ast.InsertQuery:
		return s.insertQuery(ctx, n, text)
	case *ast.InsertValues:
		return s.insertValues(ctx, n)
	case *ast.Load:
		return s.load(ctx, n)
	case *ast.DeleteRows:
		return s.deleteRows(ctx, n)
	case *ast.CreateType:
		return s.createType(ctx, n)
	case *ast.CreateFunction:
		return s.createFunction(ctx, n, text)
	case *ast.AlterSource:
		return s.alter(ctx, n, text)
	case *ast.Drop:
		return s.drop(ctx, n)
	case *ast.Control:
		return s.control(ctx, n)
	case *ast.Assert:
		return s.assert(ctx, n)
	case *ast.QueryStatement:
		return s.query(ctx, n)
	}
	return s.look(ctx, statement)
}

// look executes the statements that change nothing but the session's settings.
func (s *Session) look(ctx context.Context, statement ast.Statement) (*Result, error) {
	switch n := statement.(type) {
	case *ast.Explain:
		return s.explain(ctx, n)
	case *ast.Show:
		return s.show(ctx, n)
	case *ast.Describe:
		return s.describe(ctx, n)
	case *ast.Print:
		return s.print(ctx, n)
	case *ast.SetProperty:
		return s.set(n)
	case *ast.UnsetProperty:
		return s.unset(n)
	case *ast.Define:
		s.catalog.Variables[strings.ToUpper(n.Name)] = n.Value
		return &Result{Message: fmt.Sprintf("Variable %s is defined.", n.Name)}, nil
	case *ast.Undefine:
		delete(s.catalog.Variables, strings.ToUpper(n.Name))
		return &Result{Message: fmt.Sprintf("Variable %s is gone.", n.Name)}, nil
	}
	return nil, refusal(statement)
}

// refusal names a statement that is recognised and not executed.
func refusal(statement ast.Statement) error {
	switch n := statement.(type) {
	case *ast.CreateConnector:
		return noConnectors(n.Position)
	case *ast.RunScript:
		return types.Errorf(types.CodeUnsupported, "RUN SCRIPT is not a statement of millrace").At(n.Position).
			WithHint("run the file with: millrace run FILE")
	}
	return types.Unsupported("this statement")
}

func noConnectors(at types.Position) error {
	return types.Errorf(types.CodeUnsupported, "connectors are not part of millrace").At(at).
		WithHint("run Kafka Connect beside it and read the connector's topics")
}
