package fn

import (
	"cmp"
	"math"
	"slices"

	"millrace/exec/column"
	"millrace/sql/types"
)

var earliestAggregate = offsetAggregate("EARLIEST_BY_OFFSET", "first", false)

var latestAggregate = offsetAggregate("LATEST_BY_OFFSET", "last", true)

// offsetAggregate is the entry of EARLIEST_BY_OFFSET or LATEST_BY_OFFSET.
func offsetAggregate(name, word string, latest bool) Aggregate {
	a := Aggregate{
		Name: name,
		Doc: "The value that came " + word + ", or the n that came " + word + " as an ARRAY; nulls are left out unless the BOOLEAN says " +
			"false. Where rows are taken out of a table's group, the last of equal values goes.",
		literals: func(n int) int { return max(n-1, 0) },
		distinct: distinctRule{
			refused: "it goes by the order in which rows came", hint: "use COLLECT_SET for the different values in the order in which they first came",
		},
	}
	for _, parameters := range []string{"T", "T, BOOLEAN", "T, INTEGER", "T, INTEGER, BOOLEAN"} {
		a.Forms = append(a.Forms, name+"("+parameters+")")
	}
	a.resolve = func(c *aggregateCall) (*AggregateSignature, error) {
		if len(c.inputs) != 1 || c.inputs[0].Kind == types.KindNull {
			return nil, nil
		}
		o := byOffset{latest: latest, skipNulls: true, use: c.use}
		if fits, err := o.setParameters(name, c.constants); err != nil || !fits {
			return nil, err
		}
		s := &AggregateSignature{Result: c.inputs[0], NestedState: true, Arrival: c.use == SessionUse}
		if o.n > 0 {
			s.Result = types.ArrayOf(c.inputs[0])
		}
		s.variable = func() Variable {
			accumulator := o
			return &accumulator
		}
		return s, nil
	}
	return a
}

// setParameters reads the literals: a number of values, a BOOLEAN, or both.
func (o *byOffset) setParameters(name string, constants []any) (fits bool, err error) {
	if len(constants) > 0 {
		if _, boolean := constants[0].(bool); !boolean {
			if o.n, err = positive(name, "the number of values", constants[0]); err != nil {
				return false, err
			}
			constants = constants[1:]
		}
	}
	if len(constants) == 0 {
		return true, nil
	}
	skip, boolean := constants[0].(bool)
	o.skipNulls = skip
	return boolean && len(constants) == 1, nil
}

// byOffset is EARLIEST_BY_OFFSET and LATEST_BY_OFFSET. Its state is an entry a
// value, in the order of arrival, with the value as key: those of the result, or
// where rows are taken out again all. In sessions the number is the arrival.
type byOffset struct {
	latest    bool
	n         int // 0: one value instead of an ARRAY
	skipNulls bool
	use       Use
	encoder   encoder
}

func (o *byOffset) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	arrival := uint64(0)
	if o.use == SessionUse {
		arrival = uint64(arguments[1].Ints[i])
	}
	if o.skipNulls && arguments[0].Null(i) {
		// ksqlDB makes the state of LATEST_BY_OFFSET anew for each row of a
		// session, and an empty state is as late as the row that it was made for.
		if o.use == SessionUse && o.latest && o.n == 0 {
			return appendEntry(dst, arrival, nil, nil), true, nil
		}
		return dst, false, nil
	}
	key := o.encoder.value(arguments[0], i)
	if o.use == TableUse {
		return appendEntry(append(dst, state...), 0, key, nil), true, nil
	}
	kept, err := o.room(state)
	if err != nil {
		return dst, false, err
	}
	if kept < 0 {
		return dst, false, nil
	}
	return appendEntry(append(dst, state[kept:]...), arrival, key, nil), true, nil
}

// room is where the entries begin that stay when one more comes; -1: none comes.
func (o *byOffset) room(state []byte) (int, error) {
	if o.latest && o.n == 0 {
		return len(state), nil
	}
	n, err := countEntries(state)
	if err != nil || n < max(o.n, 1) {
		return 0, err
	}
	if !o.latest {
		return -1, nil
	}
	first, err := readEntry(state, 0)
	return first.end, err
}

func (o *byOffset) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if o.use != TableUse {
		return dst, false, errNotTakenOut
	}
	if o.skipNulls && arguments[0].Null(i) {
		return dst, false, nil
	}
	return cutLast(dst, state, o.encoder.value(arguments[0], i))
}

// Merge keeps of both groups' values what ksqlDB keeps: the one that came first
// or last, but of several always the first ones, for LATEST_BY_OFFSET too.
func (o *byOffset) Merge(dst, state, other []byte) ([]byte, error) {
	var list []entry
	var encoded [][]byte
	for _, side := range [][]byte{state, other} {
		for e, err := range entriesOf(side) {
			if err != nil {
				return dst, err
			}
			list = append(list, e)
			encoded = append(encoded, side[e.start:e.end])
		}
	}
	order := make([]int, len(list))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].number, list[b].number) })
	kept := max(o.n, 1)
	switch {
	case o.use == TableUse:
		kept = math.MaxInt
	case o.n == 0 && o.latest && len(order) > 0:
		order = order[len(order)-1:]
	}
	for _, k := range order[:min(kept, len(order))] {
		dst = append(dst, encoded[k]...)
	}
	return dst, nil
}

func (o *byOffset) Result(state []byte, out *column.Vector, k int) error {
	if o.use == TableUse && o.latest {
		skip, err := o.skipTo(state)
		if err != nil {
			out.SetNull(k)
			return err
		}
		state = state[skip:]
	}
	if o.n > 0 {
		return setKeys(state, o.n, out, k)
	}
	out.SetNull(k)
	if len(state) == 0 {
		return nil
	}
	e, err := readEntry(state, 0)
	if err != nil || len(e.key) == 0 {
		return err
	}
	return decodeEntry(e.key, out, k)
}

// skipTo is where the last values begin, as many as the result holds.
func (o *byOffset) skipTo(state []byte) (int, error) {
	n, err := countEntries(state)
	if err != nil {
		return 0, err
	}
	skip, at := n-max(o.n, 1), 0
	for e := range entriesOf(state) {
		if skip <= 0 {
			break
		}
		skip, at = skip-1, e.end
	}
	return at, nil
}
