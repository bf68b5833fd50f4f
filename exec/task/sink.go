package task

import (
	"errors"
	"fmt"

	"millrace/exec/column"
	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/planner/catalog"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// writer takes the records that a task puts out. Key, value and headers are
// copied.
type writer interface {
	write(partition int32, timestamp int64, key, value, headers []byte) error
	// drop reports a row that is not written.
	drop(b *column.Batch, i int32, reason Reason, path, detail string)
}

// keyEncoder writes record keys.
type keyEncoder struct {
	encoder format.Encoder // nil: no key
	columns []int
	vectors []*column.Vector // scratch
	// passesNulls says that a key of null columns only came from a null key.
	passesNulls bool
	window      *catalog.KeyWindow
	start       int
	end         int
	buf         []byte
}

func newKeyEncoder(codecs codecs, f catalog.Format, fields []plan.Field, schema plan.Schema) (*keyEncoder, error) {
	k := &keyEncoder{window: schema.Window, start: schema.WindowStart, end: schema.WindowEnd}
	if k.window != nil && (k.start < 0 || k.end < 0) {
		return nil, errors.New("the window of the key has no columns")
	}
	var err error
	if k.encoder, err = codecs.encoder(f, fields); err != nil {
		return nil, err
	}
	for _, field := range fields {
		k.columns = append(k.columns, field.Column)
	}
	k.vectors = make([]*column.Vector, len(fields))
	return k, nil
}

// use makes the columns those of the rows to come.
func (k *keyEncoder) use(columns []*column.Vector) {
	for i, c := range k.columns {
		k.vectors[i] = columns[c]
	}
}

// hasNull tells whether a column of the key is null in row i.
func (k *keyEncoder) hasNull(i int) bool {
	for _, v := range k.vectors {
		if v.Null(i) {
			return true
		}
	}
	return false
}

func (k *keyEncoder) allNull(i int) bool {
	for _, v := range k.vectors {
		if !v.Null(i) {
			return false
		}
	}
	return true
}

// encode gives the key of row i, nil for a null key, and of it the part that
// decides the partition: a window does not. Both are valid until the next call.
func (k *keyEncoder) encode(columns []*column.Vector, i int) (key, deciding []byte, err error) {
	if k.encoder == nil || k.passesNulls && k.allNull(i) {
		return nil, nil, nil
	}
	buf, null, err := k.encoder.Append(k.buf[:0], k.vectors, i)
	if buf == nil {
		buf = []byte{}
	}
	k.buf = buf
	if err != nil || null {
		return nil, nil, err
	}
	deciding = k.buf
	if k.window != nil {
		k.buf = appendWindow(k.buf, k.window, columns[k.start].Ints[i], columns[k.end].Ints[i])
	}
	return k.buf, deciding[:len(deciding):len(deciding)], nil
}

// partition is where a record goes: by its key, else with the row's input.
func partition(deciding []byte, b *column.Batch, partitions int) int32 {
	if deciding == nil {
		return b.Partition % int32(partitions)
	}
	return kafkaio.PartitionFor(deciding, partitions)
}

func headersOf(b *column.Batch, i int32) []byte {
	if b.Headers == nil {
		return nil
	}
	return b.Headers[i]
}

// sink writes the query's result to its topic.
type sink struct {
	output     writer
	partitions int
	changes    bool
	key        *keyEncoder
	value      format.Encoder // nil without value columns
	columns    []int
	vectors    []*column.Vector
	buf        []byte
	time       *eventTime
	streamTime int64 // the largest time of the rows so far
	limits     SinkLimits
	now        func() int64
}

func newSink(n *plan.Sink, codecs codecs, partitions int, limits SinkLimits, now func() int64, output writer) (*sink, error) {
	schema := n.Schema()
	s := &sink{output: output, partitions: partitions, changes: schema.Changes, streamTime: -1, limits: limits, now: now}
	var err error
	if s.key, err = newKeyEncoder(codecs, n.KeyFormat, n.Key, schema); err != nil {
		return nil, fmt.Errorf("key of %s: %w", n.Name, err)
	}
	s.key.passesNulls = n.PassesNullKeys
	if s.value, err = codecs.encoder(n.ValueFormat, n.Value); err != nil {
		return nil, fmt.Errorf("value of %s: %w", n.Name, err)
	}
	for _, field := range n.Value {
		s.columns = append(s.columns, field.Column)
	}
	s.vectors = make([]*column.Vector, len(n.Value))
	if n.Timestamp != nil {
		if s.time, err = newEventTime(n.Timestamp, schema.Columns[n.Timestamp.Column], false); err != nil {
			return nil, fmt.Errorf("timestamp of %s: %w", n.Name, err)
		}
	}
	return s, nil
}

// Push implements op.Operator.
func (s *sink) Push(_ int, b *column.Batch) error {
	s.key.use(b.Columns)
	for i, c := range s.columns {
		s.vectors[i] = b.Columns[c]
	}
	for _, i := range b.Selection {
		present := b.Present.Get(int(i))
		if !present && s.changes && b.PresentBefore != nil && !b.PresentBefore.Get(int(i)) {
			continue
		}
		if err := s.write(b, i, present); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements op.Operator.
func (s *sink) Flush() error { return nil }

// write writes row i, or the null value that stands for a deleted row and for
// a stream's row without a value.
func (s *sink) write(b *column.Batch, i int32, present bool) error {
	time, ok, err := s.timeOf(b, i, present)
	if !ok || err != nil {
		return err
	}
	key, deciding, err := s.key.encode(b.Columns, int(i))
	if err != nil {
		return s.unencodable(b, i, "key", err)
	}
	var value []byte
	if present {
		var null bool
		if value, null, err = s.encode(int(i)); err != nil {
			return s.unencodable(b, i, "value", err)
		}
		if null {
			value = nil
		}
	}
	if fault := s.limits.refuses(time, key, value, headersOf(b, i), s.now); fault != "" {
		s.output.drop(b, i, Refused, "", fault)
		return nil
	}
	return s.output.write(partition(deciding, b, s.partitions), time, key, value, headersOf(b, i))
}

// unencodable leaves a row out that the format cannot write. A schema that takes
// no row at all ends the query.
func (s *sink) unencodable(b *column.Batch, i int32, part string, err error) error {
	if errors.Is(err, format.ErrIncomplete) {
		return types.Errorf(types.CodeProperty, "the %s cannot be written: %v", part, err)
	}
	s.output.drop(b, i, Unencodable, part, err.Error())
	return nil
}

func (s *sink) encode(i int) (value []byte, null bool, err error) {
	if s.value == nil {
		return s.buf[:0], true, nil
	}
	value, null, err = s.value.Append(s.buf[:0], s.vectors, i)
	if value == nil {
		value = []byte{}
	}
	s.buf = value
	return value, null, err
}

// timeOf is the written record's time: the row's, or that of the column that
// the sink declares; a deletion then takes the stream time. A row with an
// invalid one is not written.
func (s *sink) timeOf(b *column.Batch, i int32, present bool) (time int64, ok bool, err error) {
	time = b.Times[i]
	if s.time == nil {
		return time, true, nil
	}
	s.streamTime = max(s.streamTime, time)
	if !present {
		return s.streamTime, true, nil
	}
	v := b.Columns[s.time.column]
	fault := "the column is null"
	if !v.Null(int(i)) {
		if time, fault = s.time.timeOf(v.Ints, v.Texts, int(i)); fault == "" && time < 0 {
			fault = fmt.Sprintf("%d is negative", time)
		}
	}
	if fault == "" {
		return time, true, nil
	}
	if s.time.failOnInvalid {
		return 0, false, types.Errorf(types.CodeValue, "column %s is not a valid timestamp: %s", types.QuoteName(s.time.name), fault)
	}
	s.output.drop(b, i, BadTimestamp, s.time.name, fault)
	return 0, false, nil
}
