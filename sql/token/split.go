package token

import "millrace/sql/types"

// Piece is the text of one statement of a script. Its tokens keep their places
// in the whole script.
type Piece struct {
	// Text is the statement as it was written, from its first token to its last,
	// without the semicolon.
	Text     string
	Position types.Position // of the first token
	// Terminated tells whether a semicolon ended the statement.
	Terminated bool
	Source     *Source // the whole script
	Tokens     []Token // the last one is of kind End
}

// Split cuts a script at its semicolons, which count at any depth of brackets but
// not inside strings, quoted names and comments. Empty statements are left out.
// A last statement without a semicolon is returned too, and terminated is then
// false. An error, which is a *types.Error, comes with the statements before it.
func Split(text string) (pieces []Piece, terminated bool, err error) {
	source := NewSource(text)
	tokens, err := Lex(source)
	start := 0
	for i, t := range tokens {
		if t.Kind != End && !t.Is(";") {
			continue
		}
		terminated = t.Kind != End || i == start
		if i > start {
			pieces = append(pieces, newPiece(source, tokens[start:i:i], t))
		}
		start = i + 1
	}
	if err != nil {
		return pieces, false, err
	}
	return pieces, terminated, nil
}

func newPiece(source *Source, tokens []Token, end Token) Piece {
	first, last := tokens[0], tokens[len(tokens)-1]
	return Piece{
		Text:       source.Text[first.Offset:last.End],
		Position:   source.Position(first.Offset),
		Terminated: end.Kind != End,
		Source:     source,
		Tokens:     append(tokens, Token{Kind: End, Offset: end.Offset, End: end.Offset}),
	}
}
