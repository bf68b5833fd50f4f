package parser

import (
	"regexp"
	"strconv"
	"strings"

	"millrace/sql/ast"
	"millrace/sql/token"
	"millrace/sql/types"

	tidbparser "github.com/pingcap/tidb/pkg/parser"
	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

// What an error says when TiDB refuses what the recogniser let through. TiDB's own
// messages speak of the lowered text, so users never see them.
const (
	cannotStand = "this cannot stand here"
	notOneQuery = "this is not one query"
	notAQuery   = "this is not a query"
	cannotTell  = "the query's clauses cannot be told apart"
)

// tidbGrammar parses lowered queries. It is not safe for concurrent use.
type tidbGrammar struct{ parser *tidbparser.Parser }

func (g *tidbGrammar) parse(text string) ([]tidb.StmtNode, error) {
	if g.parser == nil {
		g.parser = tidbparser.New()
		g.parser.SetSQLMode(mysql.ModeNoBackslashEscapes)
	}
	statements, _, err := g.parser.ParseSQL(text)
	return statements, err
}

// raise has TiDB parse a lowered query and returns its tree in the dialect's forms.
func (g *tidbGrammar) raise(low *lowering, source *token.Source) (*ast.Query, *types.Error) {
	lowered := low.text()
	statements, err := g.parse(lowered.text)
	if err != nil {
		return nil, source.Errorf(lowered.userOffset(errorOffset(lowered.text, err)), cannotStand)
	}
	start := int(lowered.offsets[0])
	if len(statements) != 1 {
		return nil, source.Errorf(start, notOneQuery)
	}
	node, ok := statements[0].(tidb.ResultSetNode)
	if !ok {
		return nil, source.Errorf(start, notAQuery)
	}
	query := &ast.Query{
		Node:   node,
		Blocks: make(map[*tidb.SelectStmt]*ast.Block, len(low.blocks)),
		Joins:  make(map[*tidb.Join]*ast.Join, len(low.joins)),
		Tables: make(map[*tidb.TableName]types.Position, len(low.tables)),
		Emit:   low.emit,
		Limit:  low.limit,
	}
	raiser := newRaiser(query, low, &lowered)
	statements[0].Accept(raiser)
	if !raiser.complete() {
		return nil, source.Errorf(start, cannotTell)
	}
	lowered.text = ""
	query.Locate = func(offset int) types.Position { return source.Position(lowered.userOffset(offset)) }
	return query, nil
}

var errorPlace = regexp.MustCompile(`line (\d+) column (\d+) near "`)

// errorOffset is the place in the lowered text that a message of TiDB's names. Its
// reader then stands at the end of the token that it could not use. Columns count
// from 0 on the first line and from 1 on the others.
func errorOffset(text string, err error) int {
	place := errorPlace.FindStringSubmatch(err.Error())
	if place == nil {
		return 0
	}
	line, _ := strconv.Atoi(place[1])
	column, _ := strconv.Atoi(place[2])
	offset := 0
	for range line - 1 {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	if line > 1 {
		column--
	}
	return max(offset+column-1, 0)
}
