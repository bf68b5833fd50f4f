package task

import (
	"millrace/exec/column"
	"millrace/kafkaio"
	"millrace/planner/plan"
	"millrace/sql/types"
)

// headerReader fills columns from the records' headers.
type headerReader struct{ fields []plan.HeaderField }

func newHeaderReader(fields []plan.HeaderField) *headerReader { return &headerReader{fields} }

// read sets the header columns of all rows that have a value.
func (h *headerReader) read(f *frame) {
	b := &f.batch
	for i := range b.Len {
		if !b.Present.Get(i) || f.failed.Get(i) {
			continue
		}
		var headers []kafkaio.Header
		if b.Headers != nil {
			var err error
			if headers, err = kafkaio.ParseHeaders(b.Headers[i]); err != nil {
				f.skip(skippedRow{row: int32(i), reason: BadHeaders, detail: err.Error()})
				continue
			}
		}
		for _, field := range h.fields {
			v := b.Columns[field.Column]
			if v.Type.Kind == types.KindArray {
				setHeaders(v, i, headers)
			} else {
				setHeader(v, i, headers, field.Key)
			}
		}
	}
}

// setHeaders makes row i the array of all headers, as STRUCT<KEY, VALUE>.
func setHeaders(v *column.Vector, i int, headers []kafkaio.Header) {
	element := v.Children[0]
	first := element.Extend(len(headers))
	for n, header := range headers {
		element.Valid.Set(first + n)
		element.Children[0].SetText(first+n, header.Key)
		if header.Value != nil {
			element.Children[1].SetText(first+n, column.View(header.Value))
		}
	}
	v.SetSpan(i, first, len(headers))
}

// setHeader makes row i the value of the last header called key.
func setHeader(v *column.Vector, i int, headers []kafkaio.Header, key string) {
	for n := len(headers) - 1; n >= 0; n-- {
		if headers[n].Key != key {
			continue
		}
		if headers[n].Value != nil {
			v.SetText(i, column.View(headers[n].Value))
		}
		return
	}
}
