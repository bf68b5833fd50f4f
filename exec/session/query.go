package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"millrace/kafkaio"
	"millrace/planner"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// drainer is an Engine that can wait for the end of what is there.
type drainer interface {
	// Drain returns when all queries have read their inputs up to where these end now.
	Drain(ctx context.Context) error
}

// query executes a SELECT of its own: what it gives for the records that are
// there now, of a table the last row of each key. Nothing of it is kept.
func (s *Session) query(ctx context.Context, n *ast.QueryStatement) (*Result, error) {
	s.looks++
	look, err := s.planner(ctx).Look(n, fmt.Sprintf("LOOK_%d_%d", s.options.Now(), s.looks))
	if err != nil {
		return nil, err
	}
	engine, ok := s.options.Engine.(drainer)
	if !ok {
		return &Result{Message: "The query is planned and not run."}, nil
	}
	if result, ok, err := s.scan(ctx, engine, look); ok || err != nil {
		return result, nameless(err, look)
	}
	if err := s.options.Engine.Start(ctx, look.Query); err != nil {
		return nil, nameless(err, look)
	}
	result, err := s.lookAt(ctx, engine, look)
	err = errors.Join(err, s.options.Engine.Drop(context.WithoutCancel(ctx), look.Query.ID))
	return result, nameless(err, look)
}

// lookError is an error of a SELECT in words that do not name the query which
// was made of it: users have not named it.
type lookError struct {
	text string
	err  error
}

func (e *lookError) Error() string { return e.text }

func (e *lookError) Unwrap() error { return e.err }

// nameless is the error without the names that are the query's own. What is
// wrapped is the same.
func nameless(err error, look *planner.Look) error {
	if err == nil || !strings.Contains(err.Error(), look.Query.ID) {
		return err
	}
	names := strings.NewReplacer(
		"query "+look.Query.ID+", ", "", "query "+look.Query.ID+": ", "", "query "+look.Query.ID, "the SELECT",
		look.Query.Group+"-", "of the SELECT: ", look.Query.Group, "of the SELECT", look.Query.ID, "SELECT")
	return &lookError{names.Replace(err.Error()), err}
}

func (s *Session) lookAt(ctx context.Context, engine drainer, look *planner.Look) (*Result, error) {
	if err := engine.Drain(ctx); err != nil {
		return nil, err
	}
	if s.options.QueryStatus != nil {
		if status := s.options.QueryStatus(look.Query.ID); status.Cause != nil {
			return nil, fmt.Errorf("the SELECT failed: %w", status.Cause)
		}
	}
	rows, err := s.readLook(ctx, look.Source)
	if err != nil {
		return nil, err
	}
	return lookTable(look, rows)
}

// lookTable is what a SELECT shows of the values of its rows.
func lookTable(look *planner.Look, rows [][]byte) (*Result, error) {
	table := Table{}
	for _, c := range look.Source.Value {
		table.Columns = append(table.Columns, c.Name)
	}
	for _, value := range rows {
		if look.Limit >= 0 && len(table.Rows) == look.Limit {
			break
		}
		row, err := lookRow(value, look.Source.Value)
		if err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, row)
	}
	return &Result{Tables: []Table{table}}, nil
}

// readLook reads the result: a stream's values in the order of time, a table's
// last value of each key in the order of their first one.
func (s *Session) readLook(ctx context.Context, source *catalog.Source) ([][]byte, error) {
	topics, err := s.options.Log.Topics(ctx, source.Topic)
	if err != nil {
		return nil, err
	}
	ranges, err := s.ranges(ctx, source.Topic, topics[source.Topic].Partitions)
	if err != nil {
		return nil, err
	}
	r := lookReader{session: s, table: source.Kind == catalog.Table, position: map[kafkaio.TopicPartition]int64{}, last: map[string]int{}}
	for tp, held := range ranges {
		if r.position[tp] = held.Start; held.HighWatermark > held.Start {
			if err := r.read(ctx, tp, held.HighWatermark); err != nil {
				return nil, err
			}
		}
	}
	found := merged(r.found)
	values := make([][]byte, 0, len(found))
	for _, record := range found {
		if value, _ := record.value.([]byte); value != nil {
			values = append(values, value)
		}
	}
	return values, nil
}

// lookReader collects a result's records.
type lookReader struct {
	session  *Session
	table    bool
	position map[kafkaio.TopicPartition]int64
	found    []printed
	last     map[string]int // of a table: where a key's record is in found
}

func (r *lookReader) read(ctx context.Context, tp kafkaio.TopicPartition, end int64) error {
	fetcher := r.session.options.Log.NewFetcher(kafkaio.FetchOptions{})
	defer fetcher.Close() //nolint:errcheck // it was only read
	fetcher.Assign(map[kafkaio.TopicPartition]int64{tp: r.position[tp]})
	for r.position[tp] < end {
		runs, err := fetcher.Poll(ctx, printWait)
		if err != nil {
			return err
		}
		for _, run := range runs {
			for i := range run.Len() {
				r.add(run, i)
			}
			r.position[tp] = run.Next
			run.Release()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (r *lookReader) add(run *kafkaio.Records, i int) {
	record := printed{time: run.Timestamps[i], offset: run.Offsets[i], partition: run.Partition, value: bytes.Clone(run.Values[i])}
	if r.table {
		key := fmt.Sprintf("%d/%s", run.Partition, run.Keys[i])
		if at, ok := r.last[key]; ok {
			r.found[at].value = record.value
			return
		}
		r.last[key] = len(r.found)
	}
	r.found = append(r.found, record)
}

// lookRow is a record's value as cells: numbers as json.Number, nested values
// as JSON.
func lookRow(value []byte, columns []catalog.Column) ([]any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return nil, fmt.Errorf("the query's result is not readable: %w", err)
	}
	row := make([]any, len(columns))
	for i, c := range columns {
		raw := fields[c.Name]
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		cell, err := lookCell(raw, c.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s of the query's result is not readable: %w", c.Name, err)
		}
		row[i] = cell
	}
	return row, nil
}

func lookCell(raw json.RawMessage, t *types.Type) (any, error) {
	switch {
	case t.Nested():
		return raw, nil
	case t.Temporal():
		var number int64
		err := json.Unmarshal(raw, &number)
		return temporalText(number, t), err
	case t.Numeric() && raw[0] != '"':
		return json.Number(raw), nil
	case t.Kind == types.KindBoolean:
		var flag bool
		err := json.Unmarshal(raw, &flag)
		return flag, err
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err
}

func temporalText(value int64, t *types.Type) string {
	switch t.Kind {
	case types.KindDate:
		return string(types.AppendDate(nil, value))
	case types.KindTime:
		return string(types.AppendTime(nil, value))
	}
	return string(types.AppendTimestamp(nil, value))
}
