package session

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// PrintColumns are the columns of PRINT's rows.
var PrintColumns = []string{"rowtime", "partition", "offset", "key", "value"}

const (
	// mostPrinted bounds the rows of a PRINT without LIMIT in a Result.
	mostPrinted = 1000
	printWait   = 200 * time.Millisecond
)

// printer is one PRINT under way.
type printer struct {
	statement *ast.Print
	source    *catalog.Source // declared over the topic, or nil
	schemas   *schemaReader
	fetcher   kafkaio.Fetcher
	position  map[kafkaio.TopicPartition]int64
	end       map[kafkaio.TopicPartition]int64 // where to end; nil: nowhere
}

// printed is a record as PRINT shows it.
type printed struct {
	time, offset int64
	partition    int32
	key, value   any
}

func (p printed) row() []any { return []any{p.time, int64(p.partition), p.offset, p.key, p.value} }

// print executes PRINT. In a script it ends at the topic's present end: without
// FROM BEGINNING it then shows the last records, as many as LIMIT says.
func (s *Session) print(ctx context.Context, n *ast.Print) (*Result, error) {
	if s.options.Log == nil {
		return &Result{Message: fmt.Sprintf("Topic %s is not looked at.", n.Topic)}, nil
	}
	topics, err := s.options.Log.Topics(ctx, n.Topic)
	if err != nil {
		return nil, err
	}
	topic, ok := topics[n.Topic]
	if !ok {
		return nil, types.Errorf(types.CodeStatement, "topic %s does not exist or access to it is denied", n.Topic).At(n.Position).
			WithHint("SHOW TOPICS lists them; the case of names counts")
	}
	p := &printer{
		statement: n, source: s.sourceOver(n.Topic), schemas: newSchemaReader(format.NewSchemas(ctx, s.options.Registry)),
		position: map[kafkaio.TopicPartition]int64{},
	}
	p.fetcher = s.options.Log.NewFetcher(kafkaio.FetchOptions{})
	defer p.fetcher.Close() //nolint:errcheck // it was only read
	ranges, err := s.ranges(ctx, n.Topic, topic.Partitions)
	if err != nil {
		return nil, err
	}
	if s.options.Follow && s.options.PrintRow != nil {
		return &Result{}, p.follow(ctx, ranges, s.options.PrintRow)
	}
	return s.printPresent(ctx, p, ranges)
}

func (s *Session) sourceOver(topic string) *catalog.Source {
	for _, source := range s.catalog.Sources() {
		if source.Topic == topic {
			return source
		}
	}
	return nil
}

func (s *Session) ranges(ctx context.Context, topic string, partitions int) (offsetRanges, error) {
	all := make([]kafkaio.TopicPartition, partitions)
	for i := range all {
		all[i] = kafkaio.TopicPartition{Topic: topic, Partition: int32(i)}
	}
	return s.options.Log.Offsets(ctx, all)
}

// printPresent shows what the topic holds now, in the order of time.
func (s *Session) printPresent(ctx context.Context, p *printer, ranges offsetRanges) (*Result, error) {
	n := p.statement
	limit := n.Limit
	if limit < 0 {
		limit = mostPrinted
	}
	// A partition may hold all of the records that are wanted.
	reach := int64(limit) * int64(max(n.Interval, 1))
	p.end = map[kafkaio.TopicPartition]int64{}
	for tp, held := range ranges {
		p.end[tp] = held.Stable
	}
	read := p.head
	if !n.FromBeginning && limit > 0 {
		read = p.tail
	}
	found, err := read(ctx, ranges, reach)
	if err != nil {
		return nil, err
	}
	rows := p.choose(found, limit)
	result := &Result{}
	if n.Limit < 0 && len(rows) == mostPrinted {
		result.Message = fmt.Sprintf("No more than %d records of topic %s are shown without LIMIT.", mostPrinted, n.Topic)
	}
	if s.options.PrintRow == nil {
		result.Tables = []Table{{Columns: PrintColumns, Rows: rows}}
		return result, nil
	}
	for _, row := range rows {
		if err := s.options.PrintRow(row); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// choose takes every n-th record, up to a limit: the first ones from the
// beginning, else the last ones.
func (p *printer) choose(found []printed, limit int) [][]any {
	found = merged(found)
	interval := max(p.statement.Interval, 1)
	if !p.statement.FromBeginning {
		found = found[max(0, len(found)-limit*interval):]
	}
	var rows [][]any
	for i := 0; i < len(found) && len(rows) < limit; i += interval {
		rows = append(rows, found[i].row())
	}
	return rows
}

// merged puts the records of partitions into one order: each partition's stay in
// that of their offsets, and the one with the lowest time comes next.
func merged(found []printed) []printed {
	partitions := map[int32][]printed{}
	for _, record := range found {
		partitions[record.partition] = append(partitions[record.partition], record)
	}
	numbers := slices.Sorted(maps.Keys(partitions))
	out := make([]printed, 0, len(found))
	for len(out) < len(found) {
		next := int32(-1)
		for _, number := range numbers {
			if left := partitions[number]; len(left) > 0 && (next < 0 || left[0].time < partitions[next][0].time) {
				next = number
			}
		}
		out = append(out, partitions[next][0])
		partitions[next] = partitions[next][1:]
	}
	return out
}

type offsetRanges = map[kafkaio.TopicPartition]kafkaio.OffsetRange

// head reads the first records of each partition.
func (p *printer) head(ctx context.Context, ranges offsetRanges, most int64) ([]printed, error) {
	for tp, held := range ranges {
		p.position[tp] = held.Start
	}
	return p.collect(ctx, most)
}

// tail reads at least the last records of each partition. Not every offset
// holds a record, so it begins further ahead until it has found enough.
func (p *printer) tail(ctx context.Context, ranges offsetRanges, least int64) ([]printed, error) {
	for span := least + 1; ; span *= 2 {
		missing := map[int32]int64{}
		for tp, held := range ranges {
			p.position[tp] = max(held.Start, held.Stable-span)
			if p.position[tp] > held.Start {
				missing[tp.Partition] = least
			}
		}
		found, err := p.collect(ctx, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		for _, record := range found {
			if missing[record.partition]--; missing[record.partition] <= 0 {
				delete(missing, record.partition)
			}
		}
		if len(missing) == 0 {
			return found, nil
		}
	}
}

// collect reads up to the end, at most so many records of each partition.
func (p *printer) collect(ctx context.Context, most int64) ([]printed, error) {
	var found []printed
	counts := map[kafkaio.TopicPartition]int64{}
	for p.open(most, counts) {
		runs, err := p.fetcher.Poll(ctx, printWait)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			for i := range run.Len() {
				if counts[run.TopicPartition] < most && run.Offsets[i] < p.end[run.TopicPartition] {
					found = append(found, p.record(run, i))
					counts[run.TopicPartition]++
				}
			}
			p.position[run.TopicPartition] = run.Next
			run.Release()
		}
	}
	return found, nil
}

// open assigns the partitions that are not read to the end; false: none is left.
func (p *printer) open(most int64, counts map[kafkaio.TopicPartition]int64) bool {
	assigned := map[kafkaio.TopicPartition]int64{}
	for tp, at := range p.position {
		if at < p.end[tp] && counts[tp] < most {
			assigned[tp] = at
		}
	}
	if len(assigned) > 0 {
		p.fetcher.Assign(assigned)
	}
	return len(assigned) > 0
}

// follow shows records as they come.
func (p *printer) follow(ctx context.Context, ranges offsetRanges, show func([]any) error) error {
	for tp, held := range ranges {
		p.position[tp] = held.Stable
		if p.statement.FromBeginning {
			p.position[tp] = held.Start
		}
	}
	p.fetcher.Assign(p.position)
	seen, shown := 0, 0
	for p.statement.Limit < 0 || shown < p.statement.Limit {
		runs, err := p.fetcher.Poll(ctx, printWait)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, run := range runs {
			for i := range run.Len() {
				take := seen%max(p.statement.Interval, 1) == 0 && (p.statement.Limit < 0 || shown < p.statement.Limit)
				if seen++; !take {
					continue
				}
				shown++
				if err := show(p.record(run, i).row()); err != nil {
					run.Release()
					return err
				}
			}
			run.Release()
		}
	}
	return nil
}

func (p *printer) record(run *kafkaio.Records, i int) printed {
	out := printed{time: run.Timestamps[i], offset: run.Offsets[i], partition: run.Partition}
	source := p.source
	if source == nil {
		source = &catalog.Source{}
	}
	out.key = p.keyCell(run.Keys[i], source)
	out.value = p.cell(run.Values[i], source.ValueFormat, false, source.Value)
	return out
}
