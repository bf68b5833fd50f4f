package parser

import (
	"strings"

	"millrace/sql/token"
	"millrace/sql/types"
)

// substitute returns the piece's tokens with references to variables replaced.
// Replacements stand at the place of their reference; written holds those that are
// bare words in the user's case, by that place.
func substitute(piece token.Piece, variables map[string]string) (
	tokens []token.Token, written map[int]string, err error,
) {
	if !refersToVariables(piece.Tokens) {
		return piece.Tokens, nil, nil
	}
	written = map[int]string{}
	values := make(map[string]string, len(variables))
	for name, value := range variables {
		values[strings.ToUpper(name)] = value
	}
	tokens = make([]token.Token, 0, len(piece.Tokens)+4)
	for _, t := range piece.Tokens {
		switch t.Kind {
		case token.Variable:
			replacement, err := variableTokens(piece.Source, t, values)
			if err != nil {
				return nil, nil, err
			}
			if replacement[0].Kind == token.Word {
				value := values[strings.ToUpper(t.Value)]
				written[t.Offset] = value[replacement[0].Offset:replacement[0].End]
			}
			for i := range replacement {
				replacement[i].Offset, replacement[i].End = t.Offset, t.End
			}
			tokens = append(tokens, replacement...)
			continue
		case token.String:
			if variables != nil {
				t.Value = substituteText(t.Value, values)
			}
		}
		tokens = append(tokens, t)
	}
	return tokens, written, nil
}

func refersToVariables(tokens []token.Token) bool {
	for _, t := range tokens {
		if t.Kind == token.Variable || t.Kind == token.String && strings.Contains(t.Value, "${") {
			return true
		}
	}
	return false
}

// variableTokens is what stands for the reference t: one literal, with or without
// a minus, or one name, so that a value cannot bring SQL into the statement. Its
// offsets are those in the value.
func variableTokens(source *token.Source, t token.Token, values map[string]string) ([]token.Token, error) {
	value, found := values[strings.ToUpper(t.Value)]
	if !found {
		return nil, types.Errorf(types.CodeName, "variable %s is not defined", t.Value).
			At(source.Position(t.Offset)).WithHint("define it with DEFINE %s = 'value'", t.Value)
	}
	tokens, err := token.Lex(token.NewSource(value))
	if err == nil {
		tokens = tokens[:len(tokens)-1]
	}
	if err != nil || !singleValue(tokens) {
		return nil, types.Errorf(types.CodeValue, "the value of variable %s is neither a literal nor a name", t.Value).
			At(source.Position(t.Offset))
	}
	return tokens, nil
}

func singleValue(tokens []token.Token) bool {
	if len(tokens) == 2 && tokens[0].Is("-") {
		return tokens[1].Number()
	}
	return len(tokens) == 1 && tokens[0].Kind != token.Operator && tokens[0].Kind != token.Variable
}

// substituteText replaces the references inside a string.
func substituteText(text string, values map[string]string) string {
	var b strings.Builder
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			break
		}
		length := strings.IndexByte(text[start:], '}')
		if length < 0 {
			break
		}
		end := start + length + 1
		value, found := values[strings.ToUpper(text[start+len("${"):end-1])]
		switch {
		case start > 0 && text[start-1] == '$':
			b.WriteString(text[:start-1])
			b.WriteString(text[start:end])
		case found:
			b.WriteString(text[:start])
			b.WriteString(value)
		default:
			b.WriteString(text[:end])
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}
