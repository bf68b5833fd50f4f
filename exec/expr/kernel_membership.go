package expr

import (
	"errors"
	"strings"
	"unicode/utf8"

	"millrace/exec/column"
	"millrace/sql/types"
)

type betweenKernel struct {
	x, low, high              Kernel
	constantLow, constantHigh bool
	not                       bool
	out, lowHolds, highHolds  *column.Vector
}

func (c *compiler) between(n *Between) (Kernel, error) { return c.betweenKernel(n) }

func (c *compiler) betweenKernel(n *Between) (*betweenKernel, error) {
	kernels, err := c.compileAll([]Expr{n.X, n.Low, n.High})
	if err != nil {
		return nil, err
	}
	k := &betweenKernel{x: kernels[0], low: kernels[1], high: kernels[2], not: n.Not}
	_, k.constantLow = k.low.(*constantKernel)
	_, k.constantHigh = k.high.(*constantKernel)
	k.out, k.lowHolds, k.highHolds = column.New(types.Boolean, 0), column.New(types.Boolean, 0), column.New(types.Boolean, 0)
	return k, nil
}

// Narrow keeps the rows between the bounds; it is not used for NOT BETWEEN.
func (k *betweenKernel) Narrow(b *column.Batch, selection []int32) []int32 {
	x := k.x.Eval(b, selection)
	selection = narrowRows(OperatorGreaterEqual, x, k.low.Eval(b, selection), k.constantLow, selection)
	if len(selection) == 0 {
		return selection
	}
	return narrowRows(OperatorLessEqual, x, k.high.Eval(b, selection), k.constantHigh, selection)
}

func (k *betweenKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	x, low, high := k.x.Eval(b, selection), k.low.Eval(b, selection), k.high.Eval(b, selection)
	k.out.Reset(b.Len)
	k.lowHolds.Reset(b.Len)
	k.highHolds.Reset(b.Len)
	both(k.lowHolds, x, low)
	both(k.highHolds, x, high)
	compareRows(OperatorGreaterEqual, x, low, selection, k.lowHolds)
	compareRows(OperatorLessEqual, x, high, selection, k.highHolds)
	for _, row := range selection {
		i := int(row)
		nullLow, nullHigh := k.lowHolds.Null(i), k.highHolds.Null(i)
		switch {
		case !nullLow && !k.lowHolds.Bools[i], !nullHigh && !k.highHolds.Bools[i]:
			k.out.SetBool(i, k.not)
		case !nullLow && !nullHigh:
			k.out.SetBool(i, !k.not)
		}
	}
	return k.out
}

// inKernel looks values up in sets made of the constant elements of the list,
// and compares with the others one by one.
type inKernel struct {
	x         Kernel
	list      []Kernel
	not       bool
	ints      map[int64]bool
	texts     map[string]bool
	constants []*column.Vector // that fit neither
	hasNull   bool             // a constant NULL is in the list
	values    []*column.Vector
	out       *column.Vector
}

func (c *compiler) in(n *In) (Kernel, error) {
	x, err := c.compile(n.X)
	if err != nil {
		return nil, err
	}
	k := &inKernel{x: x, not: n.Not, out: column.New(types.Boolean, 0), ints: map[int64]bool{}, texts: map[string]bool{}}
	for _, e := range n.List {
		element, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		k.add(element)
	}
	k.values = make([]*column.Vector, len(k.list))
	return k, nil
}

func (k *inKernel) add(element Kernel) {
	constant, ok := element.(*constantKernel)
	switch {
	case !ok:
		k.list = append(k.list, element)
	case constant.null():
		k.hasNull = true
	case constant.one.Ints != nil:
		k.ints[constant.one.Ints[0]] = true
	case constant.one.Texts != nil:
		k.texts[constant.one.Texts[0]] = true
	default:
		k.constants = append(k.constants, constant.one)
	}
}

func (k *inKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	x := k.x.Eval(b, selection)
	for e, element := range k.list {
		k.values[e] = element.Eval(b, selection)
	}
	k.out.Reset(b.Len)
	for _, row := range selection {
		i := int(row)
		if x.Null(i) {
			continue
		}
		found, null := k.find(x, i)
		if found || !null {
			k.out.SetBool(i, found != k.not)
		}
	}
	return k.out
}

func (k *inKernel) find(x *column.Vector, i int) (found, null bool) {
	switch {
	case x.Ints != nil && k.ints[x.Ints[i]], x.Texts != nil && k.texts[x.Texts[i]]:
		return true, false
	}
	for _, constant := range k.constants {
		if column.EqualRows(x, i, constant, 0) {
			return true, false
		}
	}
	null = k.hasNull
	for _, v := range k.values {
		switch {
		case v.Null(i):
			null = true
		case column.EqualRows(x, i, v, i):
			return true, false
		}
	}
	return false, null
}

var errTrailingEscape = errors.New("the pattern ends with its escape character")

// likePattern is a compiled LIKE pattern.
type likePattern struct {
	parts []likePart
	// With simple, the pattern is fixed text with % at most at its ends.
	simple             bool
	text               string
	openStart, openEnd bool
}

type likePart struct {
	any bool // %
	one bool // _
	r   rune
}

func compileLike(pattern string, escape rune) (*likePattern, error) {
	p := &likePattern{}
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			p.parts = append(p.parts, likePart{r: r})
			escaped = false
		case escape != 0 && r == escape:
			escaped = true
		case r == '%':
			if n := len(p.parts); n == 0 || !p.parts[n-1].any {
				p.parts = append(p.parts, likePart{any: true})
			}
		case r == '_':
			p.parts = append(p.parts, likePart{one: true})
		default:
			p.parts = append(p.parts, likePart{r: r})
		}
	}
	if escaped {
		return nil, errTrailingEscape
	}
	p.simplify()
	return p, nil
}

func (p *likePattern) simplify() {
	var text []rune
	for i, part := range p.parts {
		switch {
		case part.one || part.any && i > 0 && i < len(p.parts)-1:
			return
		case part.any:
			p.openStart = p.openStart || i == 0
			p.openEnd = p.openEnd || i == len(p.parts)-1
		default:
			text = append(text, part.r)
		}
	}
	p.simple, p.text = true, string(text)
}

func (p *likePattern) matches(text string) bool {
	if !p.simple {
		return p.matchParts(text)
	}
	switch {
	case p.openStart && p.openEnd:
		return strings.Contains(text, p.text)
	case p.openStart:
		return strings.HasSuffix(text, p.text)
	case p.openEnd:
		return strings.HasPrefix(text, p.text)
	}
	return text == p.text
}

// matchParts goes back to the last % only, which is enough since an earlier one
// could match no more.
func (p *likePattern) matchParts(text string) bool {
	part, at := 0, 0
	backPart, backAt := -1, 0
	for at < len(text) || part < len(p.parts) {
		if part < len(p.parts) {
			step := p.parts[part]
			if step.any {
				backPart, backAt = part, at
				part++
				continue
			}
			if at < len(text) {
				r, size := utf8.DecodeRuneInString(text[at:])
				if step.one && r != '\n' || !step.one && r == step.r {
					part++
					at += size
					continue
				}
			}
		}
		if backPart < 0 || backAt >= len(text) {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[backAt:])
		backAt += size
		part, at = backPart+1, backAt
	}
	return true
}

type likeKernel struct {
	x, pattern Kernel
	escape     rune
	not        bool
	out        *column.Vector
	scope      *scope
	what       *label
	compiled   *likePattern
	source     string
}

func (c *compiler) like(n *Like) (Kernel, error) {
	kernels, err := c.compileAll([]Expr{n.X, n.Pattern})
	if err != nil {
		return nil, err
	}
	return &likeKernel{
		x: kernels[0], pattern: kernels[1], escape: n.Escape, not: n.Not,
		out: column.New(types.Boolean, 0), scope: c.scope, what: &label{make: n.String},
	}, nil
}

func (k *likeKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	x, pattern := k.x.Eval(b, selection), k.pattern.Eval(b, selection)
	k.out.Reset(b.Len)
	for _, i := range selection {
		if x.Null(int(i)) || pattern.Null(int(i)) {
			continue
		}
		if source := pattern.Texts[i]; k.compiled == nil || source != k.source {
			compiled, err := compileLike(source, k.escape)
			if err != nil {
				k.scope.report(b, i, k.what, err)
				continue
			}
			k.compiled, k.source = compiled, strings.Clone(source)
		}
		k.out.SetBool(int(i), k.compiled.matches(x.Texts[i]) != k.not)
	}
	return k.out
}
