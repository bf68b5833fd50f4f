package fn

import (
	"fmt"
	"strings"

	"millrace/sql/types"
)

// pattern is a type in a signature.
type pattern struct {
	kind     types.Kind
	variable byte       // a type variable, instead of kind
	children []*pattern // ARRAY: element; MAP: key, value; STRUCT: fields
	names    []string   // of a STRUCT's fields
	lambda   bool       // children are the parameters, then the result
}

// expand makes an overload for each number of optional parameters.
func expand(f *Function, o *Overload) ([]*Overload, error) {
	open := strings.Count(o.Signature, "[")
	var list []*Overload
	for keep := 0; keep <= open; keep++ {
		one := *o
		one.function = f
		one.Signature = withOptional(o.Signature, keep)
		p := &signatureParser{text: one.Signature}
		if err := p.signature(&one); err != nil {
			return nil, fmt.Errorf("%s%s: %w", f.Name, o.Signature, err)
		}
		list = append(list, &one)
	}
	return list, nil
}

// withOptional keeps the first of the nested optional parts and drops the rest.
func withOptional(signature string, keep int) string {
	var b strings.Builder
	depth := 0
	for _, c := range signature {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth <= keep:
			b.WriteRune(c)
		}
	}
	return b.String()
}

type signatureParser struct {
	text string
	at   int
}

func (p *signatureParser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *signatureParser) take(token string) bool {
	p.skip()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *signatureParser) expect(token string) error {
	if !p.take(token) {
		return fmt.Errorf("%q expected at %d", token, p.at)
	}
	return nil
}

func (p *signatureParser) signature(o *Overload) error {
	if err := p.expect("("); err != nil {
		return err
	}
	for !p.take(")") {
		if len(o.parameters) > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		parameter, err := p.parameter()
		if err != nil {
			return err
		}
		o.parameters = append(o.parameters, parameter)
		o.variadic = p.take("...")
	}
	result, err := p.pattern()
	o.result = result
	return err
}

func (p *signatureParser) parameter() (*pattern, error) {
	start := p.at
	if p.take("(") {
		lambda := &pattern{lambda: true}
		for !p.take(")") {
			p.take(",")
			child, err := p.pattern()
			if err != nil {
				return nil, err
			}
			lambda.children = append(lambda.children, child)
		}
		return p.lambdaResult(lambda)
	}
	single, err := p.pattern()
	if err != nil {
		return nil, err
	}
	p.skip()
	if !strings.HasPrefix(p.text[p.at:], "=>") {
		return single, nil
	}
	if p.at == start {
		return nil, fmt.Errorf("lambda without parameter")
	}
	return p.lambdaResult(&pattern{lambda: true, children: []*pattern{single}})
}

func (p *signatureParser) lambdaResult(lambda *pattern) (*pattern, error) {
	if err := p.expect("=>"); err != nil {
		return nil, err
	}
	result, err := p.pattern()
	lambda.children = append(lambda.children, result)
	return lambda, err
}

func (p *signatureParser) word() string {
	p.skip()
	start := p.at
	for p.at < len(p.text) && (p.text[p.at] >= 'A' && p.text[p.at] <= 'Z') {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *signatureParser) pattern() (*pattern, error) {
	word := p.word()
	switch {
	case word == "":
		return nil, fmt.Errorf("type expected at %d", p.at)
	case len(word) == 1:
		return &pattern{variable: word[0]}, nil
	}
	for kind := types.KindBoolean; kind <= types.KindStruct; kind++ {
		if kind.String() == word {
			n := &pattern{kind: kind}
			if kind < types.KindArray {
				return n, nil
			}
			return n, p.nested(n)
		}
	}
	return nil, fmt.Errorf("unknown type %s", word)
}

func (p *signatureParser) nested(n *pattern) error {
	if err := p.expect("<"); err != nil {
		return err
	}
	for !p.take(">") {
		if len(n.children) > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		if n.kind == types.KindStruct {
			n.names = append(n.names, p.word())
		}
		child, err := p.pattern()
		if err != nil {
			return err
		}
		n.children = append(n.children, child)
	}
	return nil
}

func (n *pattern) generics() int {
	if n.variable != 0 {
		return 1
	}
	total := 0
	for _, child := range n.children {
		total += child.generics()
	}
	return total
}
