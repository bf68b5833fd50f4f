package plan

// PassesOn is the name of the stream of which the query writes every row, one
// for one or more; empty if it leaves rows out, or may do so.
func (q *Query) PassesOn() string {
	for _, g := range q.Subgraphs {
		if sink, ok := g.Root.(*Sink); ok {
			return q.passesOn(sink.Input)
		}
	}
	return ""
}

func (q *Query) passesOn(node Node) string {
	switch n := node.(type) {
	case *Source:
		if !n.Output.Changes {
			return n.Name
		}
	case *Project:
		return q.passesOn(n.Input)
	case *StreamTableJoin:
		if n.Kind == LeftJoin {
			return q.passesOn(n.Left)
		}
	case *RepartitionSource:
		for _, g := range q.Subgraphs {
			if sink, ok := g.Root.(*RepartitionSink); ok && sink.Topic == n.Topic && sink.KeepNullKeys {
				return q.passesOn(sink.Input)
			}
		}
	}
	return ""
}
