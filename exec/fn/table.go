package fn

import "errors"

var tableFunctions = []*Function{
	{
		Name: "EXPLODE", Doc: "Gives a row for each element of an array.", Table: true,
		Overloads: []*Overload{{Signature: "(ARRAY<T>) ARRAY<T>", Row: copyArgument(0)}},
	},
	{
		Name: "CUBE_EXPLODE", Doc: "Gives a row for each way of keeping the elements of an array or making them null.", Table: true,
		Overloads: []*Overload{{Signature: "(ARRAY<T>) ARRAY<ARRAY<T>>", Row: cubeExplode}},
	},
}

const maxCube = 20

var errCube = errors.New("CUBE_EXPLODE takes at most 20 elements")

// cubeExplode counts from all elements null up to all kept, the last element
// changing fastest. A null element is the same kept or not, and counts once.
func cubeExplode(c *Call, i int) error {
	list := c.elements(c.scratch.elements[:0], 0, i)
	kept := c.scratch.order[:0]
	for n, e := range list {
		if !e.null() {
			kept = append(kept, n)
		}
	}
	c.scratch.elements, c.scratch.order = list, kept
	if len(list) > maxCube {
		return errCube
	}
	rows := c.Out.Children[0]
	first := rows.Extend(1 << len(kept))
	for choice := range 1 << len(kept) {
		elements := rows.Children[0]
		start := elements.Extend(len(list))
		for bit, n := range kept {
			if choice>>(len(kept)-1-bit)&1 != 0 {
				elements.CopyRow(start+n, list[n].vector, list[n].at)
			}
		}
		rows.SetSpan(first+choice, start, len(list))
	}
	c.Out.SetSpan(i, first, 1<<len(kept))
	return nil
}

// IsTable tells whether name, in any case, is a table function.
func IsTable(name string) bool {
	f, ok := Lookup(name)
	return ok && f.Table
}
