package op

import (
	"fmt"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/planner/plan"
)

// unnest gives each row once for every element of its arrays, side by side:
// as many rows as the longest array has elements, null where another has ended.
// A row whose arrays are all null or empty gives none.
type unnest struct {
	next    Operator
	kernels []expr.Kernel
	arrays  []*column.Vector
	width   int // columns of the input
	out     column.Batch
	source  []int32 // of each row put out, the row of the input
	element []int32 // and the number of its element
	offsets []int64
	times   []int64
	headers [][]byte
}

func newUnnest(node *plan.Unnest, env *Environment, next Operator) (*unnest, error) {
	if node.Output.Changes {
		return nil, fmt.Errorf("a table cannot be unnested")
	}
	kernels, err := compileAll(node.Arrays, env.Expressions)
	if err != nil {
		return nil, err
	}
	u := &unnest{
		next: next, kernels: kernels, arrays: make([]*column.Vector, len(kernels)),
		width: len(node.Input.Schema().Columns),
	}
	for _, c := range node.Output.Columns {
		u.out.Columns = append(u.out.Columns, column.New(c.Type, 0))
	}
	return u, nil
}

// Push implements Operator.
func (u *unnest) Push(_ int, b *column.Batch) error {
	for k, kernel := range u.kernels {
		u.arrays[k] = kernel.Eval(b, b.Selection)
	}
	u.source, u.element = u.source[:0], u.element[:0]
	for _, i := range b.Selection {
		if !b.Present.Get(int(i)) {
			continue
		}
		for e := range u.longest(int(i)) {
			if len(u.source) == column.MaxRows {
				if err := u.emit(b); err != nil {
					return err
				}
			}
			u.source, u.element = append(u.source, i), append(u.element, e)
		}
	}
	return u.emit(b)
}

func (u *unnest) longest(i int) int32 {
	most := int32(0)
	for _, v := range u.arrays {
		if !v.Null(i) {
			most = max(most, v.Spans[i].Len)
		}
	}
	return most
}

// emit hands the collected rows on.
func (u *unnest) emit(b *column.Batch) error {
	n := len(u.source)
	if n == 0 {
		return nil
	}
	o := &u.out
	o.Len, o.Partition, o.Arena = n, b.Partition, b.Arena
	o.Present = o.Present.Resize(n)
	o.Present.Fill(n, true)
	for c, v := range o.Columns[:u.width] {
		v.Reset(n)
		for row, i := range u.source {
			v.CopyRow(row, b.Columns[c], int(i))
		}
	}
	for k, v := range o.Columns[u.width:] {
		v.Reset(n)
		u.fill(v, u.arrays[k])
	}
	u.copyRecords(b)
	o.SelectAll()
	u.source, u.element = u.source[:0], u.element[:0]
	return u.next.Push(0, o)
}

func (u *unnest) fill(v, array *column.Vector) {
	elements := array.Children[0]
	for row, i := range u.source {
		if array.Null(int(i)) {
			continue
		}
		if span := array.Spans[i]; u.element[row] < span.Len {
			v.CopyRow(row, elements, int(span.Start+u.element[row]))
		}
	}
}

// copyRecords gives each row its record's time, offset and headers.
func (u *unnest) copyRecords(b *column.Batch) {
	u.times, u.offsets, u.headers = u.times[:0], u.offsets[:0], u.headers[:0]
	for _, i := range u.source {
		u.times = append(u.times, b.Times[i])
		if b.Offsets != nil {
			u.offsets = append(u.offsets, b.Offsets[i])
		}
		if b.Headers != nil {
			u.headers = append(u.headers, b.Headers[i])
		}
	}
	u.out.Times, u.out.Offsets, u.out.Headers = u.times, nil, nil
	if b.Offsets != nil {
		u.out.Offsets = u.offsets
	}
	if b.Headers != nil {
		u.out.Headers = u.headers
	}
}

// Flush implements Operator.
func (u *unnest) Flush() error { return nil }
