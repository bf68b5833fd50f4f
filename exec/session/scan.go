package session

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"millrace/planner"
	"millrace/planner/plan"
)

// scanner is an Engine that can answer a SELECT from the rows that the query of a
// SOURCE TABLE keeps.
type scanner interface {
	// Scan gives the values that the query would write, those of each partition
	// in an order that does not change; value is valid until yield returns. ok is
	// false where the query has to be run instead.
	Scan(ctx context.Context, keeper string, q *plan.Query, yield func(partition int32, timestamp int64, value []byte)) (ok bool, err error)
}

// scan answers a SELECT that looks at each row of a SOURCE TABLE by itself, once
// the table has read its topic up to its present end: no topic is made or read
// for it. The rows are in the order of the time of their last changes. ok is
// false where the SELECT has to be run as a query.
func (s *Session) scan(ctx context.Context, engine drainer, look *planner.Look) (result *Result, ok bool, err error) {
	wanted := look.Query.Scanned()
	from, able := engine.(scanner)
	if wanted == nil || !able {
		return nil, false, nil
	}
	table, declared := s.catalog.Source(wanted.Name)
	if !declared || table.KeptBy == "" {
		return nil, false, nil
	}
	if err := engine.Drain(ctx); err != nil {
		return nil, false, err
	}
	var found []printed
	ok, err = from.Scan(ctx, table.KeptBy, look.Query, func(partition int32, timestamp int64, value []byte) {
		found = append(found, printed{time: timestamp, partition: partition, value: bytes.Clone(value)})
	})
	if !ok || err != nil {
		return nil, false, err
	}
	slices.SortStableFunc(found, func(a, b printed) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.partition, b.partition))
	})
	rows := make([][]byte, len(found))
	for i, row := range found {
		rows[i] = row.value.([]byte)
	}
	result, err = lookTable(look, rows)
	return result, err == nil, err
}
