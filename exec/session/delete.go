package session

import (
	"context"
	"fmt"

	"millrace/sql/ast"
)

// deleteRows executes DELETE FROM table: it writes a record with the key and
// without a value. Whether the table has such a row is not looked at.
func (s *Session) deleteRows(ctx context.Context, n *ast.DeleteRows) (*Result, error) {
	row, err := s.planner(ctx).Delete(n)
	if err != nil {
		return nil, err
	}
	if s.options.Log != nil {
		w, err := s.newWriter(ctx, row.Source, "row ")
		if err != nil {
			return nil, err
		}
		if err := w.append(ctx, row.Key, nil, 0, 1, s.options.Now()); err != nil {
			return nil, w.explain(w.abort(ctx, err))
		}
		if err := s.producer.Commit(ctx); err != nil {
			return nil, w.explain(fmt.Errorf("deleting from %s: %w", row.Source.Name, err))
		}
	}
	return &Result{Message: fmt.Sprintf("A delete of the key is written to %s.", row.Source.Name)}, nil
}
