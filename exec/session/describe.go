package session

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/ast"
)

// describe executes DESCRIBE.
func (s *Session) describe(ctx context.Context, n *ast.Describe) (*Result, error) {
	switch n.What {
	case "STREAMS", "TABLES":
		result := &Result{}
		for _, source := range s.sourcesOf(n.What) {
			result.Tables = append(result.Tables, s.describeSource(ctx, source, n.Extended)...)
		}
		return result, nil
	case "FUNCTION":
		return s.describeFunction(n)
	case "CONNECTOR":
		return nil, noConnectors(n.Position)
	}
	source, err := s.planner(ctx).Source(n.Name, n.Position)
	if err != nil {
		return nil, err
	}
	return &Result{Tables: s.describeSource(ctx, source, n.Extended)}, nil
}

func (s *Session) describeSource(ctx context.Context, source *catalog.Source, extended bool) []Table {
	columns := Table{Title: string(source.Kind) + " " + source.Name, Columns: []string{"column", "type", "role"}}
	key := "KEY"
	if source.Kind == catalog.Table {
		key = "PRIMARY KEY"
	}
	if source.Window != nil {
		key += ", " + string(source.Window.Kind) + " window"
	}
	for _, c := range source.Key {
		columns.add(c.Name, c.Type.String(), key)
	}
	for _, c := range source.Value {
		columns.add(c.Name, c.Type.String(), nil)
	}
	for _, c := range source.Headers {
		role := "HEADERS"
		if c.Key != "" {
			role = "HEADER('" + c.Key + "')"
		}
		columns.add(c.Name, c.Type.String(), role)
	}
	if !extended {
		return []Table{columns}
	}
	return append([]Table{columns}, s.details(ctx, source), s.queriesOf(source))
}

// details are what DESCRIBE EXTENDED says besides the columns.
func (s *Session) details(ctx context.Context, source *catalog.Source) Table {
	t := Table{Columns: []string{"property", "value"}}
	t.add("topic", source.Topic)
	if source.Partitions > 0 {
		t.add("partitions", strconv.Itoa(source.Partitions))
	}
	t.add("key format", formatText(source.KeyFormat))
	t.add("value format", formatText(source.ValueFormat))
	if source.Timestamp != nil {
		t.add("timestamp column", source.Timestamp.Column)
		t.add("timestamp format", orNil(source.Timestamp.Format))
	}
	if source.ReadOnly {
		t.add("read only", "true")
	}
	if rows, known := s.rows(ctx, source); known {
		t.add("rows so far", strconv.FormatInt(rows, 10))
	}
	t.add("statement", orNil(source.Statement))
	return t
}

func formatText(f catalog.Format) string {
	text := f.Name
	if f.Delimiter != "" {
		text += " with '" + f.Delimiter + "'"
	}
	if f.Wrapping != "" {
		text += ", " + strings.ToLower(strings.ReplaceAll(f.Wrapping, "_", " "))
	}
	return text
}

// queriesOf are the queries that write, keep or read a source.
func (s *Session) queriesOf(source *catalog.Source) Table {
	t := Table{Columns: []string{"query", "does", "state"}}
	for _, q := range s.catalog.Queries() {
		if q.Sink == source.Name {
			t.add(q.ID, "writes", s.status(q.ID).State)
		}
		if q.ID == source.KeptBy {
			t.add(q.ID, "keeps", s.status(q.ID).State)
		} else if slices.Contains(q.Sources, source.Name) {
			t.add(q.ID, "reads", s.status(q.ID).State)
		}
	}
	return t
}
