package expr

import (
	"fmt"
	"strconv"
	"strings"

	"millrace/sql/types"
)

// testParser reads expressions for the golden files. It knows the operators,
// literals and constructors, and hands what it reads to the constructors.
type testParser struct {
	tokens  []string
	at      int
	columns map[string]*Column
	lambdas []map[string]*types.Type
	table   bool // the next call is one of a table function
}

// parseTest reads an expression; the error may be one of a constructor.
func parseTest(text string, columns map[string]*Column, table bool) (e Expr, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			var ok bool
			if err, ok = fault.(error); !ok {
				panic(fault)
			}
		}
	}()
	p := &testParser{tokens: testTokens(text), columns: columns, table: table}
	e = p.or()
	if p.at < len(p.tokens) {
		return nil, fmt.Errorf("unexpected %q", p.tokens[p.at])
	}
	return e, nil
}

func testTokens(text string) []string {
	var tokens []string
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		switch {
		case c == ' ' || c == '\n' || c == '\t':
			i++
			continue
		case c == '\'':
			for i++; i < len(text); i++ {
				if text[i] != '\'' {
					continue
				}
				if i+1 < len(text) && text[i+1] == '\'' {
					i++
					continue
				}
				break
			}
			i++
		case isWord(c):
			for i < len(text) && (isWord(text[i]) || text[i] == '.' || exponentSign(text, start, i)) {
				i++
			}
		default:
			i++
			for _, op := range []string{"||", "->", "=>", ":=", "<>", "<=", ">=", "!="} {
				if strings.HasPrefix(text[start:], op) {
					i = start + 2
				}
			}
		}
		tokens = append(tokens, text[start:i])
	}
	return tokens
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

func exponentSign(text string, start, i int) bool {
	digit := text[start] >= '0' && text[start] <= '9'
	return digit && (text[i] == '-' || text[i] == '+') && (text[i-1] == 'e' || text[i-1] == 'E')
}

func (p *testParser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *testParser) take(words ...string) bool {
	for k, word := range words {
		if p.at+k >= len(p.tokens) || !strings.EqualFold(p.tokens[p.at+k], word) {
			return false
		}
	}
	p.at += len(words)
	return true
}

func (p *testParser) expect(word string) {
	if !p.take(word) {
		panic(fmt.Errorf("%q expected, found %q", word, p.peek()))
	}
}

func must[T any](e T, err error) T {
	if err != nil {
		panic(err)
	}
	return e
}

func (p *testParser) or() Expr {
	e := p.and()
	for p.take("OR") {
		e = must(NewOr(e, p.and()))
	}
	return e
}

func (p *testParser) and() Expr {
	e := p.not()
	for p.take("AND") {
		e = must(NewAnd(e, p.not()))
	}
	return e
}

func (p *testParser) not() Expr {
	if p.take("NOT") {
		return must(NewNot(p.not()))
	}
	return p.comparison()
}

func (p *testParser) comparison() Expr {
	e := p.concat()
	for {
		for _, op := range []string{"=", "<>", "!=", "<=", ">=", "<", ">"} {
			if p.take(op) {
				return must(NewCompare(op, e, p.concat()))
			}
		}
		switch {
		case p.take("IS", "NOT", "NULL"):
			e = must(NewIsNull(e, true))
		case p.take("IS", "NULL"):
			e = must(NewIsNull(e, false))
		case p.take("IS", "NOT", "DISTINCT", "FROM"):
			return must(NewIsDistinct(e, p.concat(), true))
		case p.take("IS", "DISTINCT", "FROM"):
			return must(NewIsDistinct(e, p.concat(), false))
		default:
			not := p.take("NOT")
			switch {
			case p.take("BETWEEN"):
				low := p.concat()
				p.expect("AND")
				return must(NewBetween(e, low, p.concat(), not))
			case p.take("IN"):
				p.expect("(")
				return must(NewIn(e, p.list(")"), not))
			case p.take("LIKE"):
				return p.like(e, not)
			}
			return e
		}
	}
}

func (p *testParser) like(e Expr, not bool) Expr {
	pattern := p.concat()
	escape := rune(0)
	if p.take("ESCAPE") {
		escape = []rune(p.text())[0]
	}
	return must(NewLike(e, pattern, escape, not))
}

func (p *testParser) text() string {
	token := p.peek()
	p.at++
	return strings.ReplaceAll(token[1:len(token)-1], "''", "'")
}

func (p *testParser) concat() Expr {
	e := p.sum()
	for p.take("||") {
		e = must(NewConcat(e, p.sum()))
	}
	return e
}

func (p *testParser) sum() Expr {
	e := p.product()
	for p.peek() == "+" || p.peek() == "-" {
		op := p.peek()
		p.at++
		e = must(NewArithmetic(op, e, p.product()))
	}
	return e
}

func (p *testParser) product() Expr {
	e := p.unary()
	for p.peek() == "*" || p.peek() == "/" || p.peek() == "%" {
		op := p.peek()
		p.at++
		e = must(NewArithmetic(op, e, p.unary()))
	}
	return e
}

func (p *testParser) unary() Expr {
	if p.take("-") {
		if token := p.peek(); token != "" && token[0] >= '0' && token[0] <= '9' {
			p.at++
			return p.number("-" + token)
		}
		return must(NewNegate(p.unary()))
	}
	return p.postfix()
}

func (p *testParser) postfix() Expr {
	e := p.primary()
	for {
		switch {
		case p.take("["):
			e = must(NewSubscript(e, p.or()))
			p.expect("]")
		case p.take("->"):
			e = must(NewField(e, p.peek()))
			p.at++
		default:
			return e
		}
	}
}

func (p *testParser) number(text string) Expr {
	number, ok := parseNumber(text)
	if !ok {
		panic(fmt.Errorf("bad number %s", text))
	}
	return number
}

func (p *testParser) primary() Expr {
	token := p.peek()
	switch {
	case token == "":
		panic(fmt.Errorf("unexpected end"))
	case token[0] == '\'':
		return NewLiteral(p.text(), types.String)
	case token[0] >= '0' && token[0] <= '9':
		p.at++
		return p.number(token)
	case p.take("("):
		e := p.or()
		p.expect(")")
		return e
	case p.take("NULL"):
		return NewLiteral(nil, types.Null)
	case p.take("TRUE"):
		return NewLiteral(true, types.Boolean)
	case p.take("FALSE"):
		return NewLiteral(false, types.Boolean)
	case p.take("CAST", "("):
		e := p.or()
		p.expect("AS")
		t := p.typeName()
		p.expect(")")
		return must(NewCast(e, t))
	case p.take("CASE"):
		return p.caseOf()
	case p.take("ARRAY", "["):
		return must(NewArray(p.list("]")))
	case p.take("MAP", "("):
		var keys, values []Expr
		for !p.take(")") {
			p.take(",")
			keys = append(keys, p.or())
			p.expect(":=")
			values = append(values, p.or())
		}
		return must(NewMap(keys, values))
	case p.take("STRUCT", "("):
		var names []string
		var values []Expr
		for !p.take(")") {
			p.take(",")
			names = append(names, p.peek())
			p.at++
			p.expect(":=")
			values = append(values, p.or())
		}
		return must(NewStruct(names, values))
	}
	return p.name()
}

func (p *testParser) caseOf() Expr {
	var value Expr
	if !strings.EqualFold(p.peek(), "WHEN") {
		value = p.or()
	}
	var whens, thens []Expr
	for p.take("WHEN") {
		whens = append(whens, p.or())
		p.expect("THEN")
		thens = append(thens, p.or())
	}
	var otherwise Expr
	if p.take("ELSE") {
		otherwise = p.or()
	}
	p.expect("END")
	return must(NewCase(value, whens, thens, otherwise))
}

func (p *testParser) list(end string) []Expr {
	var list []Expr
	for !p.take(end) {
		p.take(",")
		list = append(list, p.or())
	}
	return list
}

func (p *testParser) name() Expr {
	name := p.peek()
	p.at++
	if p.take("(") {
		build := NewCall
		if p.table {
			build, p.table = NewTableCall, false
		}
		var args []Argument
		for !p.take(")") {
			p.take(",")
			args = append(args, p.argument())
		}
		return must(build(name, args))
	}
	for k := len(p.lambdas) - 1; k >= 0; k-- {
		if t := p.lambdas[k][name]; t != nil {
			return NewParameter(name, t)
		}
	}
	if column := p.columns[name]; column != nil {
		return column
	}
	panic(fmt.Errorf("unknown name %q", name))
}

func (p *testParser) argument() Argument {
	start := p.at
	var names []string
	if p.take("(") {
		for p.at < len(p.tokens) && p.peek() != ")" {
			if !p.take(",") {
				names = append(names, p.peek())
				p.at++
			}
		}
		p.take(")")
	} else if p.at+1 < len(p.tokens) && p.tokens[p.at+1] == "=>" {
		names = []string{p.peek()}
		p.at++
	}
	if names == nil || !p.take("=>") {
		p.at = start
		return Argument{Expr: p.or()}
	}
	body := p.at
	p.skipBody()
	end := p.at
	outer := append([]map[string]*types.Type{}, p.lambdas...)
	return Argument{Lambda: &LambdaSyntax{Parameters: names, Bind: func(parameters []*types.Type) (Expr, error) {
		frame := map[string]*types.Type{}
		for i, name := range names {
			frame[name] = parameters[i]
		}
		inner := &testParser{tokens: p.tokens[body:end], columns: p.columns, lambdas: append(outer, frame)}
		return inner.or(), nil
	}}}
}

// skipBody goes to the comma or parenthesis that ends a lambda.
func (p *testParser) skipBody() {
	depth := 0
	for ; p.at < len(p.tokens); p.at++ {
		switch p.peek() {
		case "(", "[":
			depth++
		case ")", "]":
			if depth == 0 {
				return
			}
			depth--
		case ",":
			if depth == 0 {
				return
			}
		}
	}
}

var plainTypes = map[string]*types.Type{
	"BOOLEAN": types.Boolean, "INT": types.Integer, "INTEGER": types.Integer, "BIGINT": types.Bigint,
	"DOUBLE": types.Double, "STRING": types.String, "BYTES": types.Bytes, "DATE": types.Date,
	"TIME": types.Time, "TIMESTAMP": types.Timestamp,
}

func (p *testParser) typeName() *types.Type {
	word := strings.ToUpper(p.peek())
	p.at++
	switch word {
	case "DECIMAL":
		p.expect("(")
		precision := must(strconv.Atoi(p.peek()))
		p.at++
		p.expect(",")
		scale := must(strconv.Atoi(p.peek()))
		p.at++
		p.expect(")")
		return types.DecimalOf(precision, scale)
	case "ARRAY":
		p.expect("<")
		elem := p.typeName()
		p.expect(">")
		return types.ArrayOf(elem)
	case "MAP":
		p.expect("<")
		key := p.typeName()
		p.expect(",")
		value := p.typeName()
		p.expect(">")
		return types.MapOf(key, value)
	case "STRUCT":
		p.expect("<")
		var fields []types.Field
		for !p.take(">") {
			p.take(",")
			name := p.peek()
			p.at++
			fields = append(fields, types.Field{Name: name, Type: p.typeName()})
		}
		return types.StructOf(fields...)
	}
	t := plainTypes[word]
	if t == nil {
		panic(fmt.Errorf("unknown type %s", word))
	}
	return t
}
