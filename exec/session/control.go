package session

import (
	"context"
	"fmt"
	"strings"

	"millrace/planner"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// control executes TERMINATE, PAUSE and RESUME of a query or of ALL.
func (s *Session) control(ctx context.Context, n *ast.Control) (*Result, error) {
	queries := s.catalog.Queries()
	if n.QueryID != "ALL" {
		q, ok := s.catalog.Query(n.QueryID)
		if !ok {
			return nil, s.unknownQuery(n.QueryID, n.Position)
		}
		queries = []*catalog.Query{q}
	}
	steer, done := s.terminate, "terminated"
	switch n.Verb {
	case "PAUSE":
		steer, done = func(_ context.Context, id string) error { return s.pause(id) }, "paused"
	case "RESUME":
		steer, done = func(_ context.Context, id string) error { return s.resume(id) }, "resumed"
	}
	for _, q := range queries {
		if err := steer(ctx, q.ID); err != nil {
			return nil, err
		}
	}
	if n.QueryID != "ALL" {
		return &Result{Message: fmt.Sprintf("Query %s is %s.", n.QueryID, done)}, nil
	}
	if len(queries) == 0 {
		return &Result{Message: "There is no query."}, nil
	}
	return &Result{Message: fmt.Sprintf("%s %s %s.", planner.Counted(len(queries), "query"), areOrIs(int64(len(queries))), done)}, nil
}

func (s *Session) unknownQuery(id string, at types.Position) error {
	var ids []string
	for _, q := range s.catalog.Queries() {
		ids = append(ids, q.ID)
	}
	e := types.Errorf(types.CodeName, "query %s does not exist", id).At(at)
	if len(ids) == 0 {
		return e.WithHint("no query runs")
	}
	return e.WithHint("the queries are %s", strings.Join(ids, ", "))
}

// terminate ends a query. What it filled stays, and nothing fills it any more.
func (s *Session) terminate(ctx context.Context, id string) error {
	if err := s.stop(ctx, id); err != nil {
		return err
	}
	delete(s.paused, id)
	s.catalog.DropQuery(id)
	return nil
}

func (s *Session) pause(id string) error {
	if s.options.Engine != nil {
		if err := s.options.Engine.Pause(id); err != nil {
			return err
		}
	}
	s.paused[id] = true
	return nil
}

func (s *Session) resume(id string) error {
	if s.options.Engine != nil {
		if err := s.options.Engine.Resume(id); err != nil {
			return err
		}
	}
	delete(s.paused, id)
	return nil
}
