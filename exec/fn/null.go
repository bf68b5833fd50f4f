package fn

import "millrace/exec/column"

var nullFunctions = []*Function{
	{
		Name: "AS_VALUE", Doc: "Copies a key column into the value.",
		Overloads: []*Overload{{Signature: "(T) T", Row: copyArgument(0)}},
	},
	{
		Name: "COALESCE", Doc: "Returns the first argument that is not null.",
		Overloads: []*Overload{{Signature: "(T, T...) T", Nulls: true, Row: firstNotNull}},
	},
	{
		Name: "IFNULL", Doc: "Returns the first argument, or the second if the first is null.",
		Overloads: []*Overload{{Signature: "(T, T) T", Nulls: true, Row: firstNotNull}},
	},
	{
		Name: "NULLIF", Doc: "Returns null if both arguments are equal, else the first.",
		Overloads: []*Overload{{Signature: "(T, T) T", Nulls: true, Row: nullIf}},
	},
}

func copyArgument(k int) func(c *Call, i int) error {
	return func(c *Call, i int) error {
		c.Out.CopyRow(i, c.Args[k], i)
		return nil
	}
}

func firstNotNull(c *Call, i int) error {
	for _, v := range c.Args {
		if !v.Null(i) {
			c.Out.CopyRow(i, v, i)
			return nil
		}
	}
	return nil
}

func nullIf(c *Call, i int) error {
	if !column.EqualRows(c.Args[0], i, c.Args[1], i) {
		c.Out.CopyRow(i, c.Args[0], i)
	}
	return nil
}
