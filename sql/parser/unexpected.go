package parser

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"millrace/sql/token"
	"millrace/sql/types"
)

// The descriptions of what can be expected beside words and operators.
const (
	endOfStatement = "the end of the statement"
	anExpression   = "an expression"
	anOperator     = "an operator"
	aTypeName      = "a type name"
)

// fail records the first error and moves to the end of the tokens.
func (c *cursor) fail(offset int, format string, args ...any) {
	c.failWith(c.source.Errorf(offset, format, args...))
}

func (c *cursor) failWith(err *types.Error) {
	if c.err == nil {
		c.err = err
	}
	c.index = len(c.tokens) - 1
}

// unexpected fails at the farthest token at which something was looked for.
// Descriptions are further things that could have stood at the current token.
func (c *cursor) unexpected(descriptions ...string) {
	if c.err != nil {
		return
	}
	for _, description := range descriptions {
		c.tried(0, description)
	}
	c.index = max(c.index, c.expectedAt)
	t := c.current()
	err := c.source.Errorf(t.Offset, "unexpected %s, expected %s", c.describe(t), alternatives(c.expected))
	err.Incomplete = t.Kind == token.End && !c.terminated
	if hint := c.hint(t); hint != "" {
		err = err.WithHint("%s", hint)
	}
	c.failWith(err)
}

// unclosed is unexpected with a hint at what is still open.
func (c *cursor) unclosed(what string, offset int, descriptions ...string) {
	if c.err != nil {
		return
	}
	c.unexpected(descriptions...)
	position := c.source.Position(offset)
	note := fmt.Sprintf("the %s at line %d:%d is not closed", what, position.Line, position.Column)
	if c.err.Hint != "" {
		note = c.err.Hint + "; " + note
	}
	c.err = c.err.WithHint("%s", note)
}

// maxShown is the most characters of a token that a message repeats.
const maxShown = 40

func (c *cursor) describe(t token.Token) string {
	if t.Kind == token.End {
		return "end of the statement"
	}
	written := []rune(c.source.Text[t.Offset:min(t.End, t.Offset+utf8.UTFMax*(maxShown+1))])
	if len(written) > maxShown {
		return "'" + string(written[:maxShown]) + "..'"
	}
	return "'" + string(written) + "'"
}

// alternatives lists expectations once each, as "a, b or c".
func alternatives(expected []string) string {
	var shown []string
	for _, e := range expected {
		if !isKeyword(e) && !strings.Contains(e, " ") {
			e = "'" + e + "'"
		}
		if !slices.Contains(shown, e) {
			shown = append(shown, e)
		}
	}
	if i := slices.Index(shown, endOfStatement); i >= 0 {
		shown = append(slices.Delete(shown, i, i+1), endOfStatement)
	}
	last := len(shown) - 1
	if last == 0 {
		return shown[0]
	}
	return strings.Join(shown[:last], ", ") + " or " + shown[last]
}

// isKeyword tells whether an expectation is a word of the language.
func isKeyword(expectation string) bool {
	return expectation[0] >= 'A' && expectation[0] <= 'Z'
}

// hint tells how to quote a word that is no name, which word was meant, or that a
// statement is not ended.
func (c *cursor) hint(t token.Token) string {
	switch {
	case t.Kind == token.Word && reserved[t.Value]:
		if c.quotingHelps(t.Value) {
			return fmt.Sprintf("%s is a reserved word; quote it as `%s` to use it as a name", t.Value, t.Value)
		}
		if slices.Contains(statementWords, t.Value) && slices.Contains(c.expected, endOfStatement) {
			return "end the statement before it with ';'"
		}
	case t.Kind == token.Word:
		if word := nearest(t.Value, c.expected); word != "" {
			return fmt.Sprintf("did you mean %s?", word)
		}
	}
	return c.hintBefore()
}

// hintBefore tells whether the word before the current token, which was taken for an
// alias, is a misspelt keyword.
func (c *cursor) hintBefore() string {
	if c.index == 0 {
		return ""
	}
	before := c.tokens[c.index-1]
	if before.Kind != token.Word || !isName(before) {
		return ""
	}
	if word := nearest(before.Value, c.expected); word != "" {
		return fmt.Sprintf("did you mean %s instead of %s?", word, before.Value)
	}
	return ""
}

// quotingHelps tells whether the reserved word could have been meant as a name. In
// expressions and types, the words of clauses and operators hardly are.
func (c *cursor) quotingHelps(word string) bool {
	for _, e := range c.expected {
		switch {
		case e == anExpression || e == aTypeName:
			if !structural[word] {
				return true
			}
		case strings.HasSuffix(e, "name"):
			return true
		}
	}
	return false
}

// nearest is the keyword of expected that word is a misspelling of, or "". Short
// words are near to too many.
func nearest(word string, expected []string) string {
	if len(word) < 3 {
		return ""
	}
	return types.Nearest(word, slices.DeleteFunc(slices.Clone(expected), func(e string) bool { return !isKeyword(e) || len(e) < 3 }))
}
