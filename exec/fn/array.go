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
			c.setElements(i, distinct(c.elements(0, i)))
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
			c.setElements(i, distinct(append(c.elements(0, i), c.elements(1, i)...)))
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

func (e element) equal(other element) bool {
	return column.EqualRows(e.vector, e.at, other.vector, other.at)
}

// elements is the elements of the ARRAY argument k in row i.
func (c *Call) elements(k, i int) []element {
	v := c.Args[k]
	span := v.Spans[i]
	list := make([]element, span.Len)
	for n := range list {
		list[n] = element{v.Children[0], int(span.Start) + n}
	}
	return list
}

// setElements sets row i of the result, an ARRAY.
func (c *Call) setElements(i int, list []element) {
	child := c.Out.Children[0]
	start := child.Extend(len(list))
	for n, e := range list {
		child.CopyRow(start+n, e.vector, e.at)
	}
	c.Out.SetSpan(i, start, len(list))
}

// elementSet finds equal elements; the keys' texts stand for the values.
type elementSet map[string]bool

// add puts e into the set and tells whether it was not there.
func (s elementSet) add(e element) bool {
	key := e.key()
	if s[key] {
		return false
	}
	s[key] = true
	return true
}

// key is a text that is the same for equal elements only.
func (e element) key() string {
	return string(column.AppendRow(nil, []*column.Vector{e.vector}, e.at))
}

func distinct(list []element) []element {
	seen := elementSet{}
	return slices.DeleteFunc(list, func(e element) bool { return !seen.add(e) })
}

func arrayContains(c *Call, i int) error {
	found := false
	if !c.null(0, i) {
		for _, e := range c.elements(0, i) {
			if e.equal(element{c.Args[1], i}) {
				found = true
				break
			}
		}
	}
	c.Out.SetBool(i, found)
	return nil
}

func arrayConcat(c *Call, i int) error {
	var list []element
	if c.null(0, i) && c.null(1, i) {
		return nil
	}
	for k := range 2 {
		if !c.null(k, i) {
			list = append(list, c.elements(k, i)...)
		}
	}
	c.setElements(i, list)
	return nil
}

func arrayMembers(wanted bool) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		other := elementSet{}
		for _, e := range c.elements(1, i) {
			other.add(e)
		}
		list := distinct(c.elements(0, i))
		c.setElements(i, slices.DeleteFunc(list, func(e element) bool { return other[e.key()] != wanted }))
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
	buf := c.Arena.Tail(64)
	for n, e := range c.elements(0, i) {
		if n > 0 {
			buf = append(buf, delimiter...)
		}
		buf = AppendText(buf, e.vector, e.at)
	}
	c.Out.SetText(i, c.Arena.Keep(buf))
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
		best := element{}
		for _, e := range c.elements(0, i) {
			if e.null() {
				continue
			}
			if best.vector == nil || sign*CompareRows(e.vector, e.at, best.vector, best.at) > 0 {
				best = e
			}
		}
		if best.vector != nil {
			c.Out.CopyRow(i, best.vector, best.at)
		}
		return nil
	}
}

func arrayRemove(c *Call, i int) error {
	if c.null(0, i) {
		return nil
	}
	victim := element{c.Args[1], i}
	c.setElements(i, slices.DeleteFunc(c.elements(0, i), victim.equal))
	return nil
}

func arraySort(c *Call, i int) error {
	sign := 1
	switch direction := strings.ToUpper(strings.TrimSpace(c.optional(1, i, "ASC"))); direction {
	case "ASC", "ASCENDING":
	case "DESC", "DESCENDING":
		sign = -1
	default:
		return nil
	}
	list := c.elements(0, i)
	slices.SortStableFunc(list, func(a, b element) int {
		if a.null() || b.null() {
			return truth(a.null()) - truth(b.null())
		}
		return sign * CompareRows(a.vector, a.at, b.vector, b.at)
	})
	c.setElements(i, list)
	return nil
}

func arraySlice(c *Call, i int) error {
	if c.null(0, i) {
		return nil
	}
	list := c.elements(0, i)
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
	c.setElements(i, list[from-1:to])
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
