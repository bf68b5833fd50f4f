// Package parser turns SQL text into statements. A recursive-descent recogniser
// reads a statement's tokens; each query in it is lowered to a small vocabulary
// that TiDB's grammar accepts, parsed by TiDB, and raised again, so that the tree
// holds the dialect's own forms. All errors are *types.Error with a position.
package parser

import (
	"millrace/sql/ast"
	"millrace/sql/token"
	"millrace/sql/types"
)

const (
	// maxDepth bounds the nesting of brackets, queries, CASE, types and chains of
	// postfix or prefix operators, and so the stack.
	maxDepth = 400
	// maxChain bounds the operators side by side, as in a + b + c: they are a
	// tree as deep as the chain is long.
	maxChain = 10000
	// maxStatementLength bounds the bytes of one statement.
	maxStatementLength = 1 << 20
)

// Parser parses statements. It keeps buffers between statements and is not safe
// for concurrent use; the statements that it returns are.
type Parser struct {
	grammar tidbGrammar
	scratch []fragment
}

// New returns a parser.
func New() *Parser { return &Parser{} }

// ParseStatement parses one statement. References ${name} to variables are
// replaced, names compared without regard to case: outside strings the value must
// be one literal or one name, inside strings an unknown name stays as it is and
// $${name} stands for ${name}. With nil variables nothing is replaced inside
// strings. Positions are those in the script that the piece was cut from.
func (p *Parser) ParseStatement(piece token.Piece, variables map[string]string) (ast.Statement, error) {
	if len(piece.Text) > maxStatementLength {
		return nil, types.Errorf(types.CodeSyntax, "the statement is %d bytes long, the limit is %d",
			len(piece.Text), maxStatementLength).At(piece.Position)
	}
	tokens, written, err := substitute(piece, variables)
	if err != nil {
		return nil, err
	}
	r := recogniser{
		cursor: cursor{source: piece.Source, tokens: tokens, written: written, terminated: piece.Terminated},
		parser: p,
	}
	statement := r.statement()
	if r.current().Kind != token.End {
		r.unexpected(endOfStatement)
	}
	if r.err != nil {
		return nil, r.err
	}
	return statement, nil
}

// recogniser reads one statement. After the first error it stands at the end of
// the tokens, so that every loop in it ends; what it returns is then void.
type recogniser struct {
	cursor
	parser *Parser
	low    *lowering // of the query that is being read
	depth  int
}

// enter counts a level of nesting. Each call is followed by leave.
func (r *recogniser) enter() {
	if r.depth++; r.depth > maxDepth {
		r.fail(r.current().Offset, "nested too deeply: more than %d levels", maxDepth)
	}
}

func (r *recogniser) leave() { r.depth-- }

// link counts one more operator of a chain.
func (r *recogniser) link(length *int) {
	if *length++; *length > maxChain {
		r.fail(r.current().Offset, "more than %d operators in a row", maxChain)
	}
}
