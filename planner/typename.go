package planner

import (
	"strconv"

	"millrace/sql/ast"
	"millrace/sql/types"
)

var simpleTypes = map[string]*types.Type{
	"BOOLEAN": types.Boolean, "INT": types.Integer, "INTEGER": types.Integer, "BIGINT": types.Bigint,
	"DOUBLE": types.Double, "VARCHAR": types.String, "STRING": types.String, "BYTES": types.Bytes,
	"DATE": types.Date, "TIME": types.Time, "TIMESTAMP": types.Timestamp,
}

// ResolveType finds the type that a name as written stands for.
func (p *Planner) ResolveType(name *ast.TypeName) (*types.Type, error) {
	if name.Quoted {
		return p.customType(name)
	}
	switch name.Name {
	case "DECIMAL":
		return decimalType(name)
	case "ARRAY":
		elem, err := p.ResolveType(name.Elements[0])
		if err != nil {
			return nil, err
		}
		return types.ArrayOf(elem), nil
	case "MAP":
		key, err := p.ResolveType(name.Elements[0])
		if err != nil {
			return nil, err
		}
		value, err := p.ResolveType(name.Elements[1])
		if err != nil {
			return nil, err
		}
		return types.MapOf(key, value), nil
	case "STRUCT":
		return p.structType(name)
	}
	if t, ok := simpleTypes[name.Name]; ok {
		return t, nil
	}
	return p.customType(name)
}

func (p *Planner) customType(name *ast.TypeName) (*types.Type, error) {
	if t, ok := p.Catalog.Type(name.Name); ok {
		return t, nil
	}
	e := types.Errorf(types.CodeType, "type %s does not exist", name.Name).At(name.Position)
	known := p.Catalog.Types()
	for n := range simpleTypes {
		known = append(known, n)
	}
	known = append(known, "DECIMAL", "ARRAY", "MAP", "STRUCT")
	if near := types.Nearest(name.Name, known); near != "" {
		return nil, e.WithHint("did you mean %s?", near)
	}
	return nil, e.WithHint("create it with CREATE TYPE %s AS ..", name.Name)
}

func (p *Planner) structType(name *ast.TypeName) (*types.Type, error) {
	fields := make([]types.Field, len(name.Fields))
	for i, field := range name.Fields {
		t, err := p.ResolveType(name.Elements[i])
		if err != nil {
			return nil, err
		}
		for _, earlier := range fields[:i] {
			if earlier.Name == field {
				return nil, types.Errorf(types.CodeName, "field %s stands twice in a STRUCT", field).At(name.Position)
			}
		}
		fields[i] = types.Field{Name: field, Type: t}
	}
	return types.StructOf(fields...), nil
}

func decimalType(name *ast.TypeName) (*types.Type, error) {
	precision, scale := types.MaxPrecision, 0
	var err error
	if len(name.Parameters) > 0 {
		precision, err = strconv.Atoi(name.Parameters[0])
	}
	if len(name.Parameters) > 1 && err == nil {
		scale, err = strconv.Atoi(name.Parameters[1])
	}
	if err != nil || precision < 1 || precision > types.MaxPrecision {
		return nil, types.Errorf(types.CodeType, "a DECIMAL has 1 to %d digits", types.MaxPrecision).At(name.Position)
	}
	if scale < 0 || scale > precision {
		return nil, types.Errorf(types.CodeType, "DECIMAL(%d, %d) has more digits behind the point than in all",
			precision, scale).At(name.Position)
	}
	return types.DecimalOf(precision, scale), nil
}
