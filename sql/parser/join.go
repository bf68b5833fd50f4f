package parser

import (
	"strconv"

	"millrace/sql/ast"
)

// relation reads what stands behind FROM.
func (r *recogniser) relation() {
	r.joinSource()
	for r.err == nil {
		offset, position := r.current().Offset, r.position()
		kind := r.joinKind()
		if kind == "" {
			return
		}
		join := &ast.Join{Kind: kind, Position: position}
		switch kind {
		case ast.InnerJoin:
			r.emit("JOIN", offset)
		case ast.RightJoin:
			r.emit("RIGHT JOIN", offset)
		default:
			// MySQL has no FULL JOIN; the kind that counts is join.Kind.
			r.emit("LEFT JOIN", offset)
		}
		r.joinSource()
		r.within(join)
		r.require("ON")
		r.open(markJoin, offset)
		r.emit(strconv.Itoa(len(r.low.joins))+",", offset)
		r.low.joins = append(r.low.joins, join)
		r.expression()
		r.emit(")", offset)
	}
}

// joinKind reads the words of a join, or nothing and returns "".
func (r *recogniser) joinKind() ast.JoinKind {
	kind := ast.InnerJoin
	switch {
	case r.accept("FULL", "OUTER") || r.accept("FULL"):
		kind = ast.FullJoin
	case r.accept("LEFT", "OUTER") || r.accept("LEFT"):
		kind = ast.LeftJoin
	case r.accept("RIGHT", "OUTER") || r.accept("RIGHT"):
		kind = ast.RightJoin
	case r.accept("INNER"):
	case r.at("JOIN"):
	case r.atUnconditionalJoin():
		r.fail(r.current().Offset, "sources are joined with JOIN .. ON")
		return ""
	default:
		return ""
	}
	r.expect("JOIN")
	return kind
}

// atUnconditionalJoin tells whether one of SQL's joins without ON comes.
func (r *recogniser) atUnconditionalJoin() bool {
	t := r.current()
	return t.Is(",") || (t.Is("CROSS") || t.Is("NATURAL")) && r.peek(1).Is("JOIN")
}

func (r *recogniser) within(join *ast.Join) {
	if !r.accept("WITHIN") {
		return
	}
	if open := r.current().Offset; r.accept("(") {
		join.Before = r.duration()
		r.expect(",")
		join.After = r.duration()
		if !r.accept(")") {
			r.unclosed("'('", open)
		}
	} else {
		join.Before = r.duration()
		join.After = join.Before
	}
	if r.accept("GRACE") {
		r.expect("PERIOD")
		join.Grace = r.duration()
	}
}

// joinSource reads one source of a join: a name or a sub-query, with its alias.
func (r *recogniser) joinSource() {
	if open := r.current().Offset; r.at("(") {
		r.pass()
		r.queryBody(false)
		r.passClose(open)
	} else {
		// TiDB keeps no place of a table name: the schema's name is the number of
		// ours.
		offset := r.current().Offset
		r.emit("`"+strconv.Itoa(len(r.low.tables))+"`.", offset)
		r.low.tables = append(r.low.tables, r.position())
		r.emitName(r.name("a stream or table name"), offset)
	}
	r.alias()
}
