package planner

import (
	"fmt"
	"strings"

	"millrace/exec/expr"
)

// logical is the selection in words, a line a step, in the order in which rows
// pass: EXPLAIN shows it above the operators that it was made into.
func (s *selection) logical(r *result) []string {
	lines := s.logicalInputs()
	if s.where != nil {
		lines = append(lines, "Keep rows where "+s.where.String())
	}
	for _, call := range s.tables {
		lines = append(lines, "Unnest "+call.String())
	}
	if len(s.groups) > 0 {
		lines = append(lines, s.logicalGroups())
	}
	if s.having != nil {
		lines = append(lines, "Keep groups where "+s.having.String())
	}
	if len(s.partition) > 0 {
		lines = append(lines, "Partition by "+expressionList(s.partition))
	}
	var keys, values []string
	for _, k := range r.keys {
		keys = append(keys, named(k.value, k.name))
	}
	for _, v := range r.values {
		values = append(values, named(v.expr, v.name))
	}
	if len(keys) > 0 {
		lines = append(lines, "Key "+strings.Join(keys, ", "))
	}
	return append(lines, "Value "+strings.Join(values, ", "))
}

func (s *selection) logicalInputs() []string {
	var lines []string
	for _, in := range s.scope.inputs {
		text := fmt.Sprintf("Read %s %s", strings.ToLower(string(in.source.Kind)), in.source.Name)
		if in.alias != in.source.Name {
			text += " as " + in.alias
		}
		if t := in.source.Timestamp; t != nil {
			text += ", event time " + t.Column
		}
		lines = append(lines, text)
	}
	if s.join != nil {
		lines = append(lines, fmt.Sprintf("Join %s on %s = %s", s.join.kind, s.join.left, s.join.right))
	}
	return lines
}

func (s *selection) logicalGroups() string {
	text := "Group by " + expressionList(s.groups)
	if s.window != nil {
		text += " in windows " + s.window.String()
	}
	calls := make([]string, len(s.calls))
	for i, c := range s.calls {
		calls[i] = c.text
	}
	text += ": " + strings.Join(calls, ", ")
	if s.final {
		text += ", put out once when a window closes"
	}
	return text
}

func expressionList(list []expr.Expr) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}

func named(e expr.Expr, name string) string {
	if text := e.String(); text != name {
		return text + " AS " + name
	}
	return name
}
