package task

import (
	"fmt"
	"slices"

	"millrace/exec/column"
	"millrace/kafkaio"
	"millrace/planner/catalog"
	"millrace/planner/plan"
)

// source reads the records of a stream's or table's topic.
type source struct {
	decoded   frame
	table     bool
	key       part
	value     part
	keyWindow *catalog.KeyWindow
	bareKeys  [][]byte // keys without their window
	pseudo    plan.Pseudo
	headers   *headerReader
	time      *eventTime // nil: the record's own
}

func newSource(n *plan.Source, codecs codecs) (*source, error) {
	s := &source{table: n.Output.Changes, keyWindow: n.KeyWindow, pseudo: n.Pseudo}
	s.decoded.init(n.Output)
	columns := s.decoded.batch.Columns
	var err error
	if s.key, err = codecs.part(n.KeyFormat, n.KeyFields, columns); err != nil {
		return nil, fmt.Errorf("key of %s: %w", n.Name, err)
	}
	if s.value, err = codecs.part(n.ValueFormat, n.ValueFields, columns); err != nil {
		return nil, fmt.Errorf("value of %s: %w", n.Name, err)
	}
	if len(n.Headers) > 0 {
		s.headers = newHeaderReader(n.Headers)
	}
	if n.Timestamp != nil {
		inKey := slices.ContainsFunc(n.KeyFields, func(f plan.Field) bool { return f.Column == n.Timestamp.Column })
		if s.time, err = newEventTime(n.Timestamp, n.Output.Columns[n.Timestamp.Column], inKey); err != nil {
			return nil, fmt.Errorf("timestamp of %s: %w", n.Name, err)
		}
	}
	return s, nil
}

func (s *source) frame() *frame { return &s.decoded }

// read implements reader.
func (s *source) read(records *kafkaio.Records, from, to int) error {
	f := &s.decoded
	f.begin(records, from, to)
	s.readKeys(records.Keys[from:to])
	s.readValues(records.Values[from:to])
	if f.failure != nil {
		return fmt.Errorf("topic %s, partition %d, %w", records.Topic, records.Partition, f.failure)
	}
	if err := s.readTimes(); err != nil {
		return fmt.Errorf("topic %s, partition %d: %w", records.Topic, records.Partition, err)
	}
	s.readPseudo()
	if s.headers != nil {
		s.headers.read(f)
	}
	if len(f.skipped) > 1 {
		slices.SortFunc(f.skipped, func(a, b skippedRow) int { return int(a.row - b.row) })
	}
	f.finish()
	return nil
}

func (s *source) readKeys(keys [][]byte) {
	f := &s.decoded
	f.reason = BadKey
	if s.keyWindow != nil {
		keys = s.splitKeys(keys)
	}
	rows := f.rows[:0]
	for i, key := range keys {
		switch {
		case key != nil:
			rows = append(rows, int32(i))
		case s.table:
			f.skip(skippedRow{row: int32(i), reason: NoKey})
		}
	}
	f.rows = rows
	if s.key.decoder != nil && len(rows) > 0 {
		s.key.decoder.Decode(keys, rows, s.key.out, &f.arena, f.bad)
	}
}

// splitKeys takes the windows off the keys and puts their bounds into the
// pseudo columns, which belong to the key.
func (s *source) splitKeys(keys [][]byte) [][]byte {
	f := &s.decoded
	bare := slices.Grow(s.bareKeys[:0], len(keys))[:len(keys)]
	s.bareKeys = bare
	for i, key := range keys {
		bare[i] = nil
		if key == nil {
			continue
		}
		inner, start, end, ok := splitWindow(key, s.keyWindow)
		if !ok {
			f.skip(skippedRow{row: int32(i), reason: BadKey, detail: fmt.Sprintf("%d bytes are too few for a windowed key", len(key))})
			continue
		}
		bare[i] = inner
		if s.pseudo.WindowStart >= 0 {
			f.batch.Columns[s.pseudo.WindowStart].SetInt(i, start)
		}
		if s.pseudo.WindowEnd >= 0 {
			f.batch.Columns[s.pseudo.WindowEnd].SetInt(i, end)
		}
	}
	return bare
}

func (s *source) readValues(values [][]byte) {
	f := &s.decoded
	f.reason = BadValue
	rows := f.rows[:0]
	for i, value := range values {
		if value == nil {
			f.batch.Present.Clear(i)
			continue
		}
		if !f.failed.Get(i) {
			rows = append(rows, int32(i))
		}
	}
	f.rows = rows
	if s.value.decoder != nil && len(rows) > 0 {
		s.value.decoder.Decode(values, rows, s.value.out, &f.arena, f.bad)
	}
}

// readTimes replaces the records' times where a column holds them, and skips
// rows without a valid one.
func (s *source) readTimes() error {
	f := &s.decoded
	if s.time != nil {
		return s.time.apply(f)
	}
	for i, time := range f.times {
		if time < 0 && !f.failed.Get(i) {
			f.skip(skippedRow{row: int32(i), reason: BadTimestamp, detail: fmt.Sprintf("the record's timestamp is %d", time)})
		}
	}
	return nil
}

// readPseudo fills the columns that show a record's own properties. They are
// part of the value: a row without one does not have them.
func (s *source) readPseudo() {
	b := &s.decoded.batch
	s.fill(s.pseudo.RowTime, func(v *column.Vector, i int) { v.SetInt(i, b.Times[i]) })
	s.fill(s.pseudo.RowPartition, func(v *column.Vector, i int) { v.SetInt(i, int64(b.Partition)) })
	s.fill(s.pseudo.RowOffset, func(v *column.Vector, i int) { v.SetInt(i, b.Offsets[i]) })
}

func (s *source) fill(at int, set func(v *column.Vector, i int)) {
	if at < 0 {
		return
	}
	b := &s.decoded.batch
	for i := range b.Len {
		if b.Present.Get(i) {
			set(b.Columns[at], i)
		}
	}
}
