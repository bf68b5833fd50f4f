package token

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"millrace/sql/types"

	"pgregory.net/rapid"
)

func TestLex(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"select Foo _x a@b", "word:SELECT word:FOO word:_X word:A@B"},
		{"`a``b` \"C \"\"d\"\"\"", "quoted:a`b quoted:C \"d\""},
		{"'it''s' '' '--x' '/*' ';'", "string:it's string: string:--x string:/* string:;"},
		{"1 007 1.5 .5 2. 1..2", "int:1 int:007 dec:1.5 dec:.5 dec:2. dec:1. dec:.2"},
		{"1e3 1E+3 1.5e-3 1.e2 1e", "float:1E3 float:1E+3 float:1.5E-3 float:1.E2 word:1E"},
		{"1a 2e5x 3@ 1.5x 1e+5x", "word:1A word:2E5X word:3@ dec:1.5 word:X float:1E+5 word:X"},
		{"a.b a.1 a-1 a--1", "word:A op:. word:B word:A dec:.1 word:A op:- int:1 word:A"},
		{"<><=>=>!=:=||->=>-", "op:<> op:<= op:>= op:> op:!= op::= op:|| op:-> op:=> op:-"},
		{"(a[1]);%*/+,", "op:( word:A op:[ int:1 op:] op:) op:; op:% op:* op:/ op:+ op:,"},
		{"a -- b\nc --d\re--", "word:A word:C word:E"},
		{"a /* b /* c */ d */", "word:A word:D op:* op:/"},
		{"${x} ${A_1}", "var:x var:A_1"},
		{"\ufeffa\t\r\nb", "word:A word:B"},
		{"a ~", "word:A error line 1:3: unexpected character '~'"},
		{"a !", "word:A error line 1:3: unexpected character '!'"},
		{"a\n é", "word:A error line 2:2: unexpected character 'é'; a name with other letters than A to Z must be quoted " +
			"with back quotes"},
		{"a\xffb", "error line 1:2: the text is not valid UTF-8"},
		{"'\ufffd", "error line 1:1: unterminated string [incomplete]"},
		{"a 'b''", "word:A error line 1:3: unterminated string [incomplete]"},
		{"`b", "error line 1:1: unterminated quoted name [incomplete]"},
		{"\"\"", "error line 1:1: a quoted name cannot be empty"},
		{"/* a *", "error line 1:1: unterminated comment [incomplete]"},
		{"/*/", "error line 1:1: unterminated comment [incomplete]"},
		{"${}", "error line 1:1: malformed variable reference; write ${name}"},
		{"${a", "error line 1:1: malformed variable reference; write ${name}"},
		{"$a", "error line 1:1: unexpected character '$'"},
	} {
		if got := lexed(c.text); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

var kindNames = [...]string{
	Word: "word", Quoted: "quoted", String: "string", Integer: "int", Decimal: "dec",
	Float: "float", Variable: "var", Operator: "op",
}

func lexed(text string) string {
	tokens, err := Lex(NewSource(text))
	var parts []string
	for _, t := range tokens {
		if t.Kind != End {
			parts = append(parts, kindNames[t.Kind]+":"+t.Value)
		}
	}
	if fault, ok := errors.AsType[*types.Error](err); ok {
		parts = append(parts, "error "+fault.Error())
		if fault.Incomplete {
			parts = append(parts, "[incomplete]")
		}
	}
	return strings.Join(parts, " ")
}

// TestPositionsCountCharacters compares positions with those found by walking.
func TestPositionsCountCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "🙂", "\n", "\r\n", strings.Repeat("x", 1023), strings.Repeat("é", 700)})).
			Draw(t, "pieces")
		text := strings.Join(pieces, "")
		source := NewSource(text)
		line, column := 1, 1
		for offset, character := range text {
			want := types.Position{Offset: offset, Line: line, Column: column}
			if got := source.Position(offset); got != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
			column++
			if character == '\n' {
				line, column = line+1, 1
			}
		}
	})
}

func TestPositionOutsideTheText(t *testing.T) {
	source := NewSource("ab\nc")
	for offset, want := range map[int]string{-5: "1:1", 0: "1:1", 2: "1:3", 3: "2:1", 4: "2:2", 99: "2:2"} {
		p := source.Position(offset)
		if got := fmt.Sprintf("%d:%d", p.Line, p.Column); got != want {
			t.Errorf("%d: got %s, want %s", offset, got, want)
		}
	}
}

// TestQuotingRoundTrips reads back any text that is quoted by doubling.
func TestQuotingRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		quote := rapid.SampledFrom([]string{"'", "`", "\""}).Draw(t, "quote")
		if text == "" && quote != "'" {
			return
		}
		tokens, err := Lex(NewSource(quote + strings.ReplaceAll(text, quote, quote+quote) + quote))
		if err != nil || len(tokens) != 2 || tokens[0].Value != text {
			t.Fatal(tokens, err)
		}
	})
}

// FuzzLex holds that tokens are in order and inside the text, that what is between
// them is blank or comment, and that errors have a place.
func FuzzLex(f *testing.F) {
	for _, seed := range []string{"SELECT 'a' /* x */ -- y\n FROM `b`;", "1e5x .5 2. ${v} ->=>", "'", "/*", "\ufeff", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pieces, _, splitErr := Split(text)
		tokens, err := Lex(NewSource(text))
		if (err == nil) != (splitErr == nil) {
			t.Fatal(err, splitErr)
		}
		end := 0
		for _, token := range tokens {
			if token.Offset < end || token.End < token.Offset || token.End > len(text) {
				t.Fatalf("token %+v after %d", token, end)
			}
			end = token.End
		}
		for _, piece := range pieces {
			if !strings.HasPrefix(text[piece.Position.Offset:], piece.Text) || piece.Text == "" {
				t.Fatalf("piece %+v", piece)
			}
			if again, err := Lex(NewSource(piece.Text)); err != nil || len(again) != len(piece.Tokens) {
				t.Fatalf("piece %q lexes to %d tokens, not %d: %v", piece.Text, len(again), len(piece.Tokens), err)
			}
		}
		if fault, ok := errors.AsType[*types.Error](err); err != nil && (!ok || fault.Position.Line < 1 || fault.Position.Column < 1) {
			t.Fatalf("%v", err)
		}
		if err == nil && !utf8.ValidString(text) {
			t.Fatal("no error for bytes that are no UTF-8")
		}
	})
}
