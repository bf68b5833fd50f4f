package planner

import (
	"slices"
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// Alter plans ALTER STREAM or TABLE .. ADD COLUMN: the declaration with value
// columns added at its end. Queries that run keep the columns that they began with.
func (p *Planner) Alter(s *ast.AlterSource, text string) (*catalog.Source, error) {
	old, err := p.source(s.Name, s.Position)
	if err != nil {
		return nil, err
	}
	kind := strings.ToLower(string(old.Kind))
	switch {
	case string(old.Kind) != string(s.Kind):
		return nil, types.Errorf(types.CodeStatement, "%s is a %s", s.Name, kind).At(s.Position).WithHint("use ALTER %s", old.Kind)
	case old.ReadOnly:
		return nil, types.Errorf(types.CodeStatement, "a SOURCE %s cannot be altered", kind).At(s.Position)
	case old.CreatedBy != "":
		return nil, types.Errorf(types.CodeStatement, "%s is filled by a query, which gives it its columns", s.Name).At(s.Position).
			WithHint("use CREATE OR REPLACE %s %s AS SELECT", old.Kind, s.Name)
	}
	altered := *old
	altered.Value = slices.Clone(old.Value)
	altered.Statement = old.Statement + ";\n" + text
	for _, c := range s.Add {
		if err := p.addColumn(&altered, c); err != nil {
			return nil, err
		}
	}
	if altered.ValueFormat.Unwrapped {
		return nil, types.Errorf(types.CodeStatement, "the values of %s stand bare, which takes a single column", s.Name).At(s.Position).
			WithHint("declare it anew without WRAP_SINGLE_VALUE=false")
	}
	altered.ValueFormat.Wrapping = ""
	return &altered, p.checkFormat(altered.ValueFormat, false, altered.Value, s.Position)
}

func (p *Planner) addColumn(source *catalog.Source, c ast.ColumnDefinition) error {
	if slices.Contains(reservedColumns, c.Name) {
		return types.Errorf(types.CodeName, "%s is a pseudo column and cannot be declared", c.Name).At(c.Position)
	}
	if _, _, taken := source.Column(c.Name); taken {
		return types.Errorf(types.CodeName, "%s has a column %s already", source.Name, c.Name).At(c.Position)
	}
	t, err := p.ResolveType(c.Type)
	if err != nil {
		return err
	}
	return declareColumn(source, c, t)
}
