package op

import (
	"slices"

	"millrace/exec/column"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// keyColumns are the columns that identify a row of a table: those of the key,
// and the bounds of its window.
func keyColumns(schema *plan.Schema) []int {
	key := slices.Clone(schema.Key)
	if schema.Window != nil {
		key = append(key, schema.WindowStart, schema.WindowEnd)
	}
	return key
}

// valueColumns are the columns that do not identify a row, and their types.
func valueColumns(schema *plan.Schema) (columns []int, kinds []*types.Type) {
	key := keyColumns(schema)
	for c, of := range schema.Columns {
		if !slices.Contains(key, c) {
			columns, kinds = append(columns, c), append(kinds, of.Type)
		}
	}
	return columns, kinds
}

// appendPresent appends those rows of selection that are in present.
func appendPresent(dst, selection []int32, present column.Bitmap) []int32 {
	for _, i := range selection {
		if present.Get(int(i)) {
			dst = append(dst, i)
		}
	}
	return dst
}

// setOf makes set hold exactly the given of n rows, in its memory.
func setOf(set column.Bitmap, n int, rows []int32) column.Bitmap {
	set = set.Resize(n)
	clear(set)
	for _, i := range rows {
		set.Set(int(i))
	}
	return set
}

// viewBefore makes view the rows before the changes of b as a batch of rows.
func viewBefore(view, b *column.Batch, selection []int32) {
	*view = *b
	view.Columns, view.Present = b.Before, b.PresentBefore
	view.Before, view.PresentBefore = nil, nil
	view.Selection = selection
}

// anyNull tells whether row i is null in one of the columns.
func anyNull(columns []*column.Vector, i int) bool {
	for _, v := range columns {
		if v.Null(i) {
			return true
		}
	}
	return false
}
