package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"millrace/kafkaio/registry"
	"millrace/sql/ast"
	"millrace/sql/token"
	"millrace/sql/types"
)

// Check plans all statements of a script and gives every error in it, in the
// order of the text, each with a position. It reads and writes nothing but
// whether files of LOAD exist, and schemas from the registry if there is one: topics
// are taken to exist, with as many partitions as a statement wants. Of the options,
// Service, Directory, Registry and CheckProperty count.
//
// A statement that fails leaves doubt about what it was to declare. Later
// errors of statements that name it may follow from the first, and are left out.
func Check(text string, options Options, properties map[string]string) []*types.Error {
	options.Log, options.Engine = nil, nil
	options.Registry = registry.NewOverlay(askOnce(options.Registry))
	options.Now = func() int64 { return 0 }
	c := &checker{session: New(options), doubtful: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		c.session.SetProperty(name, properties[name])
	}
	pieces, _, err := token.Split(text)
	for _, piece := range pieces {
		c.statement(piece)
	}
	if err != nil {
		c.report(err, types.Position{Line: 1, Column: 1})
	}
	return c.found
}

// checker is one check of a script.
type checker struct {
	session  *Session
	found    []*types.Error
	doubtful map[string]string // what names stand for: SOURCE, TYPE or FUNCTION
	// queries says that a statement which starts a query has failed: numbers in
	// the ids of later ones are not what they will be.
	queries bool
	// unavailable says that the registry was: nothing that needs it can be checked.
	unavailable bool
}

func (c *checker) statement(piece token.Piece) {
	statement, err := c.session.parser.ParseStatement(piece, c.session.catalog.Variables)
	if err == nil {
		_, err = c.session.execute(context.Background(), statement, piece.Text)
	}
	name, what := declared(piece.Tokens)
	if err == nil {
		delete(c.doubtful, name)
		return
	}
	if !c.follows(err, statement, piece) {
		c.report(err, piece.Position)
	}
	if name != "" {
		c.doubtful[name] = what
	}
	switch n := statement.(type) {
	case *ast.CreateSource:
		c.queries = c.queries || n.Query != nil
	case *ast.InsertQuery, nil:
		c.queries = true
	}
}

// follows tells whether an error may come from an earlier one.
func (c *checker) follows(err error, statement ast.Statement, piece token.Piece) bool {
	if errors.Is(err, registry.ErrUnavailable) {
		again := c.unavailable
		c.unavailable = true
		return again
	}
	var fault *types.Error
	if !errors.As(err, &fault) {
		return false
	}
	switch fault.Code {
	case types.CodeSyntax, types.CodeProperty, types.CodeUnsupported:
		return false
	}
	switch n := statement.(type) {
	case *ast.Control:
		return c.queries
	case *ast.Explain:
		if n.Statement == nil {
			return c.queries
		}
	}
	for i, t := range piece.Tokens {
		if t.Kind != token.Word && t.Kind != token.Quoted {
			continue
		}
		switch c.doubtful[t.Value] {
		case "TYPE", "FUNCTION":
			return true
		case "SOURCE":
			if namesSource(piece.Tokens, i) {
				return true
			}
		}
	}
	return false
}

// namesSource tells whether the name at i stands where a source is named, and
// not a column.
func namesSource(tokens []token.Token, i int) bool {
	if i+1 < len(tokens) && tokens[i+1].Is(".") {
		return true
	}
	return i > 0 && slices.ContainsFunc(
		[]string{"FROM", "JOIN", "INTO", "STREAM", "TABLE", "DESCRIBE", "EXISTS", "EXTENDED"}, tokens[i-1].Is)
}

func (c *checker) report(err error, at types.Position) {
	var fault *types.Error
	if !errors.As(err, &fault) {
		fault = types.Errorf(types.CodeStatement, "%v", err)
	}
	c.found = append(c.found, fault.At(at))
}

// declared is the name that a statement creates, alters or drops, and what it is
// the name of, read from its words, so that it is found in a statement with an
// error too; empty: none.
func declared(tokens []token.Token) (name, what string) {
	if !slices.ContainsFunc([]string{"CREATE", "ALTER", "DROP"}, tokens[0].Is) {
		return "", ""
	}
	for i, t := range tokens {
		if !slices.ContainsFunc([]string{"STREAM", "TABLE", "TYPE", "FUNCTION"}, t.Is) {
			continue
		}
		rest := tokens[i+1:]
		for len(rest) > 0 && slices.ContainsFunc([]string{"IF", "NOT", "EXISTS"}, rest[0].Is) {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Kind != token.Word && rest[0].Kind != token.Quoted {
			return "", ""
		}
		switch {
		case t.Is("FUNCTION"):
			return strings.ToUpper(rest[0].Value), "FUNCTION"
		case t.Is("TYPE"):
			return rest[0].Value, "TYPE"
		}
		return rest[0].Value, "SOURCE"
	}
	return "", ""
}
