package planner

import (
	"slices"
	"strings"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// Rows are constant rows to write to a source: one vector a key and value
// column, in declared order.
type Rows struct {
	Source *catalog.Source
	Len    int
	Key    []*column.Vector
	Value  []*column.Vector
	// Times has the given ROWTIME of each row, or is nil.
	Times []int64
}

// target finds a source that a statement wants to write to.
func (p *Planner) target(name string, at types.Position) (*catalog.Source, error) {
	source, err := p.source(name, at)
	if err != nil {
		return nil, err
	}
	if source.ReadOnly {
		return nil, types.Errorf(types.CodeStatement, "%s was declared with SOURCE and can only be read", name).At(at)
	}
	if len(source.Headers) > 0 {
		return nil, types.Errorf(types.CodeStatement, "%s has header columns, which cannot be written", name).At(at)
	}
	return source, nil
}

// InsertValues plans INSERT INTO .. VALUES: the values are computed here.
func (p *Planner) InsertValues(s *ast.InsertValues) (*Rows, error) {
	source, err := p.target(s.Target, s.Position)
	if err != nil {
		return nil, err
	}
	if source.Window != nil {
		return nil, types.Unsupported("INSERT VALUES into a windowed source").At(s.Position)
	}
	names, err := insertColumns(s, source)
	if err != nil {
		return nil, err
	}
	statement, ok := s.Rows.Node.(*tidb.SelectStmt)
	if !ok {
		return nil, types.Errorf(types.CodeSyntax, "INSERT needs VALUES").At(s.Position)
	}
	rows := newRows(source, len(statement.Fields.Fields))
	b := &binder{planner: p, query: s.Rows, scope: &scope{}, where: "VALUES"}
	for i, field := range statement.Fields.Fields {
		values, ok := field.Expr.(*ast.Form)
		if !ok || len(values.Args) != len(names) {
			return nil, types.Errorf(types.CodeStatement, "a row has %s for the %s %s", Counted(rowLength(values), "value"),
				Counted(len(names), "column"), strings.Join(names, ", ")).At(s.Rows.Locate(field.Offset))
		}
		for k, n := range values.Args {
			if err := rows.set(b, names[k], i, n); err != nil {
				return nil, err
			}
		}
	}
	return rows, rows.checkKeys(s.Position)
}

func rowLength(row *ast.Form) int {
	if row == nil {
		return 0
	}
	return len(row.Args)
}

// insertColumns are the names of the columns that the rows fill: those listed,
// or all of the source.
func insertColumns(s *ast.InsertValues, source *catalog.Source) ([]string, error) {
	if len(s.Columns) == 0 {
		return columnNames(source), nil
	}
	for i, name := range s.Columns {
		at := s.Position
		if i < len(s.Positions) {
			at = s.Positions[i]
		}
		if slices.Contains(s.Columns[:i], name) {
			return nil, types.Errorf(types.CodeName, "column %s is listed twice", name).At(at)
		}
		if name == "ROWTIME" {
			continue
		}
		if _, _, ok := source.Column(name); !ok {
			e := types.Errorf(types.CodeName, "column %s does not exist in %s", name, source.Name).At(at)
			if near := types.Nearest(name, columnNames(source)); near != "" {
				return nil, e.WithHint("did you mean %s?", near)
			}
			return nil, e.WithHint("the columns are %s", strings.Join(columnNames(source), ", "))
		}
	}
	return s.Columns, nil
}

func newRows(source *catalog.Source, n int) *Rows {
	r := &Rows{Source: source, Len: n}
	for _, c := range source.Key {
		r.Key = append(r.Key, column.New(c.Type, n))
	}
	for _, c := range source.Value {
		r.Value = append(r.Value, column.New(c.Type, n))
	}
	return r
}

// vector is the vector of a column; nil for ROWTIME.
func (r *Rows) vector(name string) *column.Vector {
	for i, c := range r.Source.Key {
		if c.Name == name {
			return r.Key[i]
		}
	}
	for i, c := range r.Source.Value {
		if c.Name == name {
			return r.Value[i]
		}
	}
	return nil
}

func (r *Rows) set(b *binder, name string, i int, n tidb.ExprNode) error {
	e, err := b.bind(n)
	if err != nil {
		return err
	}
	v := r.vector(name)
	t := types.Bigint
	if v != nil {
		t = v.Type
	}
	assigned, err := expr.Assign(e, t)
	if err == nil {
		var value *column.Vector
		if value, err = expr.Evaluate(assigned, &expr.Environment{}); err == nil {
			r.store(v, i, value)
			return nil
		}
	}
	if fault, ok := err.(*types.Error); ok { //nolint:errorlint // expr returns it bare
		fault.Message = "column " + name + ": " + fault.Message
		return fault.At(b.at(n))
	}
	return types.Errorf(types.CodeValue, "column %s: %v", name, err).At(b.at(n))
}

func (r *Rows) store(v *column.Vector, i int, value *column.Vector) {
	if v != nil {
		v.CopyRow(i, value, 0)
		return
	}
	if r.Times == nil {
		r.Times = make([]int64, r.Len)
	}
	r.Times[i] = value.Ints[0]
}

func (r *Rows) checkKeys(at types.Position) error {
	if r.Source.Kind != catalog.Table {
		return nil
	}
	for k, v := range r.Key {
		for i := range r.Len {
			if v.Null(i) {
				return types.Errorf(types.CodeKey, "the primary key %s of table %s cannot be null", r.Source.Key[k].Name, r.Source.Name).At(at)
			}
		}
	}
	return nil
}
