package plan

import (
	"fmt"
	"strings"
)

// Foundation describes the parts of a plan that what is stored depends on: the
// topics that are read, the layout of stores and internal topics, and what is
// computed before them.
func Foundation(q *Query) []string {
	var parts []string
	for _, g := range q.Subgraphs {
		for _, input := range g.Inputs {
			parts = append(parts, "reads "+InputTopic(input))
		}
		for _, s := range g.Stores {
			parts = append(parts, fmt.Sprintf("store %s, windowed %t, retention %s", s.Name, s.Windowed, Millis(s.Retention)))
		}
		parts = append(parts, layers(g.Root, false)...)
	}
	return parts
}

// layers describes a tree of operators from the root; kept says that something
// above stores what comes out.
func layers(n Node, kept bool) []string {
	var parts []string
	switch n := n.(type) {
	case *Sink, *Filter:
	case *RepartitionSink:
		parts = append(parts, n.Describe()+layout(n.Input.Schema().Columns))
		kept = true
	case *Source:
		if n.Store != "" {
			parts = append(parts, "table "+n.Name+layout(n.Output.Columns))
		}
	case *Project, *Unnest:
		if kept {
			parts = append(parts, n.Describe())
		}
	case *Aggregate:
		parts = append(parts, n.Describe())
		kept = true
	default:
		parts = append(parts, n.Describe())
	}
	for _, input := range n.Inputs() {
		parts = append(parts, layers(input, kept)...)
	}
	return parts
}

// layout is the columns of rows that are stored.
func layout(columns []Column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = c.Name + " " + c.Type.String()
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
