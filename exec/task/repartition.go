package task

import (
	"encoding/binary"
	"fmt"

	"millrace/exec/column"
	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// The value of a record of a repartition topic is a flags byte and rows of all
// columns in the form of column.AppendRow:
//
//	1  the row after the change is present
//	2  the row before the change is present
//	4  a stream's row without a value: one row follows, of which only the key
//	   columns are set
//
// With both 1 and 2 the row before comes first, behind its length as a uvarint.
const (
	rowAfter   = 1
	rowBefore  = 2
	rowKeyOnly = 4
)

// repartitionSink writes rows to a repartition topic, so that rows with equal
// keys meet in one task. A change whose key differs before and after becomes
// two records: the old row's deletion, then the new row.
type repartitionSink struct {
	output       writer
	partitions   int
	changes      bool
	keepNullKeys bool
	key          *keyEncoder
	oldKey       *keyEncoder
	buf          []byte
	row          []byte
}

func newRepartitionSink(n *plan.RepartitionSink, codecs codecs, partitions int, output writer) (*repartitionSink, error) {
	schema := n.Schema()
	s := &repartitionSink{output: output, partitions: partitions, changes: schema.Changes, keepNullKeys: n.KeepNullKeys}
	schema.Window = nil // the row holds the window; it has no part in the key
	var err error
	if s.key, err = newKeyEncoder(codecs, n.KeyFormat, n.Key, schema); err != nil {
		return nil, fmt.Errorf("key of topic %s: %w", n.Topic, err)
	}
	if s.oldKey, err = newKeyEncoder(codecs, n.KeyFormat, n.Key, schema); err != nil {
		return nil, fmt.Errorf("key of topic %s: %w", n.Topic, err)
	}
	return s, nil
}

// Push implements op.Operator.
func (s *repartitionSink) Push(_ int, b *column.Batch) error {
	s.key.use(b.Columns)
	if s.changes && b.Before != nil {
		s.oldKey.use(b.Before)
		return s.pushChanges(b)
	}
	for _, i := range b.Selection {
		flags := byte(rowAfter)
		if !b.Present.Get(int(i)) {
			flags = rowKeyOnly
		}
		s.buf = column.AppendRow(append(s.buf[:0], flags), b.Columns, int(i))
		if err := s.write(b, i, s.key, b.Columns, s.buf); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements op.Operator.
func (s *repartitionSink) Flush() error { return nil }

func (s *repartitionSink) pushChanges(b *column.Batch) error {
	for _, i := range b.Selection {
		row := int(i)
		before, after := b.PresentBefore.Get(row), b.Present.Get(row)
		if before && after && s.sameKey(row) {
			s.row = column.AppendRow(s.row[:0], b.Before, row)
			s.buf = binary.AppendUvarint(append(s.buf[:0], rowBefore|rowAfter), uint64(len(s.row)))
			s.buf = column.AppendRow(append(s.buf, s.row...), b.Columns, row)
			if err := s.write(b, i, s.key, b.Columns, s.buf); err != nil {
				return err
			}
			continue
		}
		if before {
			s.buf = column.AppendRow(append(s.buf[:0], rowBefore), b.Before, row)
			if err := s.write(b, i, s.oldKey, b.Before, s.buf); err != nil {
				return err
			}
		}
		if after {
			s.buf = column.AppendRow(append(s.buf[:0], rowAfter), b.Columns, row)
			if err := s.write(b, i, s.key, b.Columns, s.buf); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *repartitionSink) sameKey(i int) bool {
	for n, v := range s.key.vectors {
		if !column.EqualRows(v, i, s.oldKey.vectors[n], i) {
			return false
		}
	}
	return true
}

func (s *repartitionSink) write(b *column.Batch, i int32, k *keyEncoder, columns []*column.Vector, value []byte) error {
	if !s.keepNullKeys && k.hasNull(int(i)) {
		reason := NoKey
		if !s.changes && !b.Present.Get(int(i)) {
			reason = NoValue
		}
		s.output.drop(b, i, reason, "", "")
		return nil
	}
	key, deciding, err := k.encode(columns, int(i))
	if err != nil {
		s.output.drop(b, i, Unencodable, "key", err.Error())
		return nil
	}
	return s.output.write(partition(deciding, b, s.partitions), b.Times[i], key, value, headersOf(b, i))
}

// repartitionSource reads what a repartitionSink wrote.
type repartitionSource struct {
	decoded frame
	types   []*types.Type
}

func newRepartitionSource(n *plan.RepartitionSource) *repartitionSource {
	s := &repartitionSource{}
	s.decoded.init(n.Output)
	for _, c := range n.Output.Columns {
		s.types = append(s.types, c.Type)
	}
	if !n.Output.Changes {
		return s
	}
	b := &s.decoded.batch
	for _, c := range n.Output.Columns {
		b.Before = append(b.Before, column.New(c.Type, 0))
	}
	for _, k := range n.Output.Key {
		b.Before[k] = b.Columns[k]
	}
	return s
}

func (s *repartitionSource) frame() *frame { return &s.decoded }

// read implements reader.
func (s *repartitionSource) read(records *kafkaio.Records, from, to int) error {
	f := &s.decoded
	f.begin(records, from, to)
	f.reason = BadValue
	b := &f.batch
	if b.Before != nil {
		for _, v := range b.Before {
			v.Reset(b.Len)
		}
		b.PresentBefore = b.PresentBefore.Resize(b.Len)
		b.PresentBefore.Fill(b.Len, false)
	}
	for i, value := range records.Values[from:to] {
		if err := s.readRow(value, i); err != nil {
			f.bad(int32(i), err)
		}
	}
	f.finish()
	return nil
}

func (s *repartitionSource) readRow(value []byte, i int) error {
	b := &s.decoded.batch
	if len(value) == 0 {
		return &format.RecordError{Reason: "empty"}
	}
	flags, rest := value[0], value[1:]
	old := rest
	if flags == rowBefore|rowAfter {
		length, n := binary.Uvarint(rest)
		if n <= 0 || length > uint64(len(rest)-n) {
			return column.ErrRow
		}
		old, rest = rest[n:n+int(length)], rest[n+int(length):]
	}
	b.Present.SetTo(i, flags&rowAfter != 0)
	if flags&rowBefore != 0 {
		if b.Before == nil {
			return &format.RecordError{Reason: "a change in a stream"}
		}
		b.PresentBefore.Set(i)
		if err := column.DecodeRow(old, b.Before, s.types, i); err != nil {
			return err
		}
	}
	if flags&(rowAfter|rowKeyOnly) != 0 {
		return column.DecodeRow(rest, b.Columns, s.types, i)
	}
	return nil
}
