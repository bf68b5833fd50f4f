package parser

import (
	"millrace/sql/ast"
	"millrace/sql/token"
)

// parseScript parses all statements of a script with the same variables. An
// error comes with the statements before the faulty one.
func (p *Parser) parseScript(text string, variables map[string]string) ([]ast.Statement, error) {
	pieces, _, splitErr := token.Split(text)
	statements := make([]ast.Statement, 0, len(pieces))
	for _, piece := range pieces {
		statement, err := p.ParseStatement(piece, variables)
		if err != nil {
			return statements, err
		}
		statements = append(statements, statement)
	}
	return statements, splitErr
}
