package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// Explain is the query as a tree of operators for people, with its topics and
// stores: the sink at the top, inputs below what reads them.
func (q *Query) Explain() string {
	var out strings.Builder
	fmt.Fprintf(&out, "Query %s\n", q.ID)
	for _, line := range q.Logical {
		fmt.Fprintf(&out, "  %s\n", line)
	}
	for _, g := range q.Subgraphs {
		order := ""
		if g.Ordered {
			order = "  all partitions in the order of event time"
		}
		fmt.Fprintf(&out, "Subgraph %d%s\n", g.ID, order)
		explainNode(&out, g.Root, "  ", "  ")
		for _, s := range g.Stores {
			fmt.Fprintf(&out, "  Store %s", s.Name)
			if s.Windowed {
				fmt.Fprintf(&out, "  windowed  retention=%s", Millis(s.Retention))
			}
			if s.Changelog == "" {
				out.WriteString("  filled from its topic\n")
				continue
			}
			fmt.Fprintf(&out, "  changelog=%s\n", s.Changelog)
		}
	}
	return out.String()
}

func explainNode(out *strings.Builder, n Node, first, rest string) {
	out.WriteString(first)
	out.WriteString(n.Describe())
	out.WriteByte('\n')
	inputs := n.Inputs()
	for i, input := range inputs {
		if i == len(inputs)-1 {
			explainNode(out, input, rest+"└─ ", rest+"   ")
		} else {
			explainNode(out, input, rest+"├─ ", rest+"│  ")
		}
	}
}

// Describe implements Node.
func (n *Source) Describe() string {
	kind := "stream"
	if n.Output.Changes {
		kind = "table"
	}
	text := fmt.Sprintf("Source %s  %s  topic=%s  key=%s value=%s  columns=%s",
		n.Name, kind, n.Topic, n.KeyFormat.Name, n.ValueFormat.Name, columnNames(n.Output.Columns))
	if n.Timestamp != nil {
		text += "  time=" + n.Output.Columns[n.Timestamp.Column].Name
	}
	if n.Store != "" {
		text += "  store=" + n.Store
	}
	return text
}

// Describe implements Node.
func (n *RepartitionSource) Describe() string {
	return fmt.Sprintf("RepartitionSource topic=%s  columns=%s", n.Topic, columnNames(n.Output.Columns))
}

// Describe implements Node.
func (n *Filter) Describe() string { return "Filter " + n.Condition.String() }

// Describe implements Node.
func (n *Project) Describe() string {
	parts := make([]string, len(n.Columns))
	for i, c := range n.Columns {
		text := c.Expr.String()
		parts[i] = text
		if text != c.Name {
			parts[i] = text + " AS " + c.Name
		}
	}
	return "Project " + strings.Join(parts, ", ")
}

// Describe implements Node.
func (n *Unnest) Describe() string {
	parts := make([]string, len(n.Arrays))
	for i, a := range n.Arrays {
		parts[i] = a.Expr.String()
	}
	return "Unnest " + strings.Join(parts, ", ")
}

// Describe implements Node.
func (n *Aggregate) Describe() string {
	columns := n.Input.Schema().Columns
	groups := make([]string, len(n.Groups))
	for i, g := range n.Groups {
		groups[i] = columns[g].Name
	}
	calls := make([]string, len(n.Calls))
	for i, c := range n.Calls {
		calls[i] = c.Name
	}
	text := fmt.Sprintf("Aggregate by=[%s]  %s", strings.Join(groups, ", "), strings.Join(calls, ", "))
	if n.Window != nil {
		text += "  window=" + n.Window.String()
	}
	if n.Final {
		text += "  emit=final"
	}
	return text + "  store=" + n.Store
}

// Describe implements Node.
func (n *StreamTableJoin) Describe() string {
	left, right := n.Left.Schema().Columns, n.Right.Output
	conditions := make([]string, len(n.LeftKey))
	for i, c := range n.LeftKey {
		conditions[i] = left[c].Name + " = " + right.Columns[right.Key[i]].Name
	}
	return fmt.Sprintf("StreamTableJoin %s  on %s", n.Kind, strings.Join(conditions, " AND "))
}

// Describe implements Node.
func (n *RepartitionSink) Describe() string {
	return fmt.Sprintf("RepartitionSink topic=%s  key=%s(%s)", n.Topic, n.KeyFormat.Name, fieldNames(n.Key))
}

// Describe implements Node.
func (n *Sink) Describe() string {
	return fmt.Sprintf("Sink %s  topic=%s  key=%s(%s)  value=%s(%s)",
		n.Name, n.Topic, n.KeyFormat.Name, fieldNames(n.Key), n.ValueFormat.Name, fieldNames(n.Value))
}

// String is the window as EXPLAIN prints it.
func (w *Window) String() string {
	switch {
	case w.Gap > 0 || w.Kind == "SESSION":
		return fmt.Sprintf("SESSION(%s, grace %s)", Millis(w.Gap), Millis(w.Grace))
	case w.Advance != w.Size && w.Advance > 0:
		return fmt.Sprintf("%s(%s, advance by %s, grace %s)", w.Kind, Millis(w.Size), Millis(w.Advance), Millis(w.Grace))
	}
	return fmt.Sprintf("%s(%s, grace %s)", w.Kind, Millis(w.Size), Millis(w.Grace))
}

// Millis is a duration in milliseconds in the largest unit that divides it.
func Millis(ms int64) string {
	units := []struct {
		size int64
		name string
	}{{86_400_000, "d"}, {3_600_000, "h"}, {60_000, "m"}, {1000, "s"}}
	for _, u := range units {
		if ms != 0 && ms%u.size == 0 {
			return strconv.FormatInt(ms/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(ms, 10) + "ms"
}

func columnNames(columns []Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func fieldNames(fields []Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
