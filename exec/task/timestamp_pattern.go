package task

import (
	"errors"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/sql/types"
)

// patternReader reads texts with the function PARSE_TIMESTAMP, so that a
// TIMESTAMP_FORMAT means exactly what the function's pattern does.
type patternReader struct {
	kernel expr.Kernel
	batch  column.Batch
	arena  column.Arena
	row    []int32
	fault  error
}

var errNoTime = errors.New("the text holds no timestamp")

// timestampParser reads texts by a Java pattern; without one, in the form that
// CAST to TIMESTAMP takes.
func timestampParser(pattern string) (func(text string) (int64, error), error) {
	if pattern == "" {
		return types.ParseTimestamp, nil
	}
	call, err := expr.NewCall("PARSE_TIMESTAMP", []expr.Argument{
		{Expr: expr.NewColumn(0, "TIMESTAMP", types.String)}, {Expr: expr.NewLiteral(pattern, types.String)},
	})
	if err != nil {
		return nil, err
	}
	p := &patternReader{row: []int32{0}}
	if p.kernel, err = expr.Compile(call, &expr.Environment{Errors: p}); err != nil {
		return nil, err
	}
	p.batch = column.Batch{Len: 1, Columns: []*column.Vector{column.New(types.String, 1)}, Arena: &p.arena}
	return p.parse, nil
}

// RowError implements column.Errors.
func (p *patternReader) RowError(_ *column.Batch, _ int, _ string, err error) { p.fault = err }

func (p *patternReader) parse(text string) (int64, error) {
	p.arena.Reset()
	p.fault = nil
	p.batch.Columns[0].SetText(0, text)
	result := p.kernel.Eval(&p.batch, p.row)
	switch {
	case p.fault != nil:
		return 0, p.fault
	case result.Null(0):
		return 0, errNoTime
	}
	return result.Ints[0], nil
}
