package session

import (
	"context"
	"errors"
	"strconv"

	"millrace/kafkaio/registry"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// assertedID reads the id of ASSERT SCHEMA; 0 where it gives none.
func (s *Session) assertedID(n *ast.Assert) (int32, error) {
	if s.options.Registry == nil && s.options.Log != nil {
		return 0, types.Errorf(types.CodeProperty, "ASSERT SCHEMA needs a schema registry").At(n.Position).
			WithHint("start with --set '%s=http://HOST:8081'", RegistryProperty)
	}
	if n.SchemaID == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(n.SchemaID, 10, 32)
	if err != nil || id < 1 {
		return 0, types.Errorf(types.CodeValue, "a schema's id is a whole number of at least 1, not %s", n.SchemaID).At(n.Position)
	}
	return int32(id), nil
}

// assertSchema looks once; fault says what is not as asserted.
func (s *Session) assertSchema(ctx context.Context, n *ast.Assert, id int32) (fault *types.Error, err error) {
	var has bool
	if n.Name != "" {
		has, err = s.options.Registry.Has(ctx, n.Name, id)
	} else {
		_, err = s.options.Registry.Schema(ctx, id)
		if has = err == nil; errors.Is(err, registry.ErrUnknown) {
			err = nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case has && n.Not:
		return types.Errorf(types.CodeStatement, "%s exists", asserted(n)), nil
	case !has && !n.Not:
		return types.Errorf(types.CodeStatement, "%s does not exist", asserted(n)), nil
	}
	return nil, nil
}
