package planner

import (
	"strings"

	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// resultKey is a key column of a result: value is what the record's key holds.
type resultKey struct {
	name  string
	value expr.Expr
}

// result is the SELECT list split into key and value.
type result struct {
	keys   []resultKey
	values []item
}

// result finds the key columns in the SELECT list: each key expression of the
// grouped, joined or repartitioned input must be there exactly once.
func (s *selection) result() (*result, error) {
	if err := s.refuseLimit(); err != nil {
		return nil, err
	}
	if s.join != nil && len(s.groups) == 0 && len(s.partition) == 0 && !s.keyless {
		return s.joinResult()
	}
	keys := s.keyExpressions()
	if s.planner.flag(propertyNewPlanner) && len(s.groups) == 0 && s.scope.inputs[0].source.Kind == catalog.Stream {
		return s.freeResult(keys), nil
	}
	r := &result{}
	taken := map[int]bool{}
	for _, key := range keys {
		at, err := s.keyItem(key)
		if err != nil {
			return nil, err
		}
		taken[at] = true
		r.keys = append(r.keys, resultKey{name: s.items[at].name, value: s.items[at].expr})
	}
	s.addValues(r, taken)
	return r, s.checkValues(r)
}

// keyExpressions are what the result's key is made of, over the refs of SELECT.
func (s *selection) keyExpressions() []expr.Expr {
	switch {
	case len(s.groups) > 0:
		keys := make([]expr.Expr, len(s.groups))
		for i, g := range s.groups {
			id := s.scope.add(ref{kind: groupRef, name: g.String(), t: g.Type(), at: i})
			keys[i] = expr.NewColumn(id, g.String(), g.Type())
		}
		return keys
	case s.keyless:
		return nil
	case len(s.partition) > 0:
		return s.partition
	}
	var keys []expr.Expr
	for _, c := range s.scope.inputs[0].source.Key {
		id := s.scope.add(ref{kind: keyRef, input: 0, name: c.Name, t: c.Type})
		keys = append(keys, expr.NewColumn(id, c.Name, c.Type))
	}
	return keys
}

// keyItem is the one SELECT item that is the key expression.
func (s *selection) keyItem(key expr.Expr) (int, error) {
	found := -1
	for i, it := range s.items {
		if !expr.Equal(it.expr, key) {
			continue
		}
		if found >= 0 {
			return 0, types.Errorf(types.CodeKey, "key column %s is selected twice", key).At(it.position).
				WithHint("write AS_VALUE(%s) for a copy in the value", key)
		}
		found = i
	}
	if found < 0 {
		return 0, types.Errorf(types.CodeKey, "the result's key %s is missing in SELECT", key).At(s.at()).
			WithHint("add it to the SELECT list")
	}
	return found, nil
}

// joinResult picks the key of a join: the first side of ON that is a plain
// column and is selected. Its value is that of the left side, which is there
// also where the right side is padded.
func (s *selection) joinResult() (*result, error) {
	viable := []expr.Expr{s.join.left, s.join.right}
	for _, side := range viable {
		if _, plain := s.plainColumn(side); !plain {
			continue
		}
		for i, it := range s.items {
			if !expr.Equal(it.expr, side) {
				continue
			}
			if _, err := s.keyItem(side); err != nil {
				return nil, err
			}
			r := &result{keys: []resultKey{{name: it.name, value: s.joinKeyValue()}}}
			s.addValues(r, map[int]bool{i: true})
			return r, s.checkValues(r)
		}
	}
	var names []string
	for _, side := range viable {
		if _, plain := s.plainColumn(side); plain {
			names = append(names, side.String())
		}
	}
	return nil, types.Errorf(types.CodeKey, "the join's key is missing in SELECT").At(s.at()).
		WithHint("add %s to the SELECT list", strings.Join(names, " or "))
}

// joinKeyValue reads the join's key; the physical plan knows its column.
func (s *selection) joinKeyValue() expr.Expr {
	t := s.join.left.Type()
	return expr.NewColumn(s.scope.add(ref{kind: joinKeyRef, name: "ROWKEY", t: t}), s.join.left.String(), t)
}

// freeResult takes as key what is selected of it, in the order of the list.
func (s *selection) freeResult(keys []expr.Expr) *result {
	r := &result{}
	taken := map[int]bool{}
	for i, it := range s.items {
		for _, key := range keys {
			if expr.Equal(it.expr, key) {
				taken[i] = true
				r.keys = append(r.keys, resultKey{name: it.name, value: it.expr})
				break
			}
		}
	}
	if len(r.keys) < len(keys) {
		r.keys, taken = nil, map[int]bool{}
	}
	s.addValues(r, taken)
	return r
}

func (s *selection) addValues(r *result, taken map[int]bool) {
	for i, it := range s.items {
		if !taken[i] {
			r.values = append(r.values, it)
		}
	}
}

// table tells whether the result is a table.
func (s *selection) table() bool {
	return len(s.groups) > 0 || s.join == nil && s.scope.inputs[0].source.Kind == catalog.Table
}

func (s *selection) checkValues(r *result) error {
	if len(r.values) == 0 {
		return types.Errorf(types.CodeKey, "the result has only key columns").At(s.at()).
			WithHint("select a value column as well")
	}
	return nil
}
