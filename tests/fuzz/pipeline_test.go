package fuzz

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/exec"
	"millrace/exec/session"
	"millrace/kafkaio"
	"millrace/kafkaio/memory"
	"millrace/kafkaio/registry"
	"millrace/planner/catalog"
	"millrace/sql/token"
	"millrace/sql/types"
)

// pipeline is a session with an engine over a log in memory.
type pipeline struct {
	log      *memory.Log
	registry *registry.Memory
	engine   *exec.Engine
	session  *session.Session
}

func newPipeline(schemas []schema, options exec.Options) *pipeline {
	return newPipelineOn(memory.New(), schemas, options)
}

// newPipelineOn is one over a log that is there.
func newPipelineOn(log *memory.Log, schemas []schema, options exec.Options) *pipeline {
	p := &pipeline{log: log, registry: registryOf(schemas)}
	options.Service, options.Registry, options.Now = "fuzz", p.registry, func() time.Time { return time.UnixMilli(0) }
	p.engine = exec.New(p.log, options)
	p.session = session.New(session.Options{
		Log: p.log, Engine: p.engine, Service: "fuzz", Registry: p.registry, Now: func() int64 { return 0 },
	})
	return p
}

func (p *pipeline) close(t *testing.T) {
	t.Helper()
	if err := p.engine.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.session.Close(); err != nil {
		t.Error(err)
	}
}

// rawRecord is a record as it stands on a topic; a nil key or value is null.
type rawRecord struct {
	topic      string
	partition  int32
	time       int64
	key, value []byte
}

func (r rawRecord) String() string {
	return fmt.Sprintf("%s/%d@%d %s = %s", r.topic, r.partition, r.time, quoted(r.key), quoted(r.value))
}

func quoted(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%q", b)
}

// produce writes records in one transaction.
func (p *pipeline) produce(t *testing.T, records []rawRecord) {
	t.Helper()
	ctx := t.Context()
	producer := p.log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "inputs"})
	if err := producer.Init(ctx); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		to := kafkaio.TopicPartition{Topic: r.topic, Partition: r.partition}
		if err := producer.Append(ctx, to, r.time, r.key, r.value, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := producer.Commit(ctx); err != nil {
		t.Fatal(err)
	}
}

// settle processes what there is and gives why a query failed.
func (p *pipeline) settle(t *testing.T) (failure string) {
	t.Helper()
	if err := p.engine.RunUntilIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range p.engine.Queries() {
		if status := p.engine.Status(id); status.Cause != nil {
			return status.Cause.Error()
		}
	}
	return ""
}

// results are all records of the topics that queries write, what the queries
// counted, and the rows that source tables keep.
func (p *pipeline) results(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, topic := range p.sinks() {
		for _, r := range p.read(t, topic) {
			lines = append(lines, r.String())
		}
	}
	for _, id := range p.engine.Queries() {
		s := p.engine.Status(id)
		lines = append(lines, fmt.Sprintf("%s: in %d, out %d, late %d, row errors %d, skipped %v", id, s.In, s.Out, s.Late, s.RowErrors, s.Skipped))
	}
	for _, source := range p.session.Catalog().Sources() {
		if source.KeptBy != "" && source.Window == nil {
			lines = append(lines, p.look(t, source))
		}
	}
	return lines
}

// tables are the last rows of the tables that are made of declared sources. What
// is made of results depends on how many of their changes are handed on.
func (p *pipeline) tables(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for _, q := range p.session.Catalog().Queries() {
		sink, ok := p.session.Catalog().Source(q.Sink)
		if !ok || sink.Kind != catalog.Table || slices.ContainsFunc(q.Sources, p.made) {
			continue
		}
		for _, r := range p.read(t, sink.Topic) {
			key := sink.Topic + " " + quoted(r.key)
			if r.value == nil {
				delete(rows, key)
			} else {
				rows[key] = quoted(r.value)
			}
		}
	}
	return rows
}

// made tells whether a query writes a source.
func (p *pipeline) made(name string) bool {
	return slices.ContainsFunc(p.session.Catalog().Queries(), func(q *catalog.Query) bool { return q.Sink == name })
}

func (p *pipeline) sinks() []string {
	topics := map[string]bool{}
	for _, q := range p.session.Catalog().Queries() {
		if sink, ok := p.session.Catalog().Source(q.Sink); ok {
			topics[sink.Topic] = true
		}
	}
	return slices.Sorted(maps.Keys(topics))
}

// look is what a SELECT shows of a source table.
func (p *pipeline) look(t *testing.T, source *catalog.Source) string {
	t.Helper()
	pieces, _, err := token.Split("SELECT * FROM " + types.QuoteName(source.Name) + ";")
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.session.Execute(t.Context(), pieces[0])
	if err != nil {
		return fmt.Sprintf("SELECT from %s: %v", source.Name, err)
	}
	return fmt.Sprintf("SELECT from %s: %s", source.Name, result.Tables)
}

// read gives the committed records of a topic, by partition and offset.
func (p *pipeline) read(t *testing.T, topic string) []rawRecord {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	topics, err := p.log.Topics(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	positions := map[kafkaio.TopicPartition]int64{}
	for partition := range topics[topic].Partitions {
		positions[kafkaio.TopicPartition{Topic: topic, Partition: int32(partition)}] = 0
	}
	ranges, err := p.log.Offsets(ctx, slices.Collect(maps.Keys(positions)))
	if err != nil {
		t.Fatal(err)
	}
	fetcher := p.log.NewFetcher(kafkaio.FetchOptions{})
	fetcher.Assign(positions)
	defer fetcher.Close() //nolint:errcheck // it was only read
	left := len(positions)
	var out []rawRecord
	for tp, held := range ranges {
		if held.Stable == 0 {
			left--
		}
		positions[tp] = held.Stable
	}
	for left > 0 {
		runs, err := fetcher.Poll(ctx, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range runs {
			for i := range run.Len() {
				out = append(out, rawRecord{
					topic, run.Partition, run.Timestamps[i], slices.Clone(run.Keys[i]), slices.Clone(run.Values[i]),
				})
			}
			if run.Next >= positions[run.TopicPartition] {
				left--
				positions[run.TopicPartition] = 1 << 62 // counted
			}
			run.Release()
		}
	}
	slices.SortStableFunc(out, func(a, b rawRecord) int { return int(a.partition - b.partition) })
	return out
}

func joinLines(lines []string) string { return strings.Join(lines, "\n") }
