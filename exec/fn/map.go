package fn

import (
	"errors"
	"fmt"
	"slices"

	"millrace/exec/column"
)

var mapFunctions = []*Function{
	{
		Name: "AS_MAP", Doc: "Makes a map of an array of keys and an array of values.",
		Overloads: []*Overload{{Signature: "(ARRAY<STRING>, ARRAY<T>) MAP<STRING, T>", Row: asMap}},
	},
	{
		Name: "MAP_KEYS", Doc: "Returns the keys of a map.",
		Overloads: []*Overload{{Signature: "(MAP<K, V>) ARRAY<K>", Row: mapPart(0)}},
	},
	{
		Name: "MAP_VALUES", Doc: "Returns the values of a map.",
		Overloads: []*Overload{{Signature: "(MAP<K, V>) ARRAY<V>", Row: mapPart(1)}},
	},
	{
		Name: "MAP_UNION", Doc: "Joins two maps; of equal keys the second map's value counts.",
		Overloads: []*Overload{{Signature: "(MAP<K, V>, MAP<K, V>) MAP<K, V>", Nulls: true, Row: mapUnion}},
	},
	{
		Name: "ENTRIES", Doc: "Returns the entries of a map as structs, sorted by key if asked for.",
		Overloads: []*Overload{
			{Signature: "(MAP<STRING, INTEGER>, BOOLEAN) ARRAY<STRUCT<K STRING, V INTEGER>>", Row: entries},
			{Signature: "(MAP<STRING, BIGINT>, BOOLEAN) ARRAY<STRUCT<K STRING, V BIGINT>>", Row: entries},
			{Signature: "(MAP<STRING, DOUBLE>, BOOLEAN) ARRAY<STRUCT<K STRING, V DOUBLE>>", Row: entries},
			{Signature: "(MAP<STRING, BOOLEAN>, BOOLEAN) ARRAY<STRUCT<K STRING, V BOOLEAN>>", Row: entries},
			{Signature: "(MAP<STRING, STRING>, BOOLEAN) ARRAY<STRUCT<K STRING, V STRING>>", Row: entries},
		},
	},
	{
		Name: "TRANSFORM", Doc: "Applies a lambda to each element of an array, or one to each key and one to each value of a map.",
		Overloads: []*Overload{
			{Signature: "(ARRAY<T>, T => R) ARRAY<R>", Rows: transformArray},
			{Signature: "(MAP<K, V>, (K, V) => R, (K, V) => S) MAP<R, S>", Rows: transformMap},
		},
	},
	{
		Name: "FILTER", Doc: "Keeps the elements of an array, or the entries of a map, for which a lambda is true.",
		Overloads: []*Overload{
			{Signature: "(ARRAY<T>, T => BOOLEAN) ARRAY<T>", Rows: filterCollection},
			{Signature: "(MAP<K, V>, (K, V) => BOOLEAN) MAP<K, V>", Rows: filterCollection},
		},
	},
	{
		Name: "REDUCE", Doc: "Folds the elements of an array, or the entries of a map, into a state with a lambda.",
		Overloads: []*Overload{
			{Signature: "(ARRAY<T>, S, (S, T) => S) S", Rows: reduceCollection},
			{Signature: "(MAP<K, V>, S, (S, K, V) => S) S", Rows: reduceCollection},
		},
	},
}

// mapBuilder adds entries to a MAP; of equal keys the last counts. A Call has
// one at a time.
type mapBuilder struct {
	out   *column.Vector
	start int
	keys  *keySet
}

func (c *Call) mapBuilder() mapBuilder {
	c.scratch.keys.reset()
	return mapBuilder{out: c.Out, start: c.Out.Children[0].Len(), keys: &c.scratch.keys}
}

// put tells whether the key is new. A value of a nil vector is null.
func (b *mapBuilder) put(key element, value element) bool {
	number, added := b.keys.add(key.vector, key.at)
	at := b.start + number
	if added {
		b.extend()
		b.out.Children[0].CopyRow(at, key.vector, key.at)
	}
	if value.vector == nil {
		b.out.Children[1].SetNull(at)
	} else {
		b.out.Children[1].CopyRow(at, value.vector, value.at)
	}
	return added
}

// putText is put for a MAP<STRING, STRING>; the texts are views of the inputs
// or texts of the arena.
func (b *mapBuilder) putText(key, value string) {
	number, added := b.keys.addText(key)
	if added {
		b.extend()
		b.out.Children[0].SetText(b.start+number, key)
	}
	b.out.Children[1].SetText(b.start+number, value)
}

func (b *mapBuilder) extend() {
	b.out.Children[0].Extend(1)
	b.out.Children[1].Extend(1)
}

func (b *mapBuilder) finish(i int) { b.out.SetSpan(i, b.start, b.keys.count()) }

func asMap(c *Call, i int) error {
	keys, start, end := c.items(0, i)
	values, from, to := c.items(1, i)
	builder := c.mapBuilder()
	for n := range end - start {
		value := element{}
		if from+n < to {
			value = element{values, from + n}
		}
		builder.put(element{keys, start + n}, value)
	}
	builder.finish(i)
	return nil
}

func mapPart(part int) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		v := c.Args[0]
		c.scratch.order = hashOrder(c.scratch.order[:0], v, i)
		child := c.Out.Children[0]
		start := child.Extend(len(c.scratch.order))
		for n, at := range c.scratch.order {
			child.CopyRow(start+n, v.Children[part], at)
		}
		c.Out.SetSpan(i, start, len(c.scratch.order))
		return nil
	}
}

func mapUnion(c *Call, i int) error {
	if c.null(0, i) && c.null(1, i) {
		return nil
	}
	builder := c.mapBuilder()
	for k, v := range c.Args {
		if c.null(k, i) {
			continue
		}
		span := v.Spans[i]
		for n := range int(span.Len) {
			at := int(span.Start) + n
			builder.put(element{v.Children[0], at}, element{v.Children[1], at})
		}
	}
	builder.finish(i)
	return nil
}

func entries(c *Call, i int) error {
	v := c.Args[0]
	c.scratch.order = hashOrder(c.scratch.order[:0], v, i)
	order := c.scratch.order
	if c.Args[1].Bools[i] {
		slices.SortStableFunc(order, func(a, b int) int { return compareKeys(v.Children[0], a, b) })
	}
	child := c.Out.Children[0]
	start := child.Extend(len(order))
	for n, at := range order {
		child.Valid.Set(start + n)
		for k := range 2 {
			child.Children[k].CopyRow(start+n, v.Children[k], at)
		}
	}
	c.Out.SetSpan(i, start, len(order))
	return nil
}

// compareKeys orders the keys of MAP entries; a null comes last.
func compareKeys(keys *column.Vector, a, b int) int {
	if keys.Null(a) || keys.Null(b) {
		return truth(keys.Null(a)) - truth(keys.Null(b))
	}
	return compareRows(keys, a, keys, b)
}

// flat is the elements of the collections of several rows, one behind another.
type flat struct {
	parameters []*column.Vector
	outer      []int32
	starts     []int // of each row, in parameters
}

// flatten lays out argument 0 of the rows whose argument 0 is not null. The
// next call reuses the result's memory.
func (c *Call) flatten(rows []int32) *flat {
	v := c.Args[0]
	f := &c.scratch.flat
	f.reset(v.Children)
	for _, i := range rows {
		f.starts = append(f.starts, len(f.outer))
		if v.Null(int(i)) {
			continue
		}
		span := v.Spans[i]
		for k, child := range v.Children {
			start := f.parameters[k].Extend(int(span.Len))
			for n := range int(span.Len) {
				f.parameters[k].CopyRow(start+n, child, int(span.Start)+n)
			}
		}
		for range span.Len {
			f.outer = append(f.outer, i)
		}
	}
	return f
}

func (f *flat) reset(children []*column.Vector) {
	f.outer, f.starts = f.outer[:0], f.starts[:0]
	for k, child := range children {
		if k == len(f.parameters) {
			f.parameters = append(f.parameters, column.New(child.Type, 0))
		}
		f.parameters[k].Reset(0)
	}
}

func transformArray(c *Call, rows []int32) {
	f := c.flatten(rows)
	result := c.Lambdas[0].Evaluate(f.parameters, f.outer)
	child := c.Out.Children[0]
	for r, i := range rows {
		if c.null(0, int(i)) {
			continue
		}
		count := int(c.Args[0].Spans[i].Len)
		start := child.Extend(count)
		for n := range count {
			child.CopyRow(start+n, result, f.starts[r]+n)
		}
		c.Out.SetSpan(int(i), start, count)
	}
}

var errEqualKeys = errors.New("the lambda gives equal keys")

func transformMap(c *Call, rows []int32) {
	f := c.flatten(rows)
	keys := c.Lambdas[0].Evaluate(f.parameters, f.outer)
	values := c.Lambdas[1].Evaluate(f.parameters, f.outer)
	for r, i := range rows {
		if c.null(0, int(i)) {
			continue
		}
		builder := c.mapBuilder()
		var fault error
		for n := range int(c.Args[0].Spans[i].Len) {
			at := f.starts[r] + n
			if key := (element{keys, at}); !builder.put(key, element{values, at}) {
				fault = fmt.Errorf("%s: %w", AppendText(nil, keys, at), errEqualKeys)
			}
		}
		builder.finish(int(i))
		if fault != nil {
			c.Fail(int(i), fault)
		}
	}
}

func filterCollection(c *Call, rows []int32) {
	f := c.flatten(rows)
	keep := c.Lambdas[0].Evaluate(f.parameters, f.outer)
	for r, i := range rows {
		if c.null(0, int(i)) {
			continue
		}
		start, count := 0, 0
		for k, child := range c.Out.Children {
			start, count = child.Len(), 0
			for n := range int(c.Args[0].Spans[i].Len) {
				at := f.starts[r] + n
				if keep.Null(at) || !keep.Bools[at] {
					continue
				}
				child.CopyRow(child.Extend(1), f.parameters[k], at)
				count++
			}
		}
		c.Out.SetSpan(int(i), start, count)
	}
}

// reduceCollection takes the n-th elements of all rows together, in step n.
func reduceCollection(c *Call, rows []int32) {
	collection := c.Args[0]
	longest := 0
	f := &c.scratch.flat
	active := f.outer[:0]
	for _, i := range rows {
		if c.null(1, int(i)) {
			continue
		}
		c.Out.CopyRow(int(i), c.Args[1], int(i))
		if !c.null(0, int(i)) {
			active = append(active, i)
			longest = max(longest, int(collection.Spans[i].Len))
		}
	}
	f.outer = active
	if f.parameters == nil {
		f.parameters = append(f.parameters, column.New(c.Out.Type, 0))
		for _, child := range collection.Children {
			f.parameters = append(f.parameters, column.New(child.Type, 0))
		}
	}
	parameters := f.parameters
	for n := range longest {
		active = slices.DeleteFunc(active, func(i int32) bool { return int(collection.Spans[i].Len) <= n })
		for _, v := range parameters {
			v.Reset(len(active))
		}
		for e, i := range active {
			parameters[0].CopyRow(e, c.Out, int(i))
			for k, child := range collection.Children {
				parameters[k+1].CopyRow(e, child, int(collection.Spans[i].Start)+n)
			}
		}
		result := c.Lambdas[0].Evaluate(parameters, active)
		for e, i := range active {
			c.Out.CopyRow(int(i), result, e)
		}
	}
}
