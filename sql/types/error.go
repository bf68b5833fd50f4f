package types

import "fmt"

// Position is a place in a statement's text. Line and Column count from 1,
// Column in characters; Offset counts bytes from 0. The zero Position means
// that no place is known.
type Position struct {
	Offset, Line, Column int
}

// Known tells whether p names a place.
func (p Position) Known() bool { return p.Line > 0 }

// Code sorts SQL errors by what the user has to mend.
type Code string

// The codes of SQL errors.
const (
	CodeSyntax      Code = "syntax"      // the text is no statement of the dialect
	CodeName        Code = "name"        // an unknown, ambiguous or reserved name
	CodeType        Code = "type"        // operands or arguments of a wrong type
	CodeKey         Code = "key"         // keys missing, doubled or of a wrong form
	CodeProperty    Code = "property"    // a WITH or session property
	CodeStatement   Code = "statement"   // a statement that cannot apply to what exists
	CodeValue       Code = "value"       // a literal or a run-time value
	CodeUnsupported Code = "unsupported" // recognised, not executed
)

// Error is a fault in what a user wrote: one sentence that says what is wrong,
// where, and in Hint what to do. Its text starts with the position when one is
// known.
type Error struct {
	Code     Code
	Position Position
	Message  string // no position, no final period
	Hint     string // empty, or a sentence fragment such as "did you mean AMOUNT?"
	// Incomplete says that more input could complete the text; a shell then
	// asks for a continuation line.
	Incomplete bool
}

func (e *Error) Error() string {
	text := e.Message
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	if e.Position.Known() {
		return fmt.Sprintf("line %d:%d: %s", e.Position.Line, e.Position.Column, text)
	}
	return text
}

// Errorf makes an Error without a position.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// At returns e with the position p, unless e already has one.
func (e *Error) At(p Position) *Error {
	if !e.Position.Known() {
		e.Position = p
	}
	return e
}

// At gives an *Error a position, unless it already has one, and returns any
// other error as it is. The layers below return an *Error bare: one that is
// wrapped is part of another message and stays without.
func At(err error, p Position) error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // bare only, see above
		return e.At(p)
	}
	return err
}

// WithHint returns e with a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Unsupported is the refusal of a construct that the parser recognises and
// this version does not execute.
func Unsupported(what string) *Error {
	return Errorf(CodeUnsupported, "%s is not supported yet", what)
}
