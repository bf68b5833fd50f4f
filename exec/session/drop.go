package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// drop executes DROP STREAM, TABLE and TYPE.
func (s *Session) drop(ctx context.Context, n *ast.Drop) (*Result, error) {
	switch n.What {
	case "TYPE":
		return s.dropType(n)
	case "STREAM", "TABLE":
		return s.dropSource(ctx, n)
	case "CONNECTOR":
		return nil, refusal(&ast.CreateConnector{Position: n.Position})
	}
	return nil, types.Unsupported("DROP " + n.What).At(n.Position)
}

func (s *Session) dropType(n *ast.Drop) (*Result, error) {
	if _, ok := s.catalog.Type(n.Name); !ok {
		if n.IfExists {
			return &Result{Message: fmt.Sprintf("There is no type %s; nothing was done.", n.Name)}, nil
		}
		return nil, types.Errorf(types.CodeName, "type %s does not exist", n.Name).At(n.Position)
	}
	s.catalog.DropType(n.Name)
	return &Result{Message: fmt.Sprintf("Type %s is dropped.", n.Name)}, nil
}

func (s *Session) dropSource(ctx context.Context, n *ast.Drop) (*Result, error) {
	source, ok := s.catalog.Source(n.Name)
	if !ok {
		if n.IfExists {
			return &Result{Message: fmt.Sprintf("There is no %s %s; nothing was done.", strings.ToLower(n.What), n.Name)}, nil
		}
		return nil, types.Errorf(types.CodeName, "%s %s does not exist", strings.ToLower(n.What), n.Name).At(n.Position)
	}
	if string(source.Kind) != n.What {
		return nil, types.Errorf(types.CodeStatement, "%s is a %s", n.Name, strings.ToLower(string(source.Kind))).At(n.Position).
			WithHint("use DROP %s", source.Kind)
	}
	if source.ReadOnly && n.DeleteTopic {
		return nil, types.Errorf(types.CodeStatement, "the topic of a SOURCE %s cannot be deleted", strings.ToLower(n.What)).At(n.Position)
	}
	if err := s.stopWriter(ctx, source, n); err != nil {
		return nil, err
	}
	s.catalog.DropSource(n.Name)
	if n.DeleteTopic {
		if err := s.options.Log.DeleteTopic(ctx, source.Topic); err != nil {
			return nil, fmt.Errorf("%s is dropped, but deleting its topic %s failed: %w", n.Name, source.Topic, err)
		}
	}
	return &Result{Message: fmt.Sprintf("%s %s is dropped.", title(source.Kind), n.Name)}, nil
}

// stopWriter ends the query that made the source. Other queries that use it
// forbid the drop.
func (s *Session) stopWriter(ctx context.Context, source *catalog.Source, n *ast.Drop) error {
	for _, q := range s.catalog.Queries() {
		if q.ID != source.CreatedBy && (q.Sink == n.Name || slices.Contains(q.Sources, n.Name)) {
			return types.Errorf(types.CodeStatement, "query %s uses %s", q.ID, n.Name).At(n.Position).
				WithHint("drop what the query fills first")
		}
	}
	if source.CreatedBy == "" {
		return nil
	}
	if s.options.Engine != nil {
		if err := s.options.Engine.Stop(ctx, source.CreatedBy); err != nil {
			return err
		}
	}
	s.catalog.DropQuery(source.CreatedBy)
	return nil
}
