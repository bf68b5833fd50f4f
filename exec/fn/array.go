package fn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

var arrayFunctions = []*Function{
	{
		Name: "ARRAY_LENGTH", Doc: "Returns the number of elements of an array.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>) INTEGER", Row: func(c *Call, i int) error {
			c.Out.SetInt(i, int64(c.Args[0].Spans[i].Len))
			return nil
		}}},
	},
	{
		Name: "ARRAY_CONTAINS", Doc: "Tells whether an array has an element equal to a value.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>, T) BOOLEAN", Nulls: true, Row: arrayContains}},
	},
	{
		Name: "ARRAY_CONCAT", Doc: "Joins two arrays.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>, ARRAY<T>) ARRAY<T>", Nulls: true, Row: arrayConcat}},
	},
	{
		Name: "ARRAY_DISTINCT", Doc: "Returns the different elements of an array.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>) ARRAY<T>", Row: func(c *Call, i int) error {
			c.setElements(i, c.distinct(c.elements(c.scratch.elements[:0], 0, i)))
			return nil
		}}},
	},
	{
		Name: "ARRAY_EXCEPT", Doc: "Returns the different elements of the first array that are not in the second.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>, ARRAY<T>) ARRAY<T>", Row: arrayMembers(false)}},
	},
	{
		Name: "ARRAY_INTERSECT", Doc: "Returns the different elements of the first array that are in the second too.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>, ARRAY<T>) ARRAY<T>", Row: arrayMembers(true)}},
	},
	{
		Name: "ARRAY_UNION", Doc: "Returns the different elements of both arrays.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>, ARRAY<T>) ARRAY<T>", Row: func(c *Call, i int) error {
			list := c.elements(c.scratch.elements[:0], 0, i)
			c.setElements(i, c.distinct(c.elements(list, 1, i)))
			return nil
		}}},
	},
	{
		Name: "ARRAY_JOIN", Doc: "Joins the elements' texts with a delimiter, a comma if there is none.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>[, STRING]) STRING", Nulls: true, Row: arrayJoin}},
	},
	{
		Name: "ARRAY_MAX", Doc: "Returns the largest element of an array; nulls are left out.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>) T", Result: orderedElement, Row: arrayExtreme(1)}},
	},
	{
		Name: "ARRAY_MIN", Doc: "Returns the smallest element of an array; nulls are left out.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>) T", Result: orderedElement, Row: arrayExtreme(-1)}},
	},
	{
		Name: "ARRAY_REMOVE", Doc: "Returns an array without the elements that equal a value.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>, T) ARRAY<T>", Nulls: true, Row: arrayRemove}},
	},
	{
		Name: "ARRAY_SORT", Doc: "Sorts an array, ascending or with DESC descending; nulls come last.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>[, STRING]) ARRAY<T>", Result: orderedArray, Row: arraySort}},
	},
	{
		Name: "SLICE", Doc: "Returns the elements of an array from one position to another, counted from 1.",
		Overloads: []*Overload{{Signature: "(ARRAY<T>, INTEGER, INTEGER) ARRAY<T>", Nulls: true, Row: arraySlice}},
	},
	{
		Name: "GENERATE_SERIES", Doc: "Returns the numbers from one to another.",
		Overloads: []*Overload{
			{Signature: "(INTEGER, INTEGER[, INTEGER]) ARRAY<INTEGER>", Row: generateSeries},
			{Signature: "(BIGINT, BIGINT[, INTEGER]) ARRAY<BIGINT>", Row: generateSeries},
		},
	},
}

// element is a row of an ARRAY's child vector.
type element struct {
	vector *column.Vector
	at     int
}

func (e element) null() bool { return e.vector.Null(e.at) }

// elements appends the elements of the ARRAY argument k in row i.
func (c *Call) elements(list []element, k, i int) []element {
	child, start, end := c.items(k, i)
	for at := start; at < end; at++ {
		list = append(list, element{child, at})
	}
	return list
}

// items is where the elements of the ARRAY argument k in row i are.
func (c *Call) items(k, i int) (child *column.Vector, start, end int) {
	v := c.Args[k]
	span := v.Spans[i]
	return v.Children[0], int(span.Start), int(span.Start + span.Len)
}

// setElements sets row i of the result, an ARRAY, and keeps the list's memory.
func (c *Call) setElements(i int, list []element) {
	c.scratch.elements = list
	child := c.Out.Children[0]
	start := child.Extend(len(list))
	for n, e := range list {
		child.CopyRow(start+n, e.vector, e.at)
	}
	c.Out.SetSpan(i, start, len(list))
}

// distinct keeps the first of equal elements, in place.
func (c *Call) distinct(list []element) []element {
	seen := &c.scratch.seen
	seen.reset()
	kept := list[:0]
	for _, e := range list {
		if _, added := seen.add(e.vector, e.at); added {
			kept = append(kept, e)
		}
	}
	return kept
}

func arrayContains(c *Call, i int) error {
	found := false
	if !c.null(0, i) {
		child, at, end := c.items(0, i)
		for ; at < end && !found; at++ {
			found = column.EqualRows(child, at, c.Args[1], i)
		}
	}
	c.Out.SetBool(i, found)
	return nil
}

func arrayConcat(c *Call, i int) error {
	if c.null(0, i) && c.null(1, i) {
		return nil
	}
	list := c.scratch.elements[:0]
	for k := range 2 {
		if !c.null(k, i) {
			list = c.elements(list, k, i)
		}
	}
	c.setElements(i, list)
	return nil
}

func arrayMembers(wanted bool) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		other := &c.scratch.keys
		other.reset()
		child, start, end := c.items(1, i)
		for at := start; at < end; at++ {
			other.add(child, at)
		}
		list := c.distinct(c.elements(c.scratch.elements[:0], 0, i))
		kept := list[:0]
		for _, e := range list {
			if other.has(e.vector, e.at) == wanted {
				kept = append(kept, e)
			}
		}
		c.setElements(i, kept)
		return nil
	}
}

var errNested = errors.New("the elements have to be of a primitive type")

func arrayJoin(c *Call, i int) error {
	if c.null(0, i) {
		return nil
	}
	if c.Args[0].Type.Elem.Nested() || c.Args[0].Type.Elem.Kind == types.KindBytes {
		return errNested
	}
	delimiter := ","
	if len(c.Args) > 1 {
		delimiter = ""
		if !c.null(1, i) {
			delimiter = c.text(1, i)
		}
	}
	buf := c.begin()
	child, start, end := c.items(0, i)
	for at := start; at < end; at++ {
		if at > start {
			buf = append(buf, delimiter...)
		}
		buf = AppendText(buf, child, at)
	}
	c.end(i, buf)
	return nil
}

func orderedElement(arguments []*types.Type) (*types.Type, error) {
	elem := arguments[0].Elem
	if elem.Nested() {
		return nil, types.Errorf(types.CodeType, "the elements of %s have no order", arguments[0])
	}
	return elem, nil
}

func orderedArray(arguments []*types.Type) (*types.Type, error) {
	_, err := orderedElement(arguments)
	return arguments[0], err
}

func arrayExtreme(sign int) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		best := -1
		child, start, end := c.items(0, i)
		for at := start; at < end; at++ {
			if !child.Null(at) && (best < 0 || sign*compareRows(child, at, child, best) > 0) {
				best = at
			}
		}
		if best >= 0 {
			c.Out.CopyRow(i, child, best)
		}
		return nil
	}
}

func arrayRemove(c *Call, i int) error {
	if c.null(0, i) {
		return nil
	}
	list := c.scratch.elements[:0]
	child, start, end := c.items(0, i)
	for at := start; at < end; at++ {
		if !column.EqualRows(child, at, c.Args[1], i) {
			list = append(list, element{child, at})
		}
	}
	c.setElements(i, list)
	return nil
}

func arraySort(c *Call, i int) error {
	sign := 1
	switch direction := strings.TrimSpace(c.optional(1, i, "ASC")); {
	case isWord(direction, "ASC"), isWord(direction, "ASCENDING"):
	case isWord(direction, "DESC"), isWord(direction, "DESCENDING"):
		sign = -1
	default:
		return nil
	}
	list := c.elements(c.scratch.elements[:0], 0, i)
	slices.SortStableFunc(list, func(a, b element) int {
		if a.null() || b.null() {
			return truth(a.null()) - truth(b.null())
		}
		return sign * compareRows(a.vector, a.at, b.vector, b.at)
	})
	c.setElements(i, list)
	return nil
}

func arraySlice(c *Call, i int) error {
	if c.null(0, i) {
		return nil
	}
	list := c.elements(c.scratch.elements[:0], 0, i)
	c.scratch.elements = list
	from, to := int64(1), int64(len(list))
	if !c.null(1, i) {
		from = c.integer(1, i)
	}
	if !c.null(2, i) {
		to = c.integer(2, i)
	}
	if from < 1 || to > int64(len(list)) || from > to+1 {
		return nil
	}
	c.setElements(i, append(list[:0], list[from-1:to]...))
	return nil
}

var errSeries = errors.New("the step has to lead from the first number to the last")

const maxSeries = 1 << 20

func generateSeries(c *Call, i int) error {
	from, to := c.integer(0, i), c.integer(1, i)
	step := int64(1)
	if from > to {
		step = -1
	}
	if len(c.Args) > 2 {
		step = c.integer(2, i)
	}
	if step == 0 || from < to && step < 0 || from > to && step > 0 {
		return fmt.Errorf("step %d: %w", step, errSeries)
	}
	size, width := uint64(step), uint64(to)-uint64(from)
	if step < 0 {
		size, width = -uint64(step), uint64(from)-uint64(to)
	}
	count := width/size + 1
	if count > maxSeries || count == 0 {
		return fmt.Errorf("%d numbers: the series is limited to %d", count, maxSeries)
	}
	child := c.Out.Children[0]
	start := child.Extend(int(count))
	for n := range int(count) {
		child.SetInt(start+n, from+int64(n)*step)
	}
	c.Out.SetSpan(i, start, int(count))
	return nil
}
