package planner

import (
	"fmt"
	"strings"

	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// Insert plans INSERT INTO stream SELECT: a query that writes to a stream that
// exists. The columns must be the stream's, in order; types may widen.
func (p *Planner) Insert(s *ast.InsertQuery, text string) (*plan.Query, error) {
	target, err := p.target(s.Target, s.Position)
	if err != nil {
		return nil, err
	}
	if target.Kind == catalog.Table {
		return nil, types.Errorf(types.CodeStatement, "INSERT INTO .. SELECT needs a stream; %s is a table", target.Name).At(s.Position)
	}
	ps, err := readProperties(s.Properties, []string{withQueryID})
	if err != nil {
		return nil, err
	}
	selected, err := p.analyse(s.Query)
	if err != nil {
		return nil, err
	}
	if selected.table() {
		return nil, types.Errorf(types.CodeStatement, "the result of this SELECT is a table; only a stream's rows can be inserted").At(s.Position)
	}
	r, err := selected.result()
	if err != nil {
		return nil, err
	}
	if err := matchWindow(selected.keyWindow(), target, s.Position); err != nil {
		return nil, err
	}
	if err := matchTarget(r, target, s.Position); err != nil {
		return nil, err
	}
	id, idAt, given := ps.text(withQueryID)
	if !given {
		beginning := "INSERTQUERY_" + idPart(target.Name)
		id = fmt.Sprintf("%s_%d", beginning, p.Catalog.NextQuery(beginning))
	}
	if err := checkQueryID(id, idAt); err != nil {
		return nil, err
	}
	id = strings.ToUpper(id)
	if _, taken := p.Catalog.Query(id); taken {
		return nil, types.Errorf(types.CodeStatement, "a query called %s runs already", id).At(s.Position)
	}
	query, err := p.buildQuery(selected, r, id, target, ps)
	if err != nil {
		return nil, err
	}
	query.Statement = text
	return query, p.refuseCircle(query, target, s.Position)
}

// matchWindow refuses keys with a window for a target without one, and the
// reverse: the window is part of the key's bytes.
func matchWindow(window *catalog.KeyWindow, target *catalog.Source, at types.Position) error {
	if window == nil && target.Window == nil || window != nil && target.Window != nil && *window == *target.Window {
		return nil
	}
	text := func(w *catalog.KeyWindow) string {
		if w == nil {
			return "no window"
		}
		if w.Kind == catalog.Session {
			return "a SESSION window"
		}
		return fmt.Sprintf("a %s window of %s", w.Kind, plan.Millis(w.Size))
	}
	return types.Errorf(types.CodeKey, "the key of the SELECT has %s, that of %s %s", text(window), target.Name, text(target.Window)).At(at)
}

// matchTarget compares the result's columns with the target's and widens types.
func matchTarget(r *result, target *catalog.Source, at types.Position) error {
	if len(r.keys) != len(target.Key) || len(r.values) != len(target.Value) {
		return types.Errorf(types.CodeStatement, "the SELECT gives %d key and %d value columns, but %s has %d and %d",
			len(r.keys), len(r.values), target.Name, len(target.Key), len(target.Value)).At(at)
	}
	for i, c := range target.Key {
		if r.keys[i].name != c.Name || !types.Equal(r.keys[i].value.Type(), c.Type) {
			return mismatch(r.keys[i].name, r.keys[i].value.Type(), target, c, at)
		}
	}
	for i, c := range target.Value {
		if r.values[i].name != c.Name {
			return mismatch(r.values[i].name, r.values[i].expr.Type(), target, c, at)
		}
		widened, err := widen(r.values[i].expr, c.Type)
		if err != nil {
			return mismatch(r.values[i].name, r.values[i].expr.Type(), target, c, at)
		}
		r.values[i].expr = widened
	}
	return nil
}

// widen converts x to t without being asked to, as for a function's argument. A
// whole number also becomes a DECIMAL that may have too few digits for it: what
// does not fit is then null.
func widen(x expr.Expr, t *types.Type) (expr.Expr, error) {
	whole := x.Type().Kind == types.KindInteger || x.Type().Kind == types.KindBigint
	if whole && t.Kind == types.KindDecimal {
		return expr.NewCast(x, t)
	}
	return expr.Coerce(x, t)
}

func mismatch(name string, t *types.Type, target *catalog.Source, c catalog.Column, at types.Position) error {
	return types.Errorf(types.CodeType, "the SELECT gives %s %s where %s has %s %s", name, t, target.Name, c.Name, c.Type).At(at)
}
