package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// show executes SHOW and LIST.
func (s *Session) show(ctx context.Context, n *ast.Show) (*Result, error) {
	switch n.What {
	case "STREAMS", "TABLES":
		return s.showSources(ctx, n), nil
	case "TOPICS":
		return s.showTopics(ctx, n)
	case "QUERIES":
		return s.showQueries(n), nil
	case "FUNCTIONS":
		return s.showFunctions(), nil
	case "TYPES":
		return s.showTypes(), nil
	case "PROPERTIES":
		return s.showProperties(), nil
	case "VARIABLES":
		return s.showVariables(), nil
	case "CONNECTORS", "SOURCE CONNECTORS", "SINK CONNECTORS", "CONNECTOR PLUGINS":
		return nil, noConnectors(n.Position)
	}
	return nil, types.Unsupported("SHOW " + n.What).At(n.Position)
}

func one(t Table) *Result { return &Result{Tables: []Table{t}} }

// sourcesOf are the streams or the tables.
func (s *Session) sourcesOf(what string) []*catalog.Source {
	return slices.DeleteFunc(s.catalog.Sources(), func(source *catalog.Source) bool { return string(source.Kind)+"S" != what })
}

func (s *Session) showSources(ctx context.Context, n *ast.Show) *Result {
	if n.Extended {
		result := &Result{}
		for _, source := range s.sourcesOf(n.What) {
			result.Tables = append(result.Tables, s.describeSource(ctx, source, true)...)
		}
		return result
	}
	t := Table{Columns: []string{"name", "topic", "key_format", "value_format", "windowed", "read_only"}}
	for _, source := range s.sourcesOf(n.What) {
		t.add(source.Name, source.Topic, source.KeyFormat.Name, source.ValueFormat.Name, source.Window != nil, source.ReadOnly)
	}
	return one(t)
}

// internalPrefix begins the names of topics that belong to queries.
const internalPrefix = "_millrace_"

func (s *Session) showTopics(ctx context.Context, n *ast.Show) (*Result, error) {
	t := Table{Columns: []string{"topic", "partitions", "replicas", "sources"}}
	if s.options.Log == nil {
		return one(t), nil
	}
	topics, err := s.options.Log.Topics(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		topic := topics[name]
		if !n.All && (topic.Internal || strings.HasPrefix(name, internalPrefix)) {
			continue
		}
		var sources []string
		for _, source := range s.catalog.Sources() {
			if source.Topic == name {
				sources = append(sources, source.Name)
			}
		}
		t.add(name, int64(s.partitions(topic)), int64(topic.Replicas), list(sources))
	}
	return one(t), nil
}

func (s *Session) showQueries(n *ast.Show) *Result {
	t := Table{Columns: []string{"query", "state", "writes", "reads", "statement"}}
	if n.Extended {
		t.Columns = []string{"query", "state", "records_in", "records_out", "late", "skipped", "row_errors", "lag", "cause"}
	}
	for _, q := range s.catalog.Queries() {
		status := s.status(q.ID)
		if !n.Extended {
			t.add(q.ID, status.State, orNil(q.Sink), list(q.Sources), q.Statement)
			continue
		}
		var cause any
		if status.Cause != nil {
			cause = status.Cause.Error()
		}
		t.add(q.ID, status.State, status.In, status.Out, status.Late, status.Skipped, status.RowErrors, status.Lag, cause)
	}
	return one(t)
}

func (s *Session) showTypes() *Result {
	t := Table{Columns: []string{"type", "stands_for"}}
	for _, name := range s.catalog.Types() {
		resolved, _ := s.catalog.Type(name)
		t.add(name, resolved.String())
	}
	return one(t)
}

func (s *Session) showProperties() *Result {
	t := Table{Columns: []string{"property", "value", "set", "meaning"}}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(knownProperties)) {
		p := knownProperties[name]
		seen[name], seen[streamsPrefix+name] = true, true
		value, set := s.catalog.Property(name)
		if prefixed, also := s.catalog.Property(streamsPrefix + name); also && !set {
			value, set = prefixed, true
		}
		t.add(name, orNil(cmp.Or(shown(name, value), p.initial)), set, p.doc)
	}
	for _, name := range slices.Sorted(maps.Keys(s.catalog.Properties)) {
		switch {
		case seen[name]:
		case limitsAggregate(name):
			t.add(name, shown(name, s.catalog.Properties[name]), true, "how many elements an aggregate keeps")
		default:
			t.add(name, shown(name, s.catalog.Properties[name]), true, "no effect here")
		}
	}
	return one(t)
}

func (s *Session) showVariables() *Result {
	t := Table{Columns: []string{"variable", "value"}}
	for _, name := range slices.Sorted(maps.Keys(s.catalog.Variables)) {
		t.add(name, s.catalog.Variables[name])
	}
	return one(t)
}
