package plan

// Scanned is the table whose rows as they are now answer a transient query, each
// by itself: its filters and projections need nothing but a row. It is nil for
// every other query.
func (q *Query) Scanned() *Source {
	if !q.Transient || len(q.Subgraphs) != 1 {
		return nil
	}
	sink, ok := q.Subgraphs[0].Root.(*Sink)
	if !ok {
		return nil
	}
	for node := sink.Input; ; {
		switch n := node.(type) {
		case *Project:
			node = n.Input
		case *Filter:
			node = n.Input
		case *Source:
			// The rows are kept without their offsets.
			if n.Output.Changes && n.Pseudo.RowOffset < 0 {
				return n
			}
			return nil
		default:
			return nil
		}
	}
}
