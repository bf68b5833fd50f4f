package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/exec"
	"millrace/exec/session"
	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/kafkaio/memory"
	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/planner/plan"
)

// Options sets up a replay.
type Options struct {
	Properties map[string]string // session properties set before the first statement
	// Directory is where relative file names in the statements start from.
	Directory string
	// BatchRows bounds the rows that are processed at once; 0: no bound but the
	// engine's. The answer does not depend on it.
	BatchRows int
	// Together feeds all inputs before anything is processed, so that batches
	// form, instead of one record at a time.
	Together bool
	Events   exec.Events
}

// Replay is one run of statements over recorded inputs.
type Replay struct {
	options  Options
	log      *memory.Log
	engine   *exec.Engine
	session  *session.Session
	producer kafkaio.Producer
	fetcher  kafkaio.Fetcher
	schemas  *schemas
	recorder *Recorder
	topics   map[string]Topic
	position map[kafkaio.TopicPartition]int64
}

const service = "replay"

// New prepares a replay of a case.
func New(ctx context.Context, c Case, options Options) (*Replay, error) {
	r := &Replay{
		options: options, log: memory.New(), schemas: newSchemas(), topics: map[string]Topic{}, position: map[kafkaio.TopicPartition]int64{},
	}
	r.recorder = NewRecorder(r.schemas)
	r.engine = exec.New(r.log, exec.Options{Service: service, Registry: r.schemas, BatchRows: options.BatchRows, Events: options.Events})
	r.session = session.New(session.Options{
		Log: r.log, Engine: listedTopics{r.engine, r.topics}, Service: service, Registry: r.schemas, Now: func() int64 { return 0 },
		Directory: options.Directory, Partitions: func(topic string) int { return r.topics[topic].Partitions },
	})
	for _, name := range slices.Sorted(maps.Keys(options.Properties)) {
		r.session.SetProperty(name, options.Properties[name])
	}
	for _, t := range c.Topics {
		if err := r.addTopic(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, in := range c.Inputs {
		if err := r.addTopic(ctx, Topic{Name: in.Topic, Partitions: 1}); err != nil {
			return nil, err
		}
	}
	r.producer = r.log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "_millrace_" + service + "_inputs"})
	return r, r.producer.Init(ctx)
}

// listedTopics takes the numbers of partitions that a case gives its topics for
// true: all have one here.
type listedTopics struct {
	*exec.Engine
	topics map[string]Topic
}

// Start implements session.Engine.
func (e listedTopics) Start(ctx context.Context, q *plan.Query) error {
	return e.Engine.Start(ctx, e.unbound(q))
}

// CheckTopics refuses what Start would refuse.
func (e listedTopics) CheckTopics(ctx context.Context, q *plan.Query) error {
	return e.Engine.CheckTopics(ctx, e.unbound(q))
}

// unbound is a query that takes its topic as it is, if the case lists it.
func (e listedTopics) unbound(q *plan.Query) *plan.Query {
	if _, listed := e.topics[q.SinkTopic]; !listed {
		return q
	}
	unbound := *q
	unbound.SinkPartitions = 0
	return &unbound
}

// addTopic makes a topic, with one partition whatever the case says: the order
// of the output is then the order of production.
func (r *Replay) addTopic(ctx context.Context, t Topic) error {
	if _, known := r.topics[t.Name]; known || t.Name == "" {
		return nil
	}
	t.Partitions = max(t.Partitions, 1)
	r.topics[t.Name] = t
	r.schemas.add(t)
	return r.log.CreateTopic(ctx, kafkaio.TopicSpec{Name: t.Name, Partitions: 1})
}

// Session executes the replay's statements.
func (r *Replay) Session() *session.Session { return r.session }

// Run executes the statements and feeds the inputs; emit gets each record that
// a query writes.
func (r *Replay) Run(ctx context.Context, statements string, inputs []Input, emit func(Output) error) error {
	if err := r.session.Script(ctx, statements, nil); err != nil {
		return err
	}
	if err := r.settle(ctx, emit); err != nil {
		return err
	}
	for i, in := range inputs {
		if err := r.feed(ctx, in); err != nil {
			return fmt.Errorf("input %d: %w", i+1, err)
		}
		if r.options.Together && i < len(inputs)-1 {
			continue
		}
		if err := r.settle(ctx, emit); err != nil {
			return err
		}
	}
	return nil
}

// feed writes one input to its topic. It is not output, even if a query writes
// to the same topic.
func (r *Replay) feed(ctx context.Context, in Input) error {
	key, value, err := r.encode(in)
	if err != nil {
		return err
	}
	headers, err := headerBlock(in.Headers)
	if err != nil {
		return err
	}
	to := kafkaio.TopicPartition{Topic: in.Topic}
	if err := r.producer.Append(ctx, to, in.Timestamp, key, value, headers); err != nil {
		return err
	}
	if err := r.producer.Commit(ctx); err != nil {
		return err
	}
	if _, sink := r.sinks()[in.Topic]; sink {
		return r.skip(ctx, to)
	}
	return nil
}

func (r *Replay) skip(ctx context.Context, to kafkaio.TopicPartition) error {
	ranges, err := r.log.Offsets(ctx, []kafkaio.TopicPartition{to})
	if err != nil {
		return err
	}
	r.position[to] = ranges[to].Stable
	return nil
}

func (r *Replay) encode(in Input) (key, value []byte, err error) {
	source := r.source(in.Topic)
	if source == nil {
		source = &catalog.Source{KeyFormat: catalog.Format{Name: "KAFKA"}, ValueFormat: catalog.Format{Name: "JSON"}}
	}
	written := *source
	if id, ok := r.schemas.ids[registry.Subject(in.Topic, true)]; ok {
		written.KeyFormat.SchemaID = id
	}
	if id, ok := r.schemas.ids[registry.Subject(in.Topic, false)]; ok {
		written.ValueFormat.SchemaID = id
	}
	if key, err = r.recorder.encode(in.Key, &written, true); err != nil {
		return nil, nil, fmt.Errorf("key: %w", err)
	}
	if value, err = r.recorder.encode(in.Value, &written, false); err != nil {
		return nil, nil, fmt.Errorf("value: %w", err)
	}
	if key != nil {
		key = windowKey(key, in.Window)
	}
	return key, value, nil
}

// source is the first declared source over a topic.
func (r *Replay) source(topic string) *catalog.Source {
	for _, s := range r.session.Catalog().Sources() {
		if s.Topic == topic {
			return s
		}
	}
	return nil
}

// sinks are the topics that queries write, with the source over each.
func (r *Replay) sinks() map[string]*catalog.Source {
	out := map[string]*catalog.Source{}
	for _, q := range r.session.Catalog().Queries() {
		if s, ok := r.session.Catalog().Source(q.Sink); ok {
			out[s.Topic] = s
		}
	}
	return out
}

// settle lets the queries process what is there and hands on what they wrote.
func (r *Replay) settle(ctx context.Context, emit func(Output) error) error {
	if err := r.engine.RunUntilIdle(ctx); err != nil {
		return err
	}
	sinks := r.sinks()
	for _, topic := range slices.Sorted(maps.Keys(sinks)) {
		if err := r.drain(ctx, sinks[topic], emit); err != nil {
			return err
		}
	}
	for _, id := range r.engine.Queries() {
		if status := r.engine.Status(id); status.State == exec.Failed {
			return fmt.Errorf("query %s failed: %w", id, task.WithoutQuery(status.Cause))
		}
	}
	return nil
}

// drain reads what is new in a sink's topic.
func (r *Replay) drain(ctx context.Context, sink *catalog.Source, emit func(Output) error) error {
	tp := kafkaio.TopicPartition{Topic: sink.Topic}
	ranges, err := r.log.Offsets(ctx, []kafkaio.TopicPartition{tp})
	if errors.Is(err, kafkaio.ErrUnknownTopic) {
		return nil
	}
	if err != nil || ranges[tp].Stable <= r.position[tp] {
		return err
	}
	if r.fetcher == nil {
		r.fetcher = r.log.NewFetcher(kafkaio.FetchOptions{})
	}
	for r.position[tp] < ranges[tp].Stable {
		r.fetcher.Assign(map[kafkaio.TopicPartition]int64{tp: r.position[tp]})
		runs, err := r.fetcher.Poll(ctx, 0)
		if err != nil {
			return err
		}
		for _, run := range runs {
			err := r.emitRun(sink, run, emit)
			r.position[tp] = run.Next
			run.Release()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Replay) emitRun(sink *catalog.Source, run *kafkaio.Records, emit func(Output) error) error {
	for i := range run.Len() {
		out, err := r.recorder.Record(sink, run, i)
		if err != nil {
			return err
		}
		if err := emit(out); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the replay.
func (r *Replay) Close(ctx context.Context) error {
	faults := []error{r.engine.Close(ctx), r.session.Close(), r.producer.Close()}
	if r.fetcher != nil {
		faults = append(faults, r.fetcher.Close())
	}
	return errors.Join(faults...)
}

// SourceInfo describes a declared source for tools.
type SourceInfo struct {
	Name          string   `json:"name"`
	Type          string   `json:"type"`
	Schema        string   `json:"schema"`
	KeyFormat     any      `json:"keyFormat"`
	ValueFormat   string   `json:"valueFormat"`
	KeyFeatures   []string `json:"keyFeatures"`
	ValueFeatures []string `json:"valueFeatures"`
	IsSource      bool     `json:"isSource"`
}

type windowedFormat struct {
	Format     string `json:"format"`
	WindowType string `json:"windowType"`
	WindowSize int64  `json:"windowSize,omitempty"`
}

// keyFeatures says that a single key column stands bare, where the format could
// have wrapped it.
func keyFeatures(s *catalog.Source) []string {
	if kind, ok := format.Lookup(s.KeyFormat.Name); ok && kind.Wraps() && s.KeyFormat.Unwrapped {
		return []string{"UNWRAP_SINGLES"}
	}
	return []string{}
}

// Sources describes what the statements declared.
func (r *Replay) Sources() []SourceInfo {
	infos := []SourceInfo{}
	for _, s := range r.session.Catalog().Sources() {
		info := SourceInfo{
			Name: s.Name, Type: string(s.Kind), Schema: strings.ReplaceAll(s.Schema(), " PRIMARY KEY", " KEY"),
			KeyFormat: s.KeyFormat.Name, ValueFormat: s.ValueFormat.Name,
			KeyFeatures: keyFeatures(s), ValueFeatures: []string{}, IsSource: s.ReadOnly,
		}
		if s.Window != nil {
			info.KeyFormat = windowedFormat{s.KeyFormat.Name, string(s.Window.Kind), s.Window.Size}
		}
		if s.ValueFormat.Wrapping != "" {
			info.ValueFeatures = append(info.ValueFeatures, s.ValueFormat.Wrapping)
		}
		infos = append(infos, info)
	}
	return infos
}
