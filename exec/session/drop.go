package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"millrace/kafkaio"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// drop executes DROP STREAM, TABLE, TYPE and FUNCTION.
func (s *Session) drop(ctx context.Context, n *ast.Drop) (*Result, error) {
	switch n.What {
	case "TYPE":
		return s.dropType(n)
	case "STREAM", "TABLE":
		return s.dropSource(ctx, n)
	case "FUNCTION":
		return s.dropFunction(n)
	case "CONNECTOR":
		return nil, noConnectors(n.Position)
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
	if n.DeleteTopic {
		if err := s.checkOtherSources(source, n); err != nil {
			return nil, err
		}
	}
	if err := s.checkUnused(source, n); err != nil {
		return nil, err
	}
	if n.DeleteTopic {
		// First, since a registry may be out of reach, and what reads or writes the
		// topic until it goes finds the schemas by their ids.
		if err := s.deleteSchemas(ctx, source); err != nil {
			return nil, err
		}
	}
	if err := s.endWriter(ctx, source); err != nil {
		return nil, err
	}
	s.catalog.DropSource(n.Name)
	if n.DeleteTopic && s.options.Log != nil {
		if err := s.deleteTopic(ctx, source.Topic); err != nil {
			return nil, fmt.Errorf("%s is dropped, but deleting its topic %s failed: %w", n.Name, source.Topic, err)
		}
	}
	return &Result{Message: fmt.Sprintf("%s %s is dropped.", title(source.Kind), n.Name)}, nil
}

// checkOtherSources refuses to delete a topic that another source is declared over.
func (s *Session) checkOtherSources(source *catalog.Source, n *ast.Drop) error {
	for _, other := range s.catalog.Sources() {
		if other.Name != source.Name && other.Topic == source.Topic {
			return types.Errorf(types.CodeStatement, "topic %s is also that of %s", source.Topic, other.Name).
				At(n.Position).WithHint("leave DELETE TOPIC out, or drop %s first", other.Name)
		}
	}
	return nil
}

// deleteTopic deletes a topic, if it is there. The session's producer goes with
// it: the numbers that it gives to batches say nothing to a new topic of the name.
func (s *Session) deleteTopic(ctx context.Context, topic string) error {
	if s.producer != nil {
		if err := s.producer.Close(); err != nil {
			return err
		}
		s.producer = nil
	}
	if err := s.options.Log.DeleteTopic(ctx, topic); err != nil && !errors.Is(err, kafkaio.ErrUnknownTopic) {
		return err
	}
	return nil
}

// checkUnused refuses a drop of what queries use, other than the one that made the
// source or keeps its rows.
func (s *Session) checkUnused(source *catalog.Source, n *ast.Drop) error {
	for _, q := range s.catalog.Queries() {
		if q.ID == source.CreatedBy || q.ID == source.KeptBy {
			continue
		}
		switch {
		case q.Sink == n.Name:
			return types.Errorf(types.CodeStatement, "query %s writes to %s", q.ID, n.Name).At(n.Position).
				WithHint("end it first: TERMINATE %s", q.ID)
		case slices.Contains(q.Sources, n.Name):
			return types.Errorf(types.CodeStatement, "query %s reads %s", q.ID, n.Name).At(n.Position).
				WithHint("drop %s first, or end the query: TERMINATE %s", q.Sink, q.ID)
		}
	}
	return nil
}

// endWriter ends the query that made the source, or keeps its rows, for good.
func (s *Session) endWriter(ctx context.Context, source *catalog.Source) error {
	for _, id := range []string{source.CreatedBy, source.KeptBy} {
		if _, runs := s.catalog.Query(id); !runs {
			continue
		}
		if err := s.terminate(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
