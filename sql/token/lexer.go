package token

import (
	"strings"
	"unicode/utf8"
)

const byteOrderMark = "\ufeff"

// Lex returns the tokens of source; the last one is of kind End. After an error,
// which is a *types.Error, the tokens before the fault are returned with it.
func Lex(source *Source) ([]Token, error) {
	l := lexer{source: source, text: source.Text}
	if !utf8.ValidString(l.text) {
		return nil, source.Errorf(invalidOffset(l.text), "the text is not valid UTF-8")
	}
	if strings.HasPrefix(l.text, byteOrderMark) {
		l.offset = len(byteOrderMark)
	}
	tokens := make([]Token, 0, len(l.text)/5+4)
	for {
		t, err := l.next()
		if err != nil {
			return tokens, err
		}
		tokens = append(tokens, t)
		if t.Kind == End {
			return tokens, nil
		}
	}
}

type lexer struct {
	source *Source
	text   string
	offset int
}

// invalidOffset is the offset of the first byte that is not UTF-8.
func invalidOffset(text string) int {
	for offset, character := range text {
		if character != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[offset:]); size == 1 {
			return offset
		}
	}
	return len(text)
}

// byteAt is the byte at i, or 0 past the end.
func (l *lexer) byteAt(i int) byte {
	if i < len(l.text) {
		return l.text[i]
	}
	return 0
}

func (l *lexer) next() (Token, error) {
	if err := l.skipBlanks(); err != nil {
		return Token{}, err
	}
	start := l.offset
	if start >= len(l.text) {
		return Token{Kind: End, Offset: start, End: start}, nil
	}
	switch c := l.text[start]; {
	case isLetter(c):
		l.skipWord()
		return l.token(Word, start, strings.ToUpper(l.text[start:l.offset])), nil
	case isDigit(c) || c == '.' && isDigit(l.byteAt(start+1)):
		kind := l.number()
		return l.token(kind, start, strings.ToUpper(l.text[start:l.offset])), nil
	case c == '\'' || c == '"' || c == '`':
		return l.quoted(c)
	case c == '$' && l.byteAt(start+1) == '{':
		return l.variable()
	}
	length := operatorLength(l.text[start:])
	if length == 0 {
		return Token{}, l.unexpectedCharacter()
	}
	l.offset += length
	return l.token(Operator, start, l.text[start:l.offset]), nil
}

func (l *lexer) token(kind Kind, start int, value string) Token {
	return Token{Kind: kind, Value: value, Offset: start, End: l.offset}
}

func (l *lexer) unexpectedCharacter() error {
	character, _ := utf8.DecodeRuneInString(l.text[l.offset:])
	err := l.source.Errorf(l.offset, "unexpected character %q", character)
	if character >= utf8.RuneSelf {
		err = err.WithHint("a name with other letters than A to Z must be quoted with back quotes")
	}
	return err
}

// skipBlanks passes white space and comments. Block comments do not nest.
func (l *lexer) skipBlanks() error {
	for l.offset < len(l.text) {
		rest := l.text[l.offset:]
		switch {
		case strings.IndexByte(" \t\n\r", rest[0]) >= 0:
			l.offset++
		case strings.HasPrefix(rest, "--"):
			length := strings.IndexAny(rest, "\n\r")
			if length < 0 {
				length = len(rest)
			}
			l.offset += length
		case strings.HasPrefix(rest, "/*"):
			length := strings.Index(rest[2:], "*/")
			if length < 0 {
				err := l.source.Errorf(l.offset, "unterminated comment")
				err.Incomplete = true
				return err
			}
			l.offset += length + len("/**/")
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) skipDigits() {
	for isDigit(l.byteAt(l.offset)) {
		l.offset++
	}
}

func (l *lexer) skipWord() {
	for isWordByte(l.byteAt(l.offset)) {
		l.offset++
	}
}

// number passes digits[.digits][e[+-]digits]. Letters that follow a whole number,
// or an exponent without point and sign, make it a word as in 1a and 1e5x.
func (l *lexer) number() Kind {
	start, kind := l.offset, Integer
	l.skipDigits()
	if l.byteAt(l.offset) == '.' {
		kind = Decimal
		l.offset++
		l.skipDigits()
	}
	if l.exponent() {
		kind = Float
	}
	plain := kind == Integer || kind == Float && !strings.ContainsAny(l.text[start:l.offset], ".+-")
	if plain && isWordByte(l.byteAt(l.offset)) {
		l.skipWord()
		return Word
	}
	return kind
}

func (l *lexer) exponent() bool {
	if c := l.byteAt(l.offset); c != 'e' && c != 'E' {
		return false
	}
	digits := l.offset + 1
	if c := l.byteAt(digits); c == '+' || c == '-' {
		digits++
	}
	if !isDigit(l.byteAt(digits)) {
		return false
	}
	l.offset = digits
	l.skipDigits()
	return true
}

// quoted reads a text in quotes, in which only the doubled quote is special.
func (l *lexer) quoted(quote byte) (Token, error) {
	start := l.offset
	kind, what := Quoted, "quoted name"
	if quote == '\'' {
		kind, what = String, "string"
	}
	doubled := false
	for i := start + 1; ; i++ {
		length := strings.IndexByte(l.text[i:], quote)
		if length < 0 {
			err := l.source.Errorf(start, "unterminated %s", what)
			err.Incomplete = true
			return Token{}, err
		}
		i += length
		if l.byteAt(i+1) == quote {
			doubled = true
			i++
			continue
		}
		l.offset = i + 1
		value := l.text[start+1 : i]
		if doubled {
			one := string(quote)
			value = strings.ReplaceAll(value, one+one, one)
		}
		if kind == Quoted && value == "" {
			return Token{}, l.source.Errorf(start, "a quoted name cannot be empty")
		}
		return l.token(kind, start, value), nil
	}
}

func (l *lexer) variable() (Token, error) {
	start := l.offset
	l.offset += len("${")
	l.skipWord()
	name := l.text[start+len("${") : l.offset]
	if name == "" || l.byteAt(l.offset) != '}' {
		return Token{}, l.source.Errorf(start, "malformed variable reference").WithHint("write ${name}")
	}
	l.offset++
	return l.token(Variable, start, name), nil
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '@' }

var longOperators = [...]string{"<>", "<=", ">=", "=>", "->", "!=", ":=", "||"}

// operatorLength is the length of the operator that text starts with, or 0.
func operatorLength(text string) int {
	for _, operator := range longOperators {
		if strings.HasPrefix(text, operator) {
			return len(operator)
		}
	}
	if strings.IndexByte("<>=+-*/%(),.;[]", text[0]) >= 0 {
		return 1
	}
	return 0
}
