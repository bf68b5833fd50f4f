package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// Topics is what the topics of a query are like.
type Topics struct {
	known  map[string]kafkaio.Topic
	limits SinkLimits
}

// Limits is what the sink's topic takes.
func (t *Topics) Limits() SinkLimits { return t.limits }

// Partitions is how many partitions a topic has.
func (t *Topics) Partitions(topic string) int { return t.known[topic].Partitions }

// Tasks is how many tasks a subgraph has: one a partition of its inputs.
func (t *Topics) Tasks(subgraph *plan.Subgraph) int {
	most := 0
	for _, input := range subgraph.Inputs {
		most = max(most, t.Partitions(plan.InputTopic(input)))
	}
	return most
}

// IDs are the ids of the topics that hold what a query has seen and remembers:
// its sources and changelogs.
func (t *Topics) IDs(query *plan.Query) map[string][16]byte {
	ids := make(map[string][16]byte)
	for _, name := range sourceTopics(query) {
		ids[name] = t.known[name].ID
	}
	for _, g := range query.Subgraphs {
		for _, s := range g.Stores {
			if s.Changelog != "" {
				ids[s.Changelog] = t.known[s.Changelog].ID
			}
		}
	}
	return ids
}

// anyFuture lifts the broker's limit of one hour on timestamps in the future:
// event times are none of its business.
const anyFuture = "message.timestamp.after.max.ms"

var noLimit = strconv.FormatInt(math.MaxInt64, 10)

// PrepareTopics looks at the topics of a query, refuses those that do not fit,
// and makes the internal ones and the sink's where they are missing. Errors
// that the user has to mend are *types.Error.
func PrepareTopics(ctx context.Context, log kafkaio.Log, query *plan.Query) (*Topics, error) {
	known, err := log.Topics(ctx, topicNames(query)...)
	if err != nil {
		return nil, fmt.Errorf("query %s: topics: %w", query.ID, err)
	}
	t := &Topics{known: known}
	if err := t.checkSources(query); err != nil {
		return nil, err
	}
	replicas := 0
	for _, name := range sourceTopics(query) {
		replicas = max(replicas, known[name].Replicas)
	}
	for _, r := range query.Repartitions {
		spec := kafkaio.TopicSpec{Name: r.Topic, Partitions: t.Partitions(r.PartitionsOf), Replicas: replicas, Config: repartitionConfig()}
		if err := t.require(ctx, log, spec); err != nil {
			return nil, err
		}
	}
	for _, g := range query.Subgraphs {
		if err := t.checkInputs(g); err != nil {
			return nil, err
		}
		for _, s := range g.Stores {
			if s.Changelog == "" {
				continue
			}
			spec := kafkaio.TopicSpec{Name: s.Changelog, Partitions: t.Tasks(g), Replicas: replicas, Config: changelogConfig(s)}
			if err := t.require(ctx, log, spec); err != nil {
				return nil, err
			}
		}
	}
	return t, t.createSink(ctx, log, query)
}

// CheckTopics looks at the topics of a query and refuses those that PrepareTopics
// would refuse: sources that are missing or cannot be joined, and a sink with another
// number of partitions. It makes nothing.
func CheckTopics(ctx context.Context, log kafkaio.Log, query *plan.Query) error {
	known, err := log.Topics(ctx, topicNames(query)...)
	if err != nil {
		return fmt.Errorf("query %s: topics: %w", query.ID, err)
	}
	t := &Topics{known: known}
	if err := t.checkSources(query); err != nil {
		return err
	}
	return t.checkSink(query)
}

// topicNames are all topics of a query.
func topicNames(query *plan.Query) []string {
	names := append(sourceTopics(query), InternalTopics(query)...)
	if query.SinkTopic != "" {
		names = append(names, query.SinkTopic)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// InternalTopics are the topics that belong to the query alone.
func InternalTopics(query *plan.Query) []string {
	var names []string
	for _, r := range query.Repartitions {
		names = append(names, r.Topic)
	}
	return append(names, Changelogs(query)...)
}

// Changelogs are the topics of a query's changelogs.
func Changelogs(query *plan.Query) []string {
	var names []string
	for _, g := range query.Subgraphs {
		for _, s := range g.Stores {
			if s.Changelog != "" {
				names = append(names, s.Changelog)
			}
		}
	}
	return names
}

// sourceTopics are the topics of streams and tables that the query reads, the
// first source's first.
func sourceTopics(query *plan.Query) []string {
	var names []string
	for _, g := range query.Subgraphs {
		for _, input := range g.Inputs {
			if source, ok := input.(*plan.Source); ok && !slices.Contains(names, source.Topic) {
				names = append(names, source.Topic)
			}
		}
	}
	return names
}

func (t *Topics) checkSources(query *plan.Query) error {
	for _, name := range sourceTopics(query) {
		if _, ok := t.known[name]; !ok {
			return types.Errorf(types.CodeStatement, "the topic %s does not exist or may not be read", name).
				WithHint("create it, or declare its source with PARTITIONS")
		}
	}
	for _, set := range query.CoPartitioned {
		if err := t.checkEqual(set); err != nil {
			return err
		}
	}
	return nil
}

// checkInputs makes sure that equal keys of a subgraph's inputs have the same
// partition number.
func (t *Topics) checkInputs(g *plan.Subgraph) error {
	names := make([]string, len(g.Inputs))
	for i, input := range g.Inputs {
		names[i] = plan.InputTopic(input)
	}
	return t.checkEqual(names)
}

func (t *Topics) checkEqual(names []string) error {
	for _, name := range names {
		if t.Partitions(name) == t.Partitions(names[0]) {
			continue
		}
		counts := make([]string, len(names))
		for i, name := range names {
			counts[i] = fmt.Sprintf("%s has %d", name, t.Partitions(name))
		}
		return types.Errorf(types.CodeStatement, "topics that are joined must have the same number of partitions, but %s", strings.Join(counts, ", ")).
			WithHint("write one of them anew with CREATE STREAM .. WITH (PARTITIONS=%d) AS SELECT", t.Partitions(names[0]))
	}
	return nil
}

// require makes an internal topic, or checks the one that is there.
func (t *Topics) require(ctx context.Context, log kafkaio.Log, spec kafkaio.TopicSpec) error {
	if existing, ok := t.known[spec.Name]; ok {
		if existing.Partitions != spec.Partitions {
			return types.Errorf(types.CodeStatement, "the internal topic %s has %d partitions, but the sources have %d now",
				spec.Name, existing.Partitions, spec.Partitions).
				WithHint("drop the query with its topics and create it again")
		}
		return nil
	}
	return t.create(ctx, log, spec)
}

func (t *Topics) create(ctx context.Context, log kafkaio.Log, spec kafkaio.TopicSpec) error {
	if err := log.CreateTopic(ctx, spec); err != nil && !errors.Is(err, kafkaio.ErrTopicExists) {
		return fmt.Errorf("create topic %s: %w", spec.Name, err)
	}
	made, err := log.Topics(ctx, spec.Name)
	if err != nil {
		return fmt.Errorf("topic %s: %w", spec.Name, err)
	}
	topic, ok := made[spec.Name]
	if !ok {
		return fmt.Errorf("topic %s: %w", spec.Name, kafkaio.ErrUnknownTopic)
	}
	t.known[spec.Name] = topic
	return nil
}

// repartitionConfig keeps records until the query has read and deleted them.
func repartitionConfig() map[string]string {
	return map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", anyFuture: noLimit}
}

// windowedRest is how long windows stay in a changelog after their retention.
// That counts from the time of writing: a retention by event time would delete
// the state of a query over old records at once.
const windowedRest = 7 * 24 * time.Hour

func changelogConfig(s plan.Store) map[string]string {
	config := map[string]string{"cleanup.policy": "compact", anyFuture: noLimit}
	if s.Windowed {
		config["cleanup.policy"] = "compact,delete"
		config["message.timestamp.type"] = "LogAppendTime"
		config["retention.ms"] = strconv.FormatInt(addSaturated(s.Retention, windowedRest.Milliseconds()), 10)
	}
	return config
}

func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// createSink makes the topic that the query writes, unless it exists; then its
// number of partitions must be the one asked for, if one was. Partitions,
// replicas and retention are the first source's where the statement has none.
func (t *Topics) createSink(ctx context.Context, log kafkaio.Log, query *plan.Query) error {
	if query.SinkTopic == "" {
		return nil
	}
	if _, ok := t.known[query.SinkTopic]; ok {
		if err := t.checkSink(query); err != nil {
			return err
		}
		config, err := log.TopicConfig(ctx, query.SinkTopic)
		if err != nil {
			return fmt.Errorf("configuration of topic %s: %w", query.SinkTopic, err)
		}
		t.limits = limitsOf(config)
		return nil
	}
	sources := sourceTopics(query)
	if len(sources) == 0 {
		return fmt.Errorf("query %s reads no topic", query.ID)
	}
	first := t.known[sources[0]]
	spec := kafkaio.TopicSpec{Name: query.SinkTopic, Partitions: query.SinkPartitions, Replicas: query.SinkReplicas}
	if spec.Partitions == 0 {
		spec.Partitions = first.Partitions
	}
	if spec.Replicas == 0 {
		spec.Replicas = first.Replicas
	}
	var err error
	if spec.Config, err = sinkConfig(ctx, log, query, first.Name); err != nil {
		return err
	}
	return t.create(ctx, log, spec)
}

// checkSink compares the partitions of the sink's topic, if it exists, with those
// that the statement asks for.
func (t *Topics) checkSink(query *plan.Query) error {
	existing, ok := t.known[query.SinkTopic]
	if !ok || query.SinkPartitions == 0 || query.SinkPartitions == existing.Partitions {
		return nil
	}
	return types.Errorf(types.CodeProperty, "topic %s exists, and the number of its partitions is %d, not %d",
		query.SinkTopic, existing.Partitions, query.SinkPartitions)
}

func sinkConfig(ctx context.Context, log kafkaio.Log, query *plan.Query, source string) (map[string]string, error) {
	config := map[string]string{anyFuture: noLimit}
	schema := sinkSchema(query)
	switch {
	case schema.Changes && schema.Window == nil:
		config["cleanup.policy"] = "compact"
	case schema.Changes:
		config["cleanup.policy"] = "compact,delete"
	}
	maps.Copy(config, query.SinkConfig)
	if _, told := config["retention.ms"]; told || config["cleanup.policy"] == "compact" {
		return config, nil
	}
	config["retention.ms"] = "-1"
	from, err := log.TopicConfig(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("configuration of topic %s: %w", source, err)
	}
	if retention, ok := from["retention.ms"]; ok {
		config["retention.ms"] = retention
	}
	return config, nil
}

func sinkSchema(query *plan.Query) plan.Schema {
	for _, g := range query.Subgraphs {
		if root, ok := g.Root.(*plan.Sink); ok {
			return root.Schema()
		}
	}
	return plan.Schema{}
}
