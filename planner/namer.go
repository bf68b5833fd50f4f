package planner

import (
	"strconv"

	"millrace/exec/expr"
)

// namer gives names to SELECT items without an alias: a column keeps its name
// (with its source's name in front where both sides of a join have it), a
// STRUCT field the field's, and any other expression is KSQL_COL_n.
type namer struct {
	scope *scope
	taken map[string]bool // names of the sources' columns and fields given
	next  int
}

func newNamer(s *scope) *namer {
	n := &namer{scope: s, taken: map[string]bool{}}
	for _, in := range s.inputs {
		for _, name := range columnNames(in.source) {
			n.taken[name] = true
		}
	}
	return n
}

func (n *namer) name(e expr.Expr) string {
	switch e := e.(type) {
	case *expr.Column:
		if r := n.scope.refs[e.Index]; r.kind <= valueRef || r.kind == headerRef {
			return n.columnName(r)
		}
	case *expr.Field:
		return n.free(e.Name())
	}
	for {
		name := "KSQL_COL_" + strconv.Itoa(n.next)
		n.next++
		if !n.taken[name] {
			return name
		}
	}
}

// columnName is a column's own name if one input alone has it.
func (n *namer) columnName(r ref) string {
	for i := range n.scope.inputs {
		if i == r.input {
			continue
		}
		if _, _, both := n.scope.inputs[i].source.Column(r.name); both {
			return n.scope.inputs[r.input].alias + "_" + r.name
		}
	}
	return r.name
}

// free is name, or name_1, name_2, .. if it is taken.
func (n *namer) free(name string) string {
	out := name
	for i := 1; n.taken[out]; i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	n.taken[out] = true
	return out
}
