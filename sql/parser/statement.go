package parser

import (
	"millrace/sql/ast"
	"millrace/sql/token"
)

// statementWords are the words that a statement can start with.
var statementWords = []string{
	"SELECT", "WITH", "CREATE", "INSERT", "LOAD", "DELETE", "DROP", "ALTER", "ASSERT", "EXPLAIN", "SHOW", "LIST",
	"DESCRIBE", "PRINT", "TERMINATE", "PAUSE", "RESUME", "SET", "UNSET", "DEFINE", "UNDEFINE", "RUN",
}

func (r *recogniser) statement() ast.Statement {
	t := r.current()
	if t.Is("(") {
		return &ast.QueryStatement{Query: r.query()}
	}
	if t.Kind != token.Word {
		r.unexpected("a statement")
		return nil
	}
	switch t.Value {
	case "SELECT", "WITH":
		return &ast.QueryStatement{Query: r.query()}
	case "CREATE":
		return r.create()
	case "INSERT":
		return r.insert()
	case "LOAD":
		return r.load()
	case "DELETE":
		return r.deleteRows()
	case "DROP":
		return r.drop()
	case "ALTER":
		return r.alter()
	case "ASSERT":
		return r.assert()
	case "EXPLAIN":
		return r.explain()
	}
	return r.command(t)
}

// command reads the statements that only look at or steer what is there.
func (r *recogniser) command(t token.Token) ast.Statement {
	switch t.Value {
	case "SHOW", "LIST":
		return r.show()
	case "DESCRIBE":
		return r.describeObject()
	case "PRINT":
		return r.print()
	case "TERMINATE", "PAUSE", "RESUME":
		return r.control()
	case "SET":
		return r.set()
	case "UNSET":
		return r.unset()
	case "DEFINE":
		return r.define()
	case "UNDEFINE":
		return r.undefine()
	case "RUN":
		return r.runScript()
	}
	err := r.source.Errorf(t.Offset, "unexpected %s, expected a statement", r.describe(t))
	if word := nearest(t.Value, statementWords); word != "" {
		err = err.WithHint("did you mean %s?", word)
	}
	r.failWith(err)
	return nil
}
