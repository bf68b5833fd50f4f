package session

import (
	"context"

	"millrace/planner/catalog"
)

// materialize starts the query that keeps the rows of a SOURCE TABLE; other
// sources have none.
func (s *Session) materialize(ctx context.Context, source *catalog.Source) error {
	if !keepsRows(source) {
		return nil
	}
	query := s.planner(ctx).Materialize(source)
	if err := s.start(ctx, query); err != nil {
		return err
	}
	source.KeptBy = query.ID
	s.catalog.PutQuery(&catalog.Query{ID: query.ID, Statement: source.Statement, Sources: query.Sources})
	return nil
}

// keepsRows tells whether a declaration has a query that keeps its rows.
func keepsRows(source *catalog.Source) bool { return source.ReadOnly && source.Kind == catalog.Table }

// keptBy is the table whose rows a query keeps, nil if it is another query.
func (s *Session) keptBy(query string) *catalog.Source {
	for _, source := range s.catalog.Sources() {
		if source.KeptBy == query {
			return source
		}
	}
	return nil
}

// rowCounter is an Engine that knows how many rows a query keeps.
type rowCounter interface {
	// Rows counts the rows that a query keeps; known is false if not all of them
	// can be counted.
	Rows(ctx context.Context, id string) (rows int64, known bool)
}

// rows counts the rows of a SOURCE TABLE as far as its topic was read.
func (s *Session) rows(ctx context.Context, source *catalog.Source) (rows int64, known bool) {
	counter, ok := s.options.Engine.(rowCounter)
	if !ok || source.KeptBy == "" {
		return 0, false
	}
	return counter.Rows(ctx, source.KeptBy)
}
