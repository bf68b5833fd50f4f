package parser

import (
	"strings"

	"millrace/sql/ast"
)

// block reads one SELECT with its clauses.
func (r *recogniser) block() {
	r.enter()
	defer r.leave()
	block := &ast.Block{Position: r.position()}
	r.require("SELECT")
	if t := r.current(); t.Is("DISTINCT") || t.Is("ALL") {
		r.pass()
	}
	r.low.blocks = append(r.low.blocks, loweredBlock{block: block, first: r.mark()})
	r.passList(r.selectItem)
	if !r.at("FROM") {
		r.refuseClauseWithoutFrom()
		return
	}
	r.pass()
	r.relation()
	r.clauses(block)
}

func (r *recogniser) refuseClauseWithoutFrom() {
	t := r.current()
	if t.Is("WHERE") || t.Is("GROUP") || t.Is("HAVING") || t.Is("WINDOW") || t.Is("PARTITION") && r.peek(1).Is("BY") {
		r.unexpected()
	}
}

func (r *recogniser) selectItem() {
	if r.current().Is("*") {
		r.pass()
		return
	}
	if isName(r.current()) && r.peek(1).Is(".") && r.peek(2).Is("*") {
		r.passName("a source name")
		r.pass()
		r.pass()
		return
	}
	r.expression()
	r.alias()
}

// The clauses behind FROM in their order.
const (
	windowClause = iota + 1
	whereClause
	groupClause
	partitionClause
	havingClause
	namedWindowClause
)

var clauseWords = [...][]string{
	windowClause: {"WINDOW"}, whereClause: {"WHERE"}, groupClause: {"GROUP", "BY"},
	partitionClause: {"PARTITION", "BY"}, havingClause: {"HAVING"}, namedWindowClause: {"WINDOW"},
}

// clauseAt tells which clause comes next after the clause last, or 0.
func (r *recogniser) clauseAt(last int) int {
	for clause, words := range clauseWords {
		if clause == 0 || clause > last && !r.at(words...) || clause <= last && !r.ahead(words...) {
			continue
		}
		if clause == windowClause && r.peek(2).Is("AS") {
			return namedWindowClause
		}
		return clause
	}
	return 0
}

func (r *recogniser) clauses(block *ast.Block) {
	last, grouped := 0, false
	for clause := r.clauseAt(last); clause != 0; clause = r.clauseAt(last) {
		name := strings.Join(clauseWords[clause], " ")
		switch {
		case clause == last:
			r.fail(r.current().Offset, "%s is given twice", name)
		case clause < last:
			r.fail(r.current().Offset, "%s must stand before %s", name, strings.Join(clauseWords[last], " "))
		}
		last = clause
		switch clause {
		case windowClause:
			block.Window = r.window()
		case whereClause, havingClause:
			r.pass()
			r.expression()
		case groupClause:
			grouped = r.groupBy()
		case partitionClause:
			r.partitionBy(grouped)
		case namedWindowClause:
			r.namedWindows()
		}
	}
}

// groupBy reads GROUP BY with a list, one list in brackets, or empty brackets,
// which mean no grouping. Every item is put in brackets, as a bare number would
// become the number of a column.
func (r *recogniser) groupBy() (grouped bool) {
	offset := r.current().Offset
	r.skip(2)
	if r.accept("(", ")") {
		return false
	}
	r.emit("GROUP BY", offset)
	r.bracketedList(func() { r.inParentheses(r.value) })
	return true
}

// partitionBy lowers PARTITION BY to the last item of GROUP BY.
func (r *recogniser) partitionBy(grouped bool) {
	offset := r.current().Offset
	r.skip(2)
	if grouped {
		r.emit(",", offset)
	} else {
		r.emit("GROUP BY", offset)
	}
	r.open(markPartition, offset)
	r.bracketedList(r.value)
	r.emit(")", offset)
}

// bracketedList reads a list that may stand in brackets as a whole.
func (r *recogniser) bracketedList(item func()) {
	if !r.atListInBrackets() {
		r.passList(item)
		return
	}
	open := r.next().Offset
	r.passList(item)
	if !r.accept(")") {
		r.unclosed("'('", open)
	}
}

// atListInBrackets tells whether a bracket opens here that holds a comma of its
// own, so that it is not an expression in brackets.
func (r *recogniser) atListInBrackets() bool {
	if !r.current().Is("(") {
		return false
	}
	depth := 0
	for _, t := range r.tokens[r.index:] {
		switch {
		case t.Is("(") || t.Is("["):
			depth++
		case t.Is(")") || t.Is("]"):
			if depth--; depth == 0 {
				return false
			}
		case t.Is(",") && depth == 1:
			return true
		}
	}
	return false
}
