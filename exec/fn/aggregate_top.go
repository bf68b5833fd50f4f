package fn

import (
	"fmt"
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

var topAggregate = Aggregate{
	Name: "TOPK",
	Doc: "The k greatest values that are not null, the greatest first, with further columns of their rows as " +
		"ARRAY<STRUCT<sort_col, col0, ..>>.",
	Forms:    []string{"TOPK(T, INTEGER)", "TOPK(T, U.., INTEGER)"},
	distinct: distinctRule{function: "TOPKDISTINCT"},
	literals: func(n int) int { return min(n, 1) },
	resolve:  func(c *aggregateCall) (*AggregateSignature, error) { return resolveTop(c, "TOPK", false) },
}

var topDistinctAggregate = Aggregate{
	Name:     "TOPKDISTINCT",
	Doc:      "The k greatest different values that are not null, the greatest first.",
	Forms:    []string{"TOPKDISTINCT(T, INTEGER)"},
	distinct: distinctRule{function: "TOPKDISTINCT"},
	literals: func(n int) int { return min(n, 1) },
	resolve:  func(c *aggregateCall) (*AggregateSignature, error) { return resolveTop(c, "TOPKDISTINCT", true) },
}

func resolveTop(c *aggregateCall, name string, distinct bool) (*AggregateSignature, error) {
	if len(c.inputs) == 0 || len(c.constants) != 1 || !ordered(c.inputs[0]) || distinct && len(c.inputs) > 1 {
		return nil, nil
	}
	element := c.inputs[0]
	if further := c.inputs[1:]; len(further) > 0 {
		fields := []types.Field{{Name: "sort_col", Type: element}}
		for i, t := range further {
			if t.Kind == types.KindNull {
				return nil, nil
			}
			fields = append(fields, types.Field{Name: fmt.Sprintf("col%d", i), Type: t})
		}
		element = types.StructOf(fields...)
	}
	k, err := positive(name, "the number k", c.constants[0])
	if err != nil {
		return nil, err
	}
	compare := orderKeys(c.inputs[0])
	r := ranking{
		compare:  func(a, b []byte) int { return compare(b, a) },
		distinct: distinct, counted: c.use == TableUse, limit: k,
	}
	if c.use == TableUse {
		r.limit = math.MaxInt
	}
	return &AggregateSignature{Result: types.ArrayOf(element), NestedState: true, variable: func() Variable {
		return &top{ranking: r, k: k, further: c.inputs[1:]}
	}}, nil
}

// top is TOPK and TOPKDISTINCT. Its state is the first k rows, where rows are
// taken out again all of them.
type top struct {
	ranking  ranking
	k        int
	further  []*types.Type
	key, row []byte
}

// encode makes the order key and the further columns of row i; ok is false if
// the value is null.
func (t *top) encode(arguments Arguments, i int) (ok bool) {
	if arguments[0].Null(i) {
		return false
	}
	t.key, t.row = appendOrderKey(t.key[:0], arguments[0], i), t.row[:0]
	if len(t.further) > 0 {
		t.row = column.AppendRow(t.row, arguments[1:], i)
	}
	return true
}

func (t *top) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if !t.encode(arguments, i) {
		return dst, false, nil
	}
	return t.ranking.add(dst, state, t.key, t.row, 1)
}

func (t *top) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if t.ranking.limit != math.MaxInt {
		return dst, false, errNotTakenOut
	}
	if !t.encode(arguments, i) {
		return dst, false, nil
	}
	return t.ranking.remove(dst, state, t.key, t.row)
}

func (t *top) Merge(dst, state, other []byte) ([]byte, error) {
	return t.ranking.merge(dst, state, other)
}

func (t *top) Result(state []byte, out *column.Vector, k int) error {
	return setList(state, t.k, out, k, t.set)
}

func (t *top) set(e entry, v *column.Vector, i int) error {
	if len(t.further) == 0 {
		return setOrderKey(e.key, v, i)
	}
	v.Valid.Set(i)
	if err := setOrderKey(e.key, v.Children[0], i); err != nil {
		return err
	}
	if err := column.DecodeRow(e.row, v.Children[1:], t.further, i); err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	return nil
}
