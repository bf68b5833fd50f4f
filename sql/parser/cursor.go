package parser

import (
	"millrace/sql/token"
	"millrace/sql/types"
)

// cursor walks the tokens of a statement and remembers what was looked for at the
// farthest token, which is what an error says was expected there.
type cursor struct {
	source     *token.Source
	tokens     []token.Token  // the last one is of kind End
	written    map[int]string // bare words that variables brought, by offset
	index      int
	terminated bool // a semicolon ended the statement
	expected   []string
	expectedAt int // index of the token that expected belongs to
	err        *types.Error
}

func (c *cursor) current() token.Token { return c.tokens[c.index] }

// peek is the token n places ahead, or the end.
func (c *cursor) peek(n int) token.Token {
	return c.tokens[min(c.index+n, len(c.tokens)-1)]
}

// next returns the current token and steps over it, unless it is the end.
func (c *cursor) next() token.Token {
	t := c.tokens[c.index]
	c.skip(1)
	return t
}

func (c *cursor) skip(n int) { c.index = min(c.index+n, len(c.tokens)-1) }

// tried notes that expectation was looked for n places ahead.
func (c *cursor) tried(n int, expectation string) {
	index := min(c.index+n, len(c.tokens)-1)
	if index > c.expectedAt {
		c.expected, c.expectedAt = c.expected[:0], index
	}
	if index == c.expectedAt {
		c.expected = append(c.expected, expectation)
	}
}

// at tells whether the coming tokens are these words or operators.
func (c *cursor) at(words ...string) bool {
	for i, word := range words {
		if !c.peek(i).Is(word) {
			c.tried(i, word)
			return false
		}
	}
	return true
}

// ahead is at for words that an error need not name as expected.
func (c *cursor) ahead(words ...string) bool {
	for i, word := range words {
		if !c.peek(i).Is(word) {
			return false
		}
	}
	return true
}

// accept steps over the words if all of them come next.
func (c *cursor) accept(words ...string) bool {
	if !c.at(words...) {
		return false
	}
	c.skip(len(words))
	return true
}

// acceptAny steps over one of the words and returns it, or "".
func (c *cursor) acceptAny(words ...string) string {
	for _, word := range words {
		if c.accept(word) {
			return word
		}
	}
	return ""
}

// expect steps over the words or fails at the first that does not come.
func (c *cursor) expect(words ...string) {
	for _, word := range words {
		if !c.accept(word) {
			c.unexpected()
		}
	}
}

// expectAny steps over one of the words and returns it.
func (c *cursor) expectAny(words ...string) string {
	word := c.acceptAny(words...)
	if word == "" {
		c.unexpected()
	}
	return word
}

// name reads a bare or quoted name; what describes it for an error.
func (c *cursor) name(what string) string {
	if !isName(c.current()) {
		c.unexpected(what)
		return ""
	}
	return c.next().Value
}

// text reads a string literal.
func (c *cursor) text(what string) string {
	if c.current().Kind != token.String {
		c.unexpected(what)
		return ""
	}
	return c.next().Value
}

// wholeNumber reads an integer literal without a sign.
func (c *cursor) wholeNumber() string {
	if c.current().Kind != token.Integer {
		c.unexpected("a whole number")
		return ""
	}
	return c.next().Value
}

// position is the place of the current token.
func (c *cursor) position() types.Position { return c.source.Position(c.current().Offset) }

// asWritten is the text of the current token in the user's case.
func (c *cursor) asWritten() string {
	t := c.current()
	if text, found := c.written[t.Offset]; found {
		return text
	}
	return c.source.Text[t.Offset:t.End]
}
