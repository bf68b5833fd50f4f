package op

import (
	"fmt"

	"millrace/exec/column"
	"millrace/planner/plan"
	"millrace/sql/types"
	"millrace/state"
)

// joinStreamTable looks the rows of a stream up in a table's store, as
// materialize keeps it: a row meets the table's row of the moment it is
// processed. Rows without a value are dropped; a null join key matches nothing.
// INNER drops rows without a match, LEFT pads them with nulls.
type joinStreamTable struct {
	next    Operator
	env     *Environment
	store   *state.Store
	left    bool
	leftKey []int
	key     []int // of the right
	value   []int // of the right
	types   []*types.Type

	out        column.Batch
	leftWidth  int
	keyColumns []*column.Vector
	right      []*column.Vector // all columns of the right
	rightValue []*column.Vector
	keys       state.Keys
	rows       []state.Row
	stored     [][]byte // the table's rows, nil where there is none
	probed     []int32  // rows of the batch that have a key
	selection  []int32
	warmed     byte // keeps warm's loads from being optimised away
}

func newJoinStreamTable(node *plan.StreamTableJoin, env *Environment, next Operator) (*joinStreamTable, error) {
	right := &node.Right.Output
	if len(node.LeftKey) != len(right.Key) {
		return nil, fmt.Errorf("join with table %s: %d columns of the stream for %d of the key", node.Right.Name, len(node.LeftKey), len(right.Key))
	}
	if right.Window != nil {
		return nil, fmt.Errorf("join with table %s: its key has a window", node.Right.Name)
	}
	store, err := env.Store(node.Right.Store)
	if err != nil {
		return nil, fmt.Errorf("join with table %s: %w", node.Right.Name, err)
	}
	j := &joinStreamTable{
		next: next, env: env, store: store, left: node.Kind == plan.LeftJoin, leftKey: node.LeftKey, key: right.Key,
		leftWidth:  len(node.Left.Schema().Columns),
		keyColumns: make([]*column.Vector, len(node.LeftKey)),
	}
	for _, c := range right.Columns {
		j.right = append(j.right, column.New(c.Type, 0))
	}
	j.value, j.types = valueColumns(right)
	for _, c := range j.value {
		j.rightValue = append(j.rightValue, j.right[c])
	}
	j.out.Columns = make([]*column.Vector, j.leftWidth+len(j.right))
	return j, nil
}

// Push implements Operator: port 0 is the stream. The table's side has no port
// of its own, since its updates put out nothing.
func (j *joinStreamTable) Push(_ int, b *column.Batch) error {
	for k, c := range j.leftKey {
		j.keyColumns[k] = b.Columns[c]
	}
	if err := j.probe(b); err != nil {
		return err
	}
	for _, v := range j.right {
		v.Reset(b.Len)
	}
	if err := j.match(b); err != nil {
		return err
	}
	if len(j.selection) == 0 {
		return nil
	}
	columns := j.out.Columns
	copy(columns, b.Columns[:j.leftWidth])
	copy(columns[j.leftWidth:], j.right)
	j.out = *b
	j.out.Columns, j.out.Selection = columns, j.selection
	return j.next.Push(0, &j.out)
}

// probe sets rows[n] to the table's row for probed[n].
func (j *joinStreamTable) probe(b *column.Batch) error {
	j.keys.Reset()
	j.probed = j.probed[:0]
	for _, i := range b.Selection {
		if b.Present.Get(int(i)) && !anyNull(j.keyColumns, int(i)) {
			j.keys.Append(j.keyColumns, int(i))
			j.probed = append(j.probed, i)
		}
	}
	j.rows = sized(j.rows, len(j.probed))
	if err := j.store.Table(0).Find(&j.keys, nil, j.rows); err != nil {
		return fmt.Errorf("store %s: %w", j.store.Name(), err)
	}
	j.warm()
	return nil
}

// warm gets the stored rows and reads both ends of each: these loads do not
// depend on each other, so their cache misses overlap, which those of decoding
// do not.
func (j *joinStreamTable) warm() {
	table := j.store.Table(0)
	j.stored = sized(j.stored, len(j.rows))
	read := byte(0)
	for n, row := range j.rows {
		if row < 0 {
			j.stored[n] = nil
			continue
		}
		stored := table.Variable(row)
		j.stored[n] = stored
		if last := len(stored) - 1; last >= 0 {
			read |= stored[0] | stored[last]
		}
	}
	j.warmed = read
}

// match fills the right side's columns and selects the rows that are put out.
func (j *joinStreamTable) match(b *column.Batch) error {
	j.selection = j.selection[:0]
	n := 0
	for _, i := range b.Selection {
		if !b.Present.Get(int(i)) {
			j.env.count(NullValue, b, i)
			continue
		}
		at := -1
		if n < len(j.probed) && j.probed[n] == i {
			at = n
			n++
		} else if !j.left {
			j.env.count(NullKey, b, i)
		}
		if at < 0 || j.rows[at] < 0 {
			if j.left {
				j.selection = append(j.selection, i)
			}
			continue
		}
		if err := column.DecodeRow(j.stored[at], j.rightValue, j.types, int(i)); err != nil {
			return fmt.Errorf("store %s: row %x: %w", j.store.Name(), j.keys.Key(at), err)
		}
		for k, c := range j.key {
			j.right[c].CopyRow(int(i), j.keyColumns[k], int(i))
		}
		j.selection = append(j.selection, i)
	}
	return nil
}

// Flush implements Operator.
func (j *joinStreamTable) Flush() error { return nil }
