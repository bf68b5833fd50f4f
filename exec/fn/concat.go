package fn

var concatFunctions = []*Function{
	{
		Name: "CONCAT", Doc: "Joins texts or bytes; nulls are left out.",
		Overloads: []*Overload{
			{Signature: "(STRING, STRING...) STRING", Nulls: true, Row: concat},
			{Signature: "(BYTES, BYTES...) BYTES", Nulls: true, Row: concat},
		},
	},
	{
		Name: "CONCAT_WS", Doc: "Joins texts or bytes with a separator; nulls are left out.",
		Overloads: []*Overload{
			{Signature: "(STRING, STRING, STRING...) STRING", Nulls: true, Row: concatWithSeparator},
			{Signature: "(BYTES, BYTES, BYTES...) BYTES", Nulls: true, Row: concatWithSeparator},
		},
	},
}

func concat(c *Call, i int) error {
	size := 0
	for k := range c.Args {
		if !c.null(k, i) {
			size += len(c.text(k, i))
		}
	}
	buf := c.Arena.Tail(size)
	for k := range c.Args {
		if !c.null(k, i) {
			buf = append(buf, c.text(k, i)...)
		}
	}
	c.Out.SetText(i, c.Arena.Keep(buf))
	return nil
}

func concatWithSeparator(c *Call, i int) error {
	if c.null(0, i) {
		return nil
	}
	buf := c.begin()
	first := true
	for k := 1; k < len(c.Args); k++ {
		if c.null(k, i) {
			continue
		}
		if !first {
			buf = append(buf, c.text(0, i)...)
		}
		first = false
		buf = append(buf, c.text(k, i)...)
	}
	c.end(i, buf)
	return nil
}
