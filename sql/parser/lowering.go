package parser

import (
	"slices"
	"strconv"
	"strings"

	"millrace/sql/ast"
	"millrace/sql/types"
)

// fragment is one token of the lowered text with its place in the user's text.
type fragment struct {
	prefix string // markers that were opened in front of it later
	text   string
	offset int
}

// lowering collects a query in the vocabulary that TiDB's grammar accepts: a few
// keywords and operators, numbers, back-quoted names, and strings that are only
// numbers of entries in texts. What the grammar cannot say is kept beside it and
// tied to the tree by number or place.
type lowering struct {
	fragments []fragment
	texts     []string
	types     []*ast.TypeName
	joins     []*ast.Join
	tables    []types.Position
	blocks    []loweredBlock
	emit      ast.Emit
	limit     *int
}

// loweredBlock is a SELECT, found again in the tree by its first field.
type loweredBlock struct {
	block *ast.Block
	first int // fragment of its first field
}

// beginQuery starts the lowering of the statement's query.
func (r *recogniser) beginQuery() { r.low = &lowering{fragments: r.parser.scratch[:0]} }

// endQuery has TiDB parse what was lowered and returns the raised query, whose
// text runs from the token at index start to the current one.
func (r *recogniser) endQuery(start int) *ast.Query {
	low := r.low
	r.low = nil
	r.parser.scratch = low.fragments[:0]
	if r.err != nil || len(low.fragments) == 0 || r.index == start {
		return nil
	}
	text := r.source.Text[r.tokens[start].Offset:r.tokens[r.index-1].End]
	query, err := r.parser.grammar.raise(low, r.source)
	if err != nil {
		r.failWith(err)
		return nil
	}
	query.Text = text
	return query
}

func (r *recogniser) emit(text string, offset int) {
	r.low.fragments = append(r.low.fragments, fragment{text: text, offset: offset})
}

// pass emits the current token as it is and steps over it.
func (r *recogniser) pass() {
	t := r.next()
	r.emit(t.Value, t.Offset)
}

// require passes the word or fails.
func (r *recogniser) require(words ...string) {
	for _, word := range words {
		if !r.at(word) {
			r.unexpected()
		}
		r.pass()
	}
}

// mark is where a marker can be opened later, in front of what is emitted next.
func (r *recogniser) mark() int { return len(r.low.fragments) }

// wrap opens marker before the fragment at mark; the caller closes it.
func (r *recogniser) wrap(mark int, marker string) {
	if mark < len(r.low.fragments) {
		f := &r.low.fragments[mark]
		f.prefix = "`" + marker + "`(" + f.prefix
	}
}

func (r *recogniser) open(marker string, offset int) { r.emit("`"+marker+"`(", offset) }

// emitName emits a name of the user.
func (r *recogniser) emitName(name string, offset int) {
	r.emit("`"+strings.ReplaceAll(name, "`", "``")+"`", offset)
}

// emitText emits a string literal.
func (r *recogniser) emitText(text string, offset int) {
	r.emit("'"+strconv.Itoa(len(r.low.texts))+"'", offset)
	r.low.texts = append(r.low.texts, text)
}

// passName emits a name of the given sort and steps over it.
func (r *recogniser) passName(what string) {
	offset := r.current().Offset
	r.emitName(r.name(what), offset)
}

// passList reads items between commas and passes the commas.
func (r *recogniser) passList(item func()) {
	for {
		item()
		if !r.at(",") {
			return
		}
		r.pass()
	}
}

// inParentheses lowers what read reads as one operand.
func (r *recogniser) inParentheses(read func()) {
	offset := r.current().Offset
	r.emit("(", offset)
	read()
	r.emit(")", offset)
}

// passClose passes the bracket that closes the one at open.
func (r *recogniser) passClose(open int) {
	if !r.at(")") {
		r.unclosed("'('", open)
	}
	r.pass()
}

// loweredText is a query as TiDB gets it, with the way back to the user's text.
type loweredText struct {
	text    string
	starts  []int32 // of the fragments in text, ascending
	offsets []int32 // of the fragments in the user's text
}

func (l *lowering) text() loweredText {
	size := 0
	for _, f := range l.fragments {
		size += len(f.prefix) + len(f.text) + 1
	}
	var b strings.Builder
	b.Grow(size)
	t := loweredText{starts: make([]int32, len(l.fragments)), offsets: make([]int32, len(l.fragments))}
	for i, f := range l.fragments {
		t.starts[i], t.offsets[i] = int32(b.Len()), int32(f.offset)
		b.WriteString(f.prefix)
		b.WriteString(f.text)
		b.WriteByte(' ')
	}
	t.text = b.String()
	return t
}

// userOffset is the place in the user's text of an offset in the lowered text.
func (t *loweredText) userOffset(offset int) int {
	if len(t.starts) == 0 {
		return 0
	}
	i, found := slices.BinarySearch(t.starts, int32(offset))
	if !found {
		i = max(i-1, 0)
	}
	return int(t.offsets[i])
}
