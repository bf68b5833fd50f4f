package task

import (
	"slices"
	"strings"

	"millrace/planner/plan"
)

// origins names the sources, with their topics, whose rows a query writes into
// one of its repartition topics: ORDERS (topic orders). It is empty for a topic
// that the query does not write.
func origins(query *plan.Query, topic string) string {
	var names []string
	for _, g := range query.Subgraphs {
		root, ok := g.Root.(*plan.RepartitionSink)
		if !ok || root.Topic != topic {
			continue
		}
		for _, input := range g.Inputs {
			name := ""
			switch n := input.(type) {
			case *plan.Source:
				name = n.Name + " (topic " + n.Topic + ")"
			case *plan.RepartitionSource:
				name = origins(query, n.Topic)
			}
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " and ")
}

// placeOf is a record of one of the task's inputs; an offset of -1 is not known.
func (t *Task) placeOf(in *Input, offset int64) Place {
	return Place{Query: t.config.Query.ID, TopicPartition: in.TopicPartition, Offset: offset, Origin: in.origin}
}
