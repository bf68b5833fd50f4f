package task

import (
	"fmt"
	"strings"

	"millrace/planner/plan"
	"millrace/sql/types"
)

// eventTime takes the time of rows from a column.
type eventTime struct {
	name          string
	column        int
	kind          types.Kind
	inKey         bool
	parse         func(text string) (int64, error) // of a STRING
	failOnInvalid bool
}

func newEventTime(t *plan.Timestamp, of plan.Column, inKey bool) (*eventTime, error) {
	e := &eventTime{name: of.Name, column: t.Column, kind: of.Type.Kind, inKey: inKey, failOnInvalid: t.FailOnInvalid}
	switch of.Type.Kind {
	case types.KindBigint, types.KindTimestamp:
		return e, nil
	case types.KindString:
		var err error
		e.parse, err = timestampParser(t.Format)
		return e, err
	}
	return nil, types.Errorf(types.CodeType, "column %s of type %s cannot hold the time of a record", types.QuoteName(of.Name), of.Type).
		WithHint("it must be BIGINT, TIMESTAMP, or STRING with TIMESTAMP_FORMAT")
}

// apply sets the times of the frame's rows. A row without a value keeps its
// record's own time, unless the column is in the key.
func (e *eventTime) apply(f *frame) error {
	b := &f.batch
	v := b.Columns[e.column]
	for i := range b.Len {
		if f.failed.Get(i) {
			continue
		}
		if b.Present.Get(i) || e.inKey {
			var fault string
			if v.Null(i) {
				fault = "the column is null"
			} else if b.Times[i], fault = e.timeOf(v.Ints, v.Texts, i); fault == "" && b.Times[i] < 0 {
				fault = fmt.Sprintf("%d is negative", b.Times[i])
			}
			if fault != "" {
				if err := e.invalid(f, i, fault); err != nil {
					return err
				}
			}
		} else if b.Times[i] < 0 {
			f.skip(skippedRow{row: int32(i), reason: BadTimestamp, detail: fmt.Sprintf("the record's timestamp is %d", b.Times[i])})
		}
	}
	return nil
}

// timeOf is the time in row i, or why there is none.
func (e *eventTime) timeOf(ints []int64, texts []string, i int) (time int64, fault string) {
	if e.kind != types.KindString {
		return ints[i], ""
	}
	time, err := e.parse(texts[i])
	if err != nil {
		return 0, err.Error()
	}
	return time, ""
}

func (e *eventTime) invalid(f *frame, i int, fault string) error {
	if e.failOnInvalid {
		return types.Errorf(types.CodeValue, "the timestamp of the record at offset %d is not valid: %s", f.batch.Offsets[i], strings.TrimSpace(fault))
	}
	f.skip(skippedRow{row: int32(i), reason: BadTimestamp, path: e.name, detail: fault})
	return nil
}
