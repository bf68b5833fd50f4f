// Package token turns SQL text into tokens with their places, and cuts scripts
// into statements.
package token

// Kind is the lexical class of a token.
type Kind uint8

// The kinds of tokens.
const (
	End      Kind = iota // the end of the statement or of the text
	Word                 // bare keyword or name; Value is its upper-case form
	Quoted               // `x` or "x", always a name; Value is the unquoted text
	String               // 'x'; Value is the unquoted text
	Integer              // 12
	Decimal              // 1.5, .5 or 1.
	Float                // 1e3
	Variable             // ${name}; Value is the name
	Operator             // operators and punctuation; Value is the text
)

// Token is one lexical element. Offset and End are byte offsets into the whole
// source, End exclusive.
type Token struct {
	Kind        Kind
	Value       string
	Offset, End int
}

// Is tells whether t is the operator or the bare word value (in upper case).
func (t Token) Is(value string) bool {
	return (t.Kind == Operator || t.Kind == Word) && t.Value == value
}

// Number tells whether t is a numeric literal.
func (t Token) Number() bool {
	return t.Kind == Integer || t.Kind == Decimal || t.Kind == Float
}
