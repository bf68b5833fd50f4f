package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"millrace/exec/session"
	"millrace/sql/types"
)

// writeFailure tells why a script ended: with its file, the place there, what
// to do, and what was done before.
func writeFailure(w io.Writer, file string, err error) {
	var statement *session.StatementError
	failed := errors.As(err, &statement)
	var user *types.Error
	switch {
	case failed && errors.Is(err, context.Canceled):
		fmt.Fprintf(w, "error: %s:%d: interrupted\n", file, statement.Statement.Position.Line)
	case errors.As(err, &user) && user.Position.Known():
		text := user.Message
		if user.Hint != "" {
			text += "; " + user.Hint
		}
		fmt.Fprintf(w, "error: %s:%d:%d: %s\n", file, user.Position.Line, user.Position.Column, text)
	case failed:
		at := statement.Statement.Position
		fmt.Fprintf(w, "error: %s:%d:%d: %v\n", file, at.Line, at.Column, err)
	default:
		fmt.Fprintf(w, "error: %s: %v\n", file, err)
	}
	if !failed {
		fmt.Fprintln(w, "No statement was executed.")
		return
	}
	fmt.Fprintf(w, "%d of %d statements were executed; nothing from line %d on was.\n",
		statement.Done, statement.Total, statement.Statement.Position.Line)
}
