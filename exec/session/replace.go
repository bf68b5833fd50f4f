package session

import (
	"context"
	"errors"
	"fmt"

	"millrace/planner"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// checkReplacement refuses a query that cannot go on with what the one of the same
// id has.
func (s *Session) checkReplacement(q *plan.Query, at types.Position) error {
	if _, runs := s.catalog.Query(q.ID); !runs {
		return nil
	}
	old, planned := s.plans[q.ID]
	if !planned {
		return types.Errorf(types.CodeStatement, "the plan of query %s is not known here, so it cannot be replaced", q.ID).At(at).
			WithHint("drop what it fills and create that again")
	}
	return planner.CheckQueryReplacement(old, q, at)
}

// replace lets a query, which was checked, take the place of the one of the same
// id: the old one is stopped after a commit, and the new one goes on from its
// positions and with its stores. If the new one does not start, the old one runs on.
func (s *Session) replace(ctx context.Context, q *plan.Query) error {
	if _, runs := s.catalog.Query(q.ID); !runs {
		return s.start(ctx, q) // it was terminated and left nothing to go on with
	}
	old := s.plans[q.ID]
	paused := s.paused[q.ID]
	if err := s.stop(ctx, q.ID); err != nil {
		return err
	}
	if err := s.start(ctx, q); err != nil {
		if again := s.start(ctx, old); again != nil {
			err = errors.Join(err, fmt.Errorf("query %s, which was to be replaced, does not run any more: %w", q.ID, again))
		}
		return err
	}
	if paused {
		return s.pause(q.ID)
	}
	return nil
}

func (s *Session) stop(ctx context.Context, id string) error {
	if s.options.Engine == nil {
		return nil
	}
	return s.options.Engine.Stop(ctx, id)
}
