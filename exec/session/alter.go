package session

import (
	"context"
	"fmt"
	"strings"

	"millrace/sql/ast"
)

// alter executes ALTER STREAM and TABLE .. ADD COLUMN.
func (s *Session) alter(ctx context.Context, n *ast.AlterSource, text string) (*Result, error) {
	source, err := s.planner(ctx).Alter(n, text)
	if err != nil {
		return nil, err
	}
	if source.ValueFormat.SchemaID = 0; !source.ValueFormat.SchemaGiven {
		if err := s.registerSchemas(ctx, source, true); err != nil {
			return nil, err
		}
	}
	s.catalog.PutSource(source)
	names := make([]string, len(n.Add))
	for i, c := range n.Add {
		names[i] = c.Name
	}
	return &Result{Message: fmt.Sprintf("%s %s has %s now.", title(source.Kind), source.Name, strings.Join(names, ", "))}, nil
}
