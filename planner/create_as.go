package planner

import (
	"fmt"
	"strings"

	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// Creation is what CREATE STREAM or TABLE AS SELECT makes: a source and the
// query that fills it.
type Creation struct {
	Source *catalog.Source
	Query  *plan.Query
	Exists bool // IF NOT EXISTS was said and it does: nothing is to be done
	// Replaces says that the query takes the place of the one of the same id.
	Replaces bool
}

// sinkProperties are those that CREATE .. AS SELECT takes.
var sinkProperties = []string{
	withTopic, withPartitions, withReplicas, withRetention, withCleanup, withFormat, withKeyFormat, withValueFormat,
	withKeyDelim, withValueDelim, withWrap, withTimestamp, withTimeFormat,
	withKeySchemaID, withValueSchemaID, withKeyName, withValueName,
	withAvroName, withKeyNullable, withValueNullable,
}

// CreateAs plans CREATE STREAM or TABLE AS SELECT.
func (p *Planner) CreateAs(s *ast.CreateSource, text string) (*Creation, error) {
	exists, err := p.checkNew(s)
	if err != nil || exists {
		return &Creation{Exists: exists}, err
	}
	ps, err := resultProperties(s)
	if err != nil {
		return nil, err
	}
	selected, err := p.analyse(s.Query)
	if err != nil {
		return nil, err
	}
	if err := checkResultKind(s, selected); err != nil {
		return nil, err
	}
	r, err := selected.result()
	if err != nil {
		return nil, err
	}
	source, err := p.sinkSource(s, selected, r, ps)
	if err != nil {
		return nil, err
	}
	source.Statement = text
	replaced, replaces := p.Catalog.Source(s.Name)
	if replaces {
		if err := checkReplacement(replaced, source, s.Position); err != nil {
			return nil, err
		}
	}
	id := p.resultQueryID(source, replaced)
	source.CreatedBy = id
	query, err := p.buildQuery(selected, r, id, source, ps)
	if err != nil {
		return nil, err
	}
	query.Statement = text
	if err := p.refuseCircle(query, source, s.Position); err != nil {
		return nil, err
	}
	return &Creation{Source: source, Query: query, Replaces: replaces}, nil
}

// resultProperties reads the WITH clause, and refuses what only declarations have.
func resultProperties(s *ast.CreateSource) (properties, error) {
	ps, err := readProperties(s.Properties, sinkProperties)
	if err != nil {
		return nil, err
	}
	switch {
	case s.ReadOnly:
		return nil, types.Errorf(types.CodeStatement, "SOURCE cannot stand in CREATE .. AS SELECT").At(s.Position)
	case len(s.Columns) > 0:
		return nil, types.Errorf(types.CodeStatement, "CREATE .. AS SELECT takes its columns from SELECT").At(s.Position)
	}
	return ps, nil
}

// resultQueryID is the id of a query that makes a source: a new one, or that of
// the query it replaces, since positions and state go by the id.
func (p *Planner) resultQueryID(source, replaced *catalog.Source) string {
	if replaced != nil {
		return replaced.CreatedBy
	}
	prefix := "CSAS"
	if source.Kind == catalog.Table {
		prefix = "CTAS"
	}
	beginning := prefix + "_" + idPart(source.Name)
	return fmt.Sprintf("%s_%d", beginning, p.Catalog.NextQuery(beginning))
}

func checkResultKind(s *ast.CreateSource, selected *selection) error {
	switch {
	case s.Kind == ast.Stream && selected.table():
		return types.Errorf(types.CodeStatement, "the result of this SELECT is a table").At(s.Position).
			WithHint("use CREATE TABLE %s AS", s.Name)
	case s.Kind == ast.Table && !selected.table():
		return types.Errorf(types.CodeStatement, "the result of this SELECT is a stream").At(s.Position).
			WithHint("use CREATE STREAM %s AS, or GROUP BY", s.Name)
	}
	return nil
}

// sinkSource is the declaration of a query's result.
func (p *Planner) sinkSource(s *ast.CreateSource, selected *selection, r *result, ps properties) (*catalog.Source, error) {
	source := &catalog.Source{Name: s.Name, Kind: catalog.Kind(s.Kind)}
	prefix, _ := p.Catalog.Property(propertyTopicPrefix)
	source.Topic = prefix + s.Name
	named := s.Position
	if topic, at, ok := ps.text(withTopic); ok {
		source.Topic, named = topic, at
	}
	if err := checkTopicName(source.Topic, named); err != nil {
		return nil, err
	}
	for _, k := range r.keys {
		source.Key = append(source.Key, catalog.Column{Name: k.name, Type: k.value.Type()})
	}
	for _, v := range r.values {
		source.Value = append(source.Value, catalog.Column{Name: v.name, Type: v.expr.Type()})
	}
	source.Window = selected.keyWindow()
	if err := p.sinkFormats(source, selected, ps, s.Position); err != nil {
		return nil, err
	}
	var err error
	source.Timestamp, err = timestampColumn(ps, source)
	return source, err
}

// keyWindow is the window of the result's key: the query's own, or the one that
// the input's key has, unless the result has another key.
func (s *selection) keyWindow() *catalog.KeyWindow {
	switch {
	case s.window != nil:
		return &catalog.KeyWindow{Kind: s.window.Kind, Size: s.window.Size}
	case len(s.groups) > 0 || len(s.partition) > 0 || s.keyless:
		return nil
	}
	return s.scope.inputs[0].source.Window
}

// sinkFormats settles a result's formats: given, or those of the (left) source.
func (p *Planner) sinkFormats(source *catalog.Source, selected *selection, ps properties, at types.Position) error {
	from := selected.scope.inputs[0].source
	key, value, err := p.formatNames(ps)
	if err != nil {
		return err
	}
	if len(source.Key) == 0 {
		if given, ok := ps[withKeyFormat]; ok && key != "NONE" {
			return types.Errorf(types.CodeKey, "the result has no key, so it cannot have the key format %s", key).At(given.Position)
		}
		key = "NONE"
	} else if key == "" {
		if key = from.KeyFormat.Name; key == "NONE" {
			key = p.defaultKeyFormat()
		}
	}
	if value == "" {
		value = from.ValueFormat.Name
	}
	return p.setFormats(source, from, ps, key, value, at)
}

// buildQuery makes the physical plan that fills source.
func (p *Planner) buildQuery(selected *selection, r *result, id string, source *catalog.Source, ps properties) (*plan.Query, error) {
	b := selected.newBuilder(id)
	if err := b.input(); err != nil {
		return nil, err
	}
	if len(selected.groups) > 0 {
		b.aggregate()
	}
	b.unnest()
	b.placeJoinKey()
	b.sinkInput(r)
	b.sink(source)
	b.orderForWindows()
	b.query.Logical = selected.logical(r)
	return b.query, b.sinkTopic(source, ps)
}

// placeJoinKey says where the join's key stands.
func (b *builder) placeJoinKey() {
	key := b.node.Schema().Key
	for id, r := range b.s.scope.refs {
		if r.kind == joinKeyRef && len(key) > 0 {
			b.place[id] = key[0]
		}
	}
}

// sink ends the plan with the operator that writes source.
func (b *builder) sink(source *catalog.Source) {
	sink := &plan.Sink{
		Input: b.node, Name: source.Name, Topic: source.Topic, KeyFormat: source.KeyFormat, ValueFormat: source.ValueFormat,
		PassesNullKeys: len(b.s.partition) == 0,
	}
	at := 0
	field := func(c catalog.Column) plan.Field {
		at++
		return plan.Field{Name: c.Name, Type: c.Type, Column: at - 1}
	}
	for _, c := range source.Key {
		sink.Key = append(sink.Key, field(c))
	}
	for _, c := range source.Value {
		sink.Value = append(sink.Value, field(c))
	}
	if t := source.Timestamp; t != nil {
		for _, f := range append(append([]plan.Field{}, sink.Key...), sink.Value...) {
			if f.Name == t.Column {
				sink.Timestamp = &plan.Timestamp{Column: f.Column, Format: t.Format, FailOnInvalid: b.s.planner.flag(propertyThrowOnTime)}
			}
		}
		// A source's TIMESTAMP is not inherited: the records carry it now.
		source.Timestamp = nil
	}
	b.graph.Root = sink
	b.query.SinkTopic = source.Topic
}

// sinkTopic settles how a missing sink topic is to be made.
func (b *builder) sinkTopic(source *catalog.Source, ps properties) error {
	config, err := ps.topicConfig()
	if err != nil {
		return err
	}
	if _, given := config["cleanup.policy"]; !given && source.Kind == catalog.Table {
		config["cleanup.policy"] = "compact"
		if source.Window != nil {
			config["cleanup.policy"] = "compact,delete"
		}
	}
	b.query.SinkConfig = config
	for _, setting := range []struct {
		property, session string
		target            *int
	}{
		{withPartitions, propertyPartitions, &b.query.SinkPartitions},
		{withReplicas, propertyReplicas, &b.query.SinkReplicas},
	} {
		n, given, err := ps.number(setting.property, 1)
		if err != nil {
			return err
		}
		if !given {
			if text, ok := b.s.planner.Catalog.Property(setting.session); ok {
				if _, err := fmt.Sscan(strings.TrimSpace(text), &n); err != nil || n < 1 {
					return types.Errorf(types.CodeProperty, "property %s must be a whole number of at least 1, not '%s'", setting.session, text)
				}
			}
		}
		*setting.target = int(n)
	}
	return nil
}
