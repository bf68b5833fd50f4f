package fn

import (
	"millrace/exec/column"
	"millrace/sql/types"
)

var sumListAggregate = Aggregate{
	Name:  "SUM_LIST",
	Doc:   "The sum of the elements that are not null of all arrays, 0 if there are none.",
	Forms: []string{"SUM_LIST(ARRAY<INTEGER>)", "SUM_LIST(ARRAY<BIGINT>)", "SUM_LIST(ARRAY<DOUBLE>)", "SUM_LIST(ARRAY<DECIMAL>)"},
	distinct: distinctRule{
		refused: "it adds up the elements of arrays", hint: "write SUM_LIST(ARRAY_DISTINCT(..)) for the different elements of each array",
	},
	resolve: func(c *aggregateCall) (*AggregateSignature, error) {
		t := c.single()
		if t == nil || t.Kind != types.KindArray || !t.Elem.Numeric() {
			return nil, nil
		}
		return &AggregateSignature{Result: t.Elem, fixed: func(offset int) Fixed {
			return &sumList{newSum("SUM_LIST", t.Elem, offset)}
		}}, nil
	},
}

// sumList is SUM_LIST: SUM of the elements, with its state.
type sumList struct{ elements Fixed }

func (s *sumList) Width() int { return s.elements.Width() }

func (s *sumList) Add(cells []byte, arguments Arguments, i int) error {
	return s.each(cells, arguments, i, s.elements.Add)
}

func (s *sumList) AddAll(cells [][]byte, arguments Arguments, rows []int32) (int, error) {
	return addEach(s, cells, arguments, rows)
}

func (s *sumList) Remove(cells []byte, arguments Arguments, i int) error {
	return s.each(cells, arguments, i, s.elements.Remove)
}

func (s *sumList) each(cells []byte, arguments Arguments, i int, apply func([]byte, Arguments, int) error) error {
	v := arguments[0]
	if v.Null(i) {
		return nil
	}
	span := v.Spans[i]
	elements := Arguments(v.Children)
	for n := range span.Len {
		if err := apply(cells, elements, int(span.Start+n)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sumList) Merge(cells, other []byte) error { return s.elements.Merge(cells, other) }

func (s *sumList) Result(cells []byte, out *column.Vector, k int) error {
	return s.elements.Result(cells, out, k)
}
