package planner

import (
	"fmt"
	"slices"
	"strings"

	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// checkReplacement refuses a declaration that cannot take the place of another
// one over the same records: columns may be added at the end of the value, and
// nothing else may differ.
func checkReplacement(old, next *catalog.Source, at types.Position) error {
	fault := func(what string, was, is any) error {
		return types.Errorf(types.CodeStatement, "%s cannot be replaced: its %s is %v, not %v", old.Name, what, was, is).At(at).
			WithHint("columns can be added at the end; drop it first for other changes")
	}
	switch {
	case old.Topic != next.Topic:
		return fault("topic", old.Topic, next.Topic)
	case old.KeyFormat.Name != next.KeyFormat.Name:
		return fault("key format", old.KeyFormat.Name, next.KeyFormat.Name)
	case old.ValueFormat.Name != next.ValueFormat.Name:
		return fault("value format", old.ValueFormat.Name, next.ValueFormat.Name)
	case old.KeyFormat.Delimiter != next.KeyFormat.Delimiter || old.ValueFormat.Delimiter != next.ValueFormat.Delimiter:
		return fault("delimiter", delimiters(old), delimiters(next))
	case old.ValueFormat.Unwrapped != next.ValueFormat.Unwrapped:
		return fault("value", wrappingText(old), wrappingText(next))
	case windowText(old) != windowText(next):
		return fault("key's window", windowText(old), windowText(next))
	case columnsText(old.Key) != columnsText(next.Key):
		return fault("key", columnsText(old.Key), columnsText(next.Key))
	}
	for i, c := range old.Value {
		if i >= len(next.Value) {
			return fault("column", columnText(c), "left out")
		}
		if columnText(c) != columnText(next.Value[i]) {
			return fault(fmt.Sprintf("value column %d", i+1), columnText(c), columnText(next.Value[i]))
		}
	}
	return nil
}

func columnText(c catalog.Column) string { return c.Name + " " + c.Type.String() }

func columnsText(columns []catalog.Column) string {
	if len(columns) == 0 {
		return "none"
	}
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = columnText(c)
	}
	return strings.Join(parts, ", ")
}

func delimiters(s *catalog.Source) string {
	return fmt.Sprintf("'%s' and '%s'", s.KeyFormat.Delimiter, s.ValueFormat.Delimiter)
}

func wrappingText(s *catalog.Source) string {
	if s.ValueFormat.Unwrapped {
		return "bare"
	}
	return "wrapped"
}

func windowText(s *catalog.Source) string {
	switch {
	case s.Window == nil:
		return "none"
	case s.Window.Kind == catalog.Session:
		return string(catalog.Session)
	}
	return fmt.Sprintf("%s of %s", s.Window.Kind, plan.Millis(s.Window.Size))
}

// CheckQueryReplacement refuses a query that cannot go on with the positions,
// the stores and the internal topics of the one that it replaces: filters and
// what is computed behind the last store may differ, and nothing else.
func CheckQueryReplacement(old, next *plan.Query, at types.Position) error {
	was, is := plan.Foundation(old), plan.Foundation(next)
	if slices.Equal(was, is) {
		return nil
	}
	what := "it has another number of operators with state"
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			what = fmt.Sprintf("it needs [%s] where that has [%s]", is[i], was[i])
			break
		}
	}
	return types.Errorf(types.CodeStatement, "the new query cannot go on with what query %s has stored: %s", old.ID, what).At(at).
		WithHint("change only the filter and what is computed from the result; drop it first for other changes")
}
