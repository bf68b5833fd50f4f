package session

import (
	"context"
	"fmt"
	"strings"

	"millrace/exec/fn"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// createFunction executes CREATE FUNCTION. Queries and functions that use an
// earlier one of the name keep what they have.
func (s *Session) createFunction(ctx context.Context, n *ast.CreateFunction, text string) (*Result, error) {
	f, err := s.planner(ctx).CreateFunction(n, text)
	if err != nil {
		return nil, err
	}
	s.catalog.PutFunction(f)
	return &Result{Message: fmt.Sprintf("Function %s is created.", f.Signature())}, nil
}

// dropFunction executes DROP FUNCTION.
func (s *Session) dropFunction(n *ast.Drop) (*Result, error) {
	name := strings.ToUpper(n.Name)
	if _, ok := s.catalog.Function(name); !ok {
		if _, builtIn := fn.Lookup(name); builtIn || fn.IsAggregate(name) {
			return nil, types.Errorf(types.CodeStatement, "%s is a function of millrace's own and cannot be dropped", name).At(n.Position)
		}
		if n.IfExists {
			return &Result{Message: fmt.Sprintf("There is no function %s; nothing was done.", name)}, nil
		}
		return nil, types.Errorf(types.CodeName, "function %s does not exist", name).At(n.Position)
	}
	s.catalog.DropFunction(name)
	return &Result{Message: fmt.Sprintf("Function %s is dropped; queries that use it run on.", name)}, nil
}
