package parser

import (
	"strconv"

	"millrace/sql/ast"
	"millrace/sql/token"
	"millrace/sql/types"
)

// query reads a whole query.
func (r *recogniser) query() *ast.Query {
	start := r.index
	r.beginQuery()
	r.queryBody(true)
	return r.endQuery(start)
}

// expressionQuery reads one expression as the only field of a SELECT without FROM.
func (r *recogniser) expressionQuery() *ast.Query {
	start := r.index
	r.beginQuery()
	r.emit("SELECT", r.current().Offset)
	r.expression()
	return r.endQuery(start)
}

// queryBody reads a query without the brackets around it. EMIT belongs to the
// outermost one only.
func (r *recogniser) queryBody(outermost bool) {
	r.enter()
	defer r.leave()
	if r.at("WITH") {
		r.commonTables()
	}
	for r.err == nil {
		if r.at("(") {
			open := r.current().Offset
			r.pass()
			r.queryBody(false)
			r.passClose(open)
		} else {
			r.block()
		}
		if !r.atSetOperator() {
			break
		}
		r.pass()
		if r.at("ALL") || r.at("DISTINCT") {
			r.pass()
		}
	}
	if r.at("ORDER", "BY") {
		r.orderBy()
	}
	r.emitClause(outermost)
	r.limit(outermost)
	r.emitClause(outermost)
}

func (r *recogniser) commonTables() {
	r.pass()
	if t := r.current(); t.Is("RECURSIVE") && isName(r.peek(1)) {
		r.failWith(types.Unsupported("WITH RECURSIVE").At(r.position()))
		return
	}
	r.passList(func() {
		r.passName("a query name")
		if r.at("(") {
			open := r.current().Offset
			r.pass()
			r.passList(func() { r.passName("a column name") })
			r.passClose(open)
		}
		r.require("AS")
		open := r.current().Offset
		r.require("(")
		r.queryBody(false)
		r.passClose(open)
	})
}

func (r *recogniser) atSetOperator() bool {
	if !r.at("UNION") && !r.at("INTERSECT") && !r.at("EXCEPT") {
		return false
	}
	next := r.peek(1)
	return next.Is("SELECT") || next.Is("ALL") || next.Is("DISTINCT") || next.Is("(")
}

func (r *recogniser) orderBy() {
	r.require("ORDER", "BY")
	r.passList(func() {
		r.expression()
		if r.at("ASC") || r.at("DESC") {
			r.pass()
		}
	})
}

func (r *recogniser) emitClause(outermost bool) {
	if !r.at("EMIT", "CHANGES") && !r.at("EMIT", "FINAL") {
		return
	}
	switch {
	case !outermost:
		r.fail(r.current().Offset, "EMIT belongs at the end of the outermost query, not into a sub-query")
	case r.low.emit != ast.EmitDefault:
		r.fail(r.current().Offset, "EMIT is given twice")
	}
	r.next()
	r.low.emit = ast.Emit(r.next().Value)
}

func (r *recogniser) limit(outermost bool) {
	if !r.at("LIMIT") {
		return
	}
	r.pass()
	rows := r.passCount()
	if outermost {
		r.low.limit = &rows
	}
	if r.at("OFFSET") {
		r.pass()
		r.passCount()
	}
}

// passCount emits a whole number of rows and returns it.
func (r *recogniser) passCount() int {
	offset := r.current().Offset
	n := r.count(0)
	r.emit(strconv.Itoa(n), offset)
	return n
}

// rows reads (value, ..), .. as a SELECT of rows.
func (r *recogniser) rows() *ast.Query {
	start := r.index
	r.beginQuery()
	r.emit("SELECT", r.current().Offset)
	r.passList(r.row)
	return r.endQuery(start)
}

func (r *recogniser) row() {
	open := r.current().Offset
	r.expect("(")
	r.open(markRow, open)
	if !r.at(")") {
		r.passList(r.expression)
	}
	r.passClose(open)
}

// clauseAhead tells whether the current word, although it could be a name, begins a
// clause.
func (r *recogniser) clauseAhead() bool {
	switch word := r.current().Value; word {
	case "EMIT":
		return r.at(word, "CHANGES") || r.at(word, "FINAL")
	case "PARTITION", "ORDER":
		return r.at(word, "BY")
	case "CROSS", "NATURAL":
		return r.peek(1).Is("JOIN")
	case "UNION", "INTERSECT", "EXCEPT":
		return r.atSetOperator()
	}
	return false
}

// alias passes [AS] name if it comes. A quoted name is an alias in any case.
func (r *recogniser) alias() {
	if r.at("AS") {
		r.pass()
	} else if t := r.current(); !isName(t) || t.Kind == token.Word && r.clauseAhead() {
		return
	}
	r.passName("an alias name")
}
