package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"millrace/planner"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// control executes TERMINATE, PAUSE and RESUME of a query or of ALL.
func (s *Session) control(ctx context.Context, n *ast.Control) (*Result, error) {
	queries := s.catalog.Queries()
	if n.Verb == "TERMINATE" && n.QueryID == "ALL" {
		queries = slices.DeleteFunc(queries, func(q *catalog.Query) bool { return s.keptBy(q.ID) != nil })
	}
	if n.QueryID != "ALL" {
		q, ok := s.catalog.Query(n.QueryID)
		if !ok {
			return nil, s.unknownQuery(n.QueryID, n.Position)
		}
		if table := s.keptBy(q.ID); table != nil && n.Verb == "TERMINATE" {
			return nil, types.Errorf(types.CodeStatement, "query %s keeps the rows of the SOURCE TABLE %s and ends with it", q.ID, table.Name).
				At(n.Position).WithHint("drop the table: DROP TABLE %s", table.Name)
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

// terminate ends a query for good: its positions, its state and its internal
// topics are deleted. What it filled stays, and nothing fills it any more.
func (s *Session) terminate(ctx context.Context, id string) error {
	if s.options.Engine != nil {
		if err := s.options.Engine.Drop(ctx, id); err != nil {
			return err
		}
	}
	delete(s.paused, id)
	delete(s.plans, id)
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
