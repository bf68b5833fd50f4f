package fn

import (
	"millrace/exec/column"
)

var attributeAggregate = Aggregate{
	Name:  "ATTR",
	Doc:   "The value that all rows have, null if they have different values; null counts as a value.",
	Forms: []string{"ATTR(T)"}, distinct: distinctRule{function: "ATTR"},
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		t := c.single()
		if t == nil {
			return nil, nil
		}
		return &AggregateSignature{Result: t, NestedState: true, variable: func() Variable {
			return &attribute{newBag(c.use, 2)} // a second value is enough to know that there are several
		}}, nil
	},
}

// attribute is ATTR. Its state is a bag.
type attribute struct{ bag }

func (a *attribute) Result(state []byte, out *column.Vector, k int) error {
	out.SetNull(k)
	if len(state) == 0 {
		return nil
	}
	only, err := readEntry(state, 0)
	if err != nil || only.end < len(state) {
		return err
	}
	return decodeEntry(only.key, out, k)
}
