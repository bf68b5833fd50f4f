package session

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"millrace/kafkaio"
	"millrace/planner"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// declare executes CREATE STREAM or TABLE over a topic. A missing topic is made
// if the statement says with how many partitions.
func (s *Session) declare(ctx context.Context, n *ast.CreateSource, text string) (*Result, error) {
	d, err := s.planner(ctx).Declare(n, text)
	if err != nil {
		return nil, err
	}
	if d.Exists {
		return existing(n), nil
	}
	missing, err := s.checkTopic(ctx, d)
	if err != nil {
		return nil, err
	}
	if err := s.registerSchemas(ctx, d.Source, true); err != nil {
		return nil, err
	}
	if missing != nil {
		if err := s.options.Log.CreateTopic(ctx, *missing); err != nil {
			return nil, fmt.Errorf("creating topic %s: %w", missing.Name, err)
		}
	}
	if err := s.materialize(ctx, d.Source); err != nil {
		return nil, err
	}
	s.catalog.PutSource(d.Source)
	message := fmt.Sprintf("%s %s over topic %s is declared.", title(d.Source.Kind), n.Name, d.Source.Topic)
	if d.Source.KeptBy != "" {
		message += fmt.Sprintf(" Query %s keeps its rows.", d.Source.KeptBy)
	}
	return &Result{Message: message}, nil
}

func existing(n *ast.CreateSource) *Result {
	return &Result{Message: fmt.Sprintf("%s %s exists already; nothing was done.", title(catalog.Kind(n.Kind)), n.Name)}
}

func title(kind catalog.Kind) string {
	return string(kind[:1]) + strings.ToLower(string(kind[1:]))
}

// checkTopic finds out how many partitions a declared source's topic has. A
// topic that is missing and to be made is given back.
func (s *Session) checkTopic(ctx context.Context, d *planner.Declaration) (missing *kafkaio.TopicSpec, err error) {
	topic := d.Source.Topic
	if s.options.Log == nil {
		d.Source.Partitions = d.Partitions
		return nil, nil
	}
	topics, err := s.options.Log.Topics(ctx, topic)
	if err != nil {
		return nil, err
	}
	if found, ok := topics[topic]; ok {
		d.Source.Partitions = s.partitions(found)
		if s.options.Partitions != nil && d.Partitions > 0 {
			d.Source.Partitions = d.Partitions
		}
		if d.Partitions > 0 && d.Partitions != d.Source.Partitions {
			return nil, types.Errorf(types.CodeStatement, "topic %s has %s, not %d", topic,
				planner.Counted(d.Source.Partitions, "partition"), d.Partitions).
				WithHint("leave PARTITIONS out to take the topic as it is")
		}
		return nil, nil
	}
	if d.Partitions == 0 {
		return nil, types.Errorf(types.CodeStatement, "topic %s does not exist or access to it is denied", topic).
			WithHint("create it first, or add PARTITIONS=n to WITH to have it made")
	}
	d.Source.Partitions = d.Partitions
	return &kafkaio.TopicSpec{Name: topic, Partitions: d.Partitions, Replicas: d.Replicas, Config: sourceTopicConfig(d)}, nil
}

// sourceTopicConfig keeps everything unless told otherwise: event times lie
// anywhere, and a broker's default retention would delete old ones.
func sourceTopicConfig(d *planner.Declaration) map[string]string {
	config := map[string]string{
		"retention.ms":                   "-1",
		"message.timestamp.after.max.ms": strconv.FormatInt(math.MaxInt64, 10),
	}
	if d.Source.Kind == catalog.Table {
		config["cleanup.policy"] = "compact"
	}
	for name, value := range d.Config {
		config[name] = value
	}
	return config
}

func (s *Session) partitions(topic kafkaio.Topic) int {
	if s.options.Partitions != nil {
		if n := s.options.Partitions(topic.Name); n > 0 {
			return n
		}
	}
	return topic.Partitions
}

// createAs executes CREATE STREAM or TABLE AS SELECT.
func (s *Session) createAs(ctx context.Context, n *ast.CreateSource, text string) (*Result, error) {
	creation, err := s.planner(ctx).CreateAs(n, text)
	if err != nil {
		return nil, err
	}
	if creation.Exists {
		return existing(n), nil
	}
	if creation.Replaces {
		if err := s.checkReplacement(creation.Query, n.Position); err != nil {
			return nil, err
		}
	}
	if err := s.checkTopics(ctx, creation.Query); err != nil {
		return nil, err
	}
	if err := s.registerSchemas(ctx, creation.Source, false); err != nil {
		return nil, err
	}
	writeBySchemas(creation.Query, creation.Source)
	_, goesOn := s.catalog.Query(creation.Query.ID)
	if creation.Replaces {
		err = s.replace(ctx, creation.Query)
	} else {
		err = s.start(ctx, creation.Query)
	}
	if err != nil {
		return nil, err
	}
	source := creation.Source
	source.Partitions = s.sinkPartitions(creation.Query)
	s.catalog.PutSource(source)
	s.catalog.PutQuery(&catalog.Query{
		ID: creation.Query.ID, Statement: text, Sink: source.Name, Sources: creation.Query.Sources,
		PassesOn: creation.Query.PassesOn(),
	})
	result := &Result{Query: creation.Query}
	if goesOn {
		result.Message = fmt.Sprintf("Query %s fills %s in its new form and goes on where it was.", creation.Query.ID, source.Name)
	} else {
		result.Message = fmt.Sprintf("%s %s is filled by query %s.", title(source.Kind), source.Name, creation.Query.ID)
	}
	return result, nil
}

// sinkPartitions is how many partitions the sink was made with: those told, or
// the (left) source's.
func (s *Session) sinkPartitions(q *plan.Query) int {
	if q.SinkPartitions > 0 {
		return q.SinkPartitions
	}
	if len(q.Sources) > 0 {
		if source, ok := s.catalog.Source(q.Sources[0]); ok {
			return source.Partitions
		}
	}
	return 0
}

// topicChecker is an Engine that can tell beforehand whether a query's topics let
// it start.
type topicChecker interface {
	// CheckTopics refuses topics as Start would, and makes none.
	CheckTopics(ctx context.Context, q *plan.Query) error
}

// checkTopics refuses a query for its topics before its schemas are registered:
// these stay in the registry whatever becomes of the statement.
func (s *Session) checkTopics(ctx context.Context, q *plan.Query) error {
	if checker, ok := s.options.Engine.(topicChecker); ok {
		return checker.CheckTopics(ctx, q)
	}
	return nil
}

func (s *Session) start(ctx context.Context, q *plan.Query) error {
	if s.options.Engine != nil {
		if err := s.options.Engine.Start(ctx, q); err != nil {
			return err
		}
	}
	s.plans[q.ID] = q
	delete(s.paused, q.ID)
	return nil
}

// insertQuery executes INSERT INTO .. SELECT.
func (s *Session) insertQuery(ctx context.Context, n *ast.InsertQuery, text string) (*Result, error) {
	query, err := s.planner(ctx).Insert(n, text)
	if err != nil {
		return nil, err
	}
	if err := s.checkTopics(ctx, query); err != nil {
		return nil, err
	}
	target, err := s.written(ctx, n.Target)
	if err != nil {
		return nil, err
	}
	writeBySchemas(query, target)
	if err := s.start(ctx, query); err != nil {
		return nil, err
	}
	s.catalog.PutQuery(&catalog.Query{ID: query.ID, Statement: text, Sink: n.Target, Sources: query.Sources, PassesOn: query.PassesOn()})
	return &Result{Message: fmt.Sprintf("Query %s inserts into %s.", query.ID, n.Target), Query: query}, nil
}

// createType executes CREATE TYPE.
func (s *Session) createType(ctx context.Context, n *ast.CreateType) (*Result, error) {
	if _, taken := s.catalog.Type(n.Name); taken {
		if n.IfNotExists {
			return &Result{Message: fmt.Sprintf("Type %s exists already; nothing was done.", n.Name)}, nil
		}
		return nil, types.Errorf(types.CodeStatement, "a type called %s exists already", n.Name).At(n.Position)
	}
	t, err := s.planner(ctx).ResolveType(n.Type)
	if err != nil {
		return nil, err
	}
	s.catalog.PutType(n.Name, t)
	return &Result{Message: fmt.Sprintf("Type %s is %s.", n.Name, t)}, nil
}
