package session

import (
	"context"
	"errors"
	"fmt"

	"millrace/exec/column"
	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/planner"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// insertValues executes INSERT INTO .. VALUES: all rows in one transaction.
func (s *Session) insertValues(ctx context.Context, n *ast.InsertValues) (*Result, error) {
	rows, err := s.planner(ctx).InsertValues(n)
	if err != nil {
		return nil, err
	}
	if s.options.Log == nil {
		return inserted(rows), nil
	}
	w, err := s.newWriter(ctx, rows.Source, "row ")
	if err != nil {
		return nil, err
	}
	for i := range rows.Len {
		timestamp := s.options.Now()
		if rows.Times != nil {
			timestamp = rows.Times[i]
		}
		if err := w.append(ctx, rows.Key, rows.Value, i, int64(i)+1, timestamp); err != nil {
			return nil, w.explain(w.abort(ctx, err))
		}
	}
	if err := s.producer.Commit(ctx); err != nil {
		return nil, w.explain(fmt.Errorf("inserting into %s: %w", rows.Source.Name, err))
	}
	return inserted(rows), nil
}

func inserted(rows *planner.Rows) *Result {
	return &Result{Message: fmt.Sprintf("%s %s inserted into %s.", planner.Counted(rows.Len, "row"), areOrIs(int64(rows.Len)), rows.Source.Name)}
}

// writer writes rows of a source as records within the session's transaction.
type writer struct {
	session    *Session
	source     *catalog.Source
	partitions int
	key, value format.Encoder
	keyBuf     []byte
	valueBuf   []byte
	next       int32 // partition of the next record without a key

	numbered   string // what stands before a row's number in errors
	largest    int    // bytes of the transaction's largest record
	largestRow int64  // and the number of its row
}

func (s *Session) newWriter(ctx context.Context, source *catalog.Source, numbered string) (*writer, error) {
	topics, err := s.options.Log.Topics(ctx, source.Topic)
	if err != nil {
		return nil, err
	}
	topic, ok := topics[source.Topic]
	if !ok {
		return nil, fmt.Errorf("topic %s of %s: %w", source.Topic, source.Name, kafkaio.ErrUnknownTopic)
	}
	if source, err = s.written(ctx, source.Name); err != nil {
		return nil, err
	}
	key, err := s.encoder(ctx, source.KeyFormat, true, source.Key)
	if err != nil {
		return nil, err
	}
	value, err := s.encoder(ctx, source.ValueFormat, false, source.Value)
	if err != nil {
		return nil, err
	}
	if s.producer == nil {
		s.producer = s.options.Log.NewProducer(kafkaio.ProducerOptions{
			TransactionalID: "_millrace_" + s.options.Service + "_session",
		})
		if err := s.producer.Init(ctx); err != nil {
			return nil, err
		}
	}
	return &writer{
		session: s, source: source, numbered: numbered, partitions: topic.Partitions,
		key: key, value: value,
	}, nil
}

// encoder is that of a format which the source's declaration has checked.
func (s *Session) encoder(ctx context.Context, f catalog.Format, key bool, columns []catalog.Column) (format.Encoder, error) {
	kind, _ := format.Lookup(f.Name)
	spec := SpecOf(f)
	if f.SchemaID != 0 {
		if err := s.formats(ctx).lookUp(&spec, key); err != nil {
			return nil, err
		}
	}
	return kind.NewEncoder(spec, FieldsOf(columns)), nil
}

// append adds row i of the vectors, which the user counts as the one of a
// number, as a record. Without value columns its value is null.
func (w *writer) append(ctx context.Context, key, value []*column.Vector, i int, number, timestamp int64) error {
	var keyNull, valueNull bool
	var err error
	if w.keyBuf, keyNull, err = encodePart(w.key, w.keyBuf[:0], key, i); err != nil {
		return types.Errorf(types.CodeValue, "%s%d: the key cannot be written: %v", w.numbered, number, err)
	}
	if w.valueBuf, valueNull, err = encodePart(w.value, w.valueBuf[:0], value, i); err != nil {
		return types.Errorf(types.CodeValue, "%s%d: the value cannot be written: %v", w.numbered, number, err)
	}
	to := kafkaio.TopicPartition{Topic: w.source.Topic, Partition: w.next % int32(w.partitions)}
	keyBytes, valueBytes := w.keyBuf, w.valueBuf
	if valueNull {
		valueBytes = nil
	}
	if keyNull {
		keyBytes = nil
		w.next++
	} else {
		to.Partition = kafkaio.PartitionFor(keyBytes, w.partitions)
	}
	if size := kafkaio.RecordSize(keyBytes, valueBytes, nil); size > w.largest {
		w.largest, w.largestRow = size, number
	}
	return w.session.producer.Append(ctx, to, timestamp, keyBytes, valueBytes, nil)
}

func encodePart(e format.Encoder, dst []byte, columns []*column.Vector, i int) (out []byte, null bool, err error) {
	if len(columns) == 0 {
		return dst, true, nil
	}
	if out, null, err = e.Append(dst, columns, i); err != nil || null {
		return dst, null, err
	}
	if out == nil {
		out = []byte{}
	}
	return out, false, nil
}

// explain names the row of a record that is larger than its topic allows. The
// broker refuses a whole batch; what was too large in it is its largest record.
func (w *writer) explain(err error) error {
	if !errors.Is(err, kafkaio.ErrRecordTooLarge) {
		return err
	}
	return types.Errorf(types.CodeValue, "%s%d: its record of %d bytes is larger than topic %s allows",
		w.numbered, w.largestRow, w.largest, w.source.Topic).WithHint("raise max.message.bytes of the topic")
}

// abort drops the transaction, so that nothing of a failed statement is seen.
func (w *writer) abort(ctx context.Context, cause error) error {
	if err := w.session.producer.Abort(ctx); err != nil {
		return errors.Join(cause, fmt.Errorf("aborting: %w", err))
	}
	return cause
}
