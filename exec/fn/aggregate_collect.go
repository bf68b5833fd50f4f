package fn

import (
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

var collectListAggregate = Aggregate{
	Name: "COLLECT_LIST",
	Doc: "All values, null too, in the order in which they came. Where rows are taken out of a table's group, the last " +
		"of equal values goes.",
	Forms: []string{"COLLECT_LIST(T)"}, distinct: distinctRule{function: "COLLECT_SET"},
	LimitProperty: "ksql.functions.collect_list.limit",
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		t, limit := collected(c)
		if t == nil {
			return nil, nil
		}
		kept := limit
		if c.use == TableUse {
			kept = math.MaxInt
		}
		return &AggregateSignature{Result: types.ArrayOf(t), NestedState: true, variable: func() Variable {
			return &collectList{kept: kept, result: limit}
		}}, nil
	},
}

var collectSetAggregate = Aggregate{
	Name:          "COLLECT_SET",
	Doc:           "The different values, null too, in the order in which they first came.",
	Forms:         []string{"COLLECT_SET(T)"},
	distinct:      distinctRule{function: "COLLECT_SET"},
	LimitProperty: "ksql.functions.collect_set.limit",
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		t, limit := collected(c)
		if t == nil {
			return nil, nil
		}
		return &AggregateSignature{Result: types.ArrayOf(t), NestedState: true, variable: func() Variable {
			return &collectSet{bag: newBag(c.use, limit), limit: limit}
		}}, nil
	},
}

// collected is the type of the argument, nil if there is not one, and the limit
// of the result: the optional constant, none if that is negative.
func collected(c *aggregateCall) (*types.Type, int) {
	limit := math.MaxInt
	switch len(c.constants) {
	case 0:
	case 1:
		if n, ok := c.constants[0].(int64); ok && n >= 0 {
			limit = int(min(n, math.MaxInt32))
		}
	default:
		return nil, 0
	}
	one := aggregateCall{inputs: c.inputs}
	return one.single(), limit
}

// collectList is COLLECT_LIST. Its state is an entry a value, with the value as
// key. Values beyond the limit are left out of the state, where rows are taken
// out again only of the result: one of them may move up.
type collectList struct {
	kept, result int
	encoder      encoder
	tail         []byte // what Extend puts behind the state
}

func (l *collectList) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	return extended(l, dst, state, arguments, i)
}

func (l *collectList) Growth(state []byte, arguments Arguments, i int) (int, bool, error) {
	if l.kept < math.MaxInt {
		n, err := countEntries(state)
		if err != nil || n >= l.kept {
			return 0, false, err
		}
	}
	l.tail = appendEntry(l.tail[:0], 0, l.encoder.value(arguments[0], i), nil)
	return len(l.tail), true, nil
}

func (l *collectList) Extend(state []byte, growth int, _ Arguments, _ int) error {
	copy(state[len(state)-growth:], l.tail)
	return nil
}

func countEntries(state []byte) (n int, err error) {
	for _, err := range entriesOf(state) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func (l *collectList) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	return cutLast(dst, state, l.encoder.value(arguments[0], i))
}

// cutLast appends the state without the last entry of a key.
func cutLast(dst, state, key []byte) ([]byte, bool, error) {
	last := entry{}
	for at := 0; at < len(state); {
		e, _, err := findEntry(state, at, key)
		if err != nil {
			return dst, false, err
		}
		if e.end == 0 {
			break
		}
		last, at = e, e.end
	}
	if last.end == 0 {
		return dst, false, nil
	}
	return cutEntry(dst, state, last), true, nil
}

func (l *collectList) Merge(dst, state, other []byte) ([]byte, error) {
	n, err := countEntries(state)
	if err != nil {
		return dst, err
	}
	dst = append(dst, state...)
	for e, err := range entriesOf(other) {
		if err != nil {
			return dst, err
		}
		if n++; n > l.kept {
			break
		}
		dst = append(dst, other[e.start:e.end]...)
	}
	return dst, nil
}

func (l *collectList) Result(state []byte, out *column.Vector, k int) error {
	return setKeys(state, l.result, out, k)
}

// collectSet is COLLECT_SET. Its state is a bag.
type collectSet struct {
	bag
	limit int
}

func (s *collectSet) Result(state []byte, out *column.Vector, k int) error {
	return setKeys(state, s.limit, out, k)
}

// bag is the part of an aggregate whose state is the different values in the
// order in which they first came: an entry a value, with the value as key. Where
// rows are taken out again the number says how often it is there, and all values
// are kept; else no more than a limit.
type bag struct {
	counted bool
	limit   int
	encoder encoder
}

func newBag(use Use, limit int) bag {
	if use == TableUse {
		return bag{counted: true, limit: math.MaxInt}
	}
	return bag{limit: limit}
}

func (b *bag) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	return b.put(dst, state, b.encoder.value(arguments[0], i), 1)
}

func (b *bag) put(dst, state, key []byte, times uint64) ([]byte, bool, error) {
	e, n, err := findEntry(state, 0, key)
	switch {
	case err != nil:
		return dst, false, err
	case e.end > 0 && b.counted:
		return replaceEntry(dst, state, e.start, e.end, e.number+times, key, nil), true, nil
	case e.end > 0 || n >= b.limit:
		return dst, false, nil
	}
	return appendEntry(append(dst, state...), times, key, nil), true, nil
}

func (b *bag) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if !b.counted {
		return dst, false, errNotTakenOut
	}
	return b.take(dst, state, b.encoder.value(arguments[0], i))
}

func (b *bag) take(dst, state, key []byte) ([]byte, bool, error) {
	e, _, err := findEntry(state, 0, key)
	if err != nil || e.end == 0 {
		return dst, false, err
	}
	return countDown(dst, state, e), true, nil
}

// Merge puts the values of other behind those of state.
func (b *bag) Merge(dst, state, other []byte) ([]byte, error) {
	var list []entry
	places := map[string]int{}
	for _, side := range [][]byte{state, other} {
		for e, err := range entriesOf(side) {
			if err != nil {
				return dst, err
			}
			at, known := places[string(e.key)]
			switch {
			case known && b.counted:
				list[at].number += e.number
			case !known && len(list) < b.limit:
				places[string(e.key)] = len(list)
				list = append(list, e)
			}
		}
	}
	for _, e := range list {
		dst = appendEntry(dst, e.number, e.key, nil)
	}
	return dst, nil
}
