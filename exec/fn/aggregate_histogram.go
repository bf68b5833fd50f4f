package fn

import (
	"math"

	"millrace/exec/column"
	"millrace/sql/types"
)

// histogramLimit is how many keys ksqlDB's histograms have at most.
const histogramLimit = 1000

var histogramAggregate = Aggregate{
	Name:  "HISTOGRAM",
	Doc:   "How often each text that is not null is there, for the first 1000 different texts.",
	Forms: []string{"HISTOGRAM(STRING)"},
	distinct: distinctRule{
		refused: "each text would be there once", hint: "use COLLECT_SET for the different texts",
	},
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		if t := c.single(); t == nil || t.Kind != types.KindString {
			return nil, nil
		}
		b := bag{counted: true, limit: histogramLimit}
		if c.use == TableUse {
			b.limit = math.MaxInt
		}
		return &AggregateSignature{
			Result: types.MapOf(types.String, types.Bigint), NestedState: true,
			variable: func() Variable { return &histogram{b} },
		}, nil
	},
}

// histogram is HISTOGRAM. Its state is a counted bag with the texts as keys.
type histogram struct{ bag }

func (h *histogram) Add(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if arguments[0].Null(i) {
		return dst, false, nil
	}
	return h.put(dst, state, column.Bytes(arguments[0].Texts[i]), 1)
}

func (h *histogram) Remove(dst, state []byte, arguments Arguments, i int) ([]byte, bool, error) {
	if arguments[0].Null(i) {
		return dst, false, nil
	}
	return h.take(dst, state, column.Bytes(arguments[0].Texts[i]))
}

func (h *histogram) Result(state []byte, out *column.Vector, k int) error {
	keys, counts := out.Children[0], out.Children[1]
	start, n := keys.Len(), 0
	for e, err := range entriesOf(state) {
		if err != nil {
			out.SetNull(k)
			return err
		}
		if n == histogramLimit {
			break
		}
		at := keys.Extend(1)
		counts.Extend(1)
		keys.SetText(at, column.View(e.key))
		counts.SetInt(at, int64(e.number))
		n++
	}
	out.SetSpan(k, start, n)
	return nil
}
