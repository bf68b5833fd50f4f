package session

import (
	"context"

	"millrace/planner"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// explain executes EXPLAIN: it plans a statement against a copy of the catalog
// and shows the plan, or shows that of a query that runs.
func (s *Session) explain(ctx context.Context, n *ast.Explain) (*Result, error) {
	dry := &planner.Planner{Catalog: s.catalog.Clone(), Formats: s.formats(ctx), Service: s.options.Service}
	var query *plan.Query
	var err error
	switch statement := n.Statement.(type) {
	case nil:
		return s.explainQuery(n)
	case *ast.CreateSource:
		if statement.Query == nil {
			query, err = explainDeclaration(dry, statement, n.Position)
			break
		}
		var creation *planner.Creation
		if creation, err = dry.CreateAs(statement, ""); err == nil {
			query = creation.Query
		}
	case *ast.QueryStatement:
		var look *planner.Look
		if look, err = dry.Look(statement, "LOOK"); err == nil {
			query = look.Query
		}
	case *ast.InsertQuery:
		query, err = dry.Insert(statement, "")
	default:
		return nil, types.Unsupported("EXPLAIN of this statement").At(n.Position)
	}
	if err != nil {
		return nil, err
	}
	return &Result{Text: query.Explain()}, nil
}

// explainDeclaration plans the query that keeps the rows of a SOURCE TABLE; no
// other declaration has one.
func explainDeclaration(dry *planner.Planner, n *ast.CreateSource, at types.Position) (*plan.Query, error) {
	d, err := dry.Declare(n, "")
	switch {
	case err != nil:
		return nil, err
	case d.Exists:
		return nil, types.Errorf(types.CodeStatement, "%s exists already, so the statement would do nothing", n.Name).At(at)
	case !keepsRows(d.Source):
		return nil, types.Errorf(types.CodeStatement, "EXPLAIN needs a query; this statement declares a source").At(at)
	}
	return dry.Materialize(d.Source), nil
}

func (s *Session) explainQuery(n *ast.Explain) (*Result, error) {
	running, ok := s.catalog.Query(n.QueryID)
	if !ok {
		return nil, s.unknownQuery(n.QueryID, n.Position)
	}
	if plan, ok := s.plans[running.ID]; ok {
		return &Result{Text: plan.Explain()}, nil
	}
	return nil, types.Errorf(types.CodeStatement, "the plan of query %s is not known here", n.QueryID).At(n.Position)
}
