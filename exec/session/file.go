package session

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/kafkaio/format"
	"millrace/planner"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// fileReader gives the rows of a file in batches; the last one comes with io.EOF.
type fileReader interface {
	next() (*fileBatch, error)
}

func newFileReader(l *planner.Load, file io.Reader, name string) (fileReader, error) {
	times, err := newTimeOf(l, time.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	bounded := &rowLimit{file: file, left: maxRowBytes}
	input := bufio.NewReaderSize(bounded, 1<<20)
	if err := skipByteOrderMark(input); err != nil {
		return nil, err
	}
	columns := append(append([]catalog.Column{}, l.Source.Key...), l.Source.Value...)
	base := rowReader{name: name, limit: bounded, keys: len(l.Source.Key), columns: columns, times: times}
	for _, c := range columns {
		base.batch.Columns = append(base.batch.Columns, column.New(c.Type, column.MaxRows))
	}
	base.batch.Arena = &column.Arena{}
	if l.Format == planner.CSV {
		return newCSVReader(base, input, l.Delimiter)
	}
	return newLineReader(base, input), nil
}

// maxRowBytes bounds a row of a file: far more than a record may have, and
// little enough for memory. A quote that is never closed makes one row of the
// rest of a file.
const maxRowBytes = 64 << 20

// batchBytes is how much of a file a batch takes before it ends early.
const batchBytes = 16 << 20

// rowLimit reads a file and fails where a row is too long.
type rowLimit struct {
	file io.Reader
	left int // bytes that may be read until a row ends
}

func (l *rowLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("a row is longer than %d MB", maxRowBytes>>20)
	}
	n, err := l.file.Read(p)
	l.left -= n
	return n, err
}

// skipByteOrderMark passes the mark that spreadsheets put before UTF-8.
func skipByteOrderMark(input *bufio.Reader) error {
	const mark = "\ufeff"
	begin, err := input.Peek(len(mark))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(begin) == mark {
		_, err = input.Discard(len(mark))
		return err
	}
	return nil
}

// rowReader is what the readers of both file formats share.
type rowReader struct {
	name    string
	limit   *rowLimit
	keys    int // the first columns that are the key
	columns []catalog.Column
	times   *timeOf
	batch   column.Batch
	out     fileBatch
}

func (r *rowReader) begin(n int) {
	r.batch.Len = n
	r.batch.SelectAll()
	r.batch.Arena.Reset()
	for _, v := range r.batch.Columns {
		v.Reset(n)
	}
}

func (r *rowReader) finish() (*fileBatch, error) {
	n := r.batch.Len
	r.out.len = n
	r.out.key, r.out.value = r.batch.Columns[:r.keys], r.batch.Columns[r.keys:]
	if cap(r.out.times) < n {
		r.out.times = make([]int64, n, column.MaxRows)
	}
	r.out.times = r.out.times[:n]
	if fault := r.times.set(r.out.times, &r.batch); fault >= 0 {
		return &r.out, types.Errorf(types.CodeValue, "%s:%d: no valid time in the TIMESTAMP column", r.name, r.out.lines[fault])
	}
	return &r.out, nil
}

// lineReader reads JSON lines.
type lineReader struct {
	rowReader
	input   *bufio.Reader
	decoder format.Decoder
	texts   [][]byte
	line    int64 // lines read, empty ones included
}

func newLineReader(base rowReader, input *bufio.Reader) *lineReader {
	json, _ := format.Lookup("JSON")
	wanted := make([]bool, len(base.columns))
	for i := range wanted {
		wanted[i] = true
	}
	return &lineReader{
		rowReader: base, input: input,
		decoder: json.NewDecoder(format.Spec{Name: "JSON"}, FieldsOf(base.columns), wanted),
	}
}

func (r *lineReader) next() (*fileBatch, error) {
	r.texts, r.out.lines = r.texts[:0], r.out.lines[:0]
	var end error
	for size := 0; len(r.texts) < column.MaxRows && size < batchBytes && end == nil; {
		var line []byte
		line, end = r.input.ReadBytes('\n')
		if end != nil && !errors.Is(end, io.EOF) {
			return &r.out, fmt.Errorf("%s:%d: %w", r.name, r.line+1, end)
		}
		r.line++
		size += len(line)
		r.limit.left = maxRowBytes
		if text := strings.TrimSpace(string(line)); text != "" {
			r.texts = append(r.texts, []byte(text))
			r.out.lines = append(r.out.lines, r.line)
		}
	}
	r.begin(len(r.texts))
	var fault error
	r.decoder.Decode(r.texts, r.batch.Selection, r.batch.Columns, r.batch.Arena, func(row int32, err error) {
		if fault == nil {
			fault = types.Errorf(types.CodeValue, "%s:%d: %v", r.name, r.out.lines[row], err)
		}
	})
	if fault != nil {
		return &r.out, fault
	}
	batch, err := r.finish()
	if err != nil {
		return batch, err
	}
	return batch, end
}

// csvReader reads CSV with a header line. Its texts become values as CAST makes
// them; an empty field is null.
type csvReader struct {
	rowReader
	input   *csv.Reader
	field   []int // of each column, the field that holds it; -1: none does
	texts   column.Batch
	kernels []expr.Kernel
	fault   error
}

func newCSVReader(base rowReader, input io.Reader, delimiter rune) (*csvReader, error) {
	r := &csvReader{rowReader: base, input: csv.NewReader(input)}
	r.input.Comma = delimiter
	r.input.ReuseRecord = true
	header, err := r.input.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, types.Errorf(types.CodeValue, "%s has no header line", base.name)
	case err != nil:
		return nil, r.syntaxError(err)
	}
	r.field = make([]int, len(base.columns))
	r.texts.Arena = base.batch.Arena
	for i, c := range base.columns {
		if r.field[i], err = fieldOf(header, c.Name); err != nil {
			return nil, types.Errorf(types.CodeValue, "%s: %v", base.name, err)
		}
		if r.field[i] < 0 && i < base.keys {
			return nil, types.Errorf(types.CodeValue, "%s has no field called %s, which is the key", base.name, c.Name).
				WithHint("its fields are %s", strings.Join(header, ", "))
		}
		cast, err := expr.NewCast(expr.NewColumn(i, c.Name, types.String), c.Type)
		if err != nil {
			return nil, err
		}
		kernel, err := expr.Compile(cast, &expr.Environment{Errors: r})
		if err != nil {
			return nil, err
		}
		r.kernels = append(r.kernels, kernel)
		r.texts.Columns = append(r.texts.Columns, column.New(types.String, column.MaxRows))
	}
	return r, nil
}

// fieldOf finds a column's field: by its name, else without regard to case; -1
// if there is none. Two of them are an error, as only one could be loaded.
func fieldOf(header []string, name string) (at int, err error) {
	exact, folded := -1, -1
	for i, field := range header {
		field = strings.TrimSpace(field)
		found := &folded
		if field == name {
			found = &exact
		} else if !strings.EqualFold(field, name) {
			continue
		}
		if *found >= 0 {
			return -1, fmt.Errorf("fields %d and %d of the header line are both called %s", *found+1, i+1, field)
		}
		*found = i
	}
	if exact >= 0 {
		return exact, nil
	}
	return folded, nil
}

// RowError implements column.Errors: a field that does not convert.
func (r *csvReader) RowError(_ *column.Batch, i int, what string, err error) {
	if r.fault == nil {
		r.fault = types.Errorf(types.CodeValue, "%s:%d: %s: %v", r.name, r.out.lines[i], what, err)
	}
}

func (r *csvReader) next() (*fileBatch, error) {
	for _, v := range r.texts.Columns {
		v.Reset(column.MaxRows)
	}
	r.batch.Arena.Reset()
	r.out.lines = r.out.lines[:0]
	n := 0
	var end error
	for from := r.input.InputOffset(); n < column.MaxRows && r.input.InputOffset()-from < batchBytes; {
		var record []string
		if record, end = r.input.Read(); end != nil {
			break
		}
		r.limit.left = maxRowBytes
		line, _ := r.input.FieldPos(0)
		r.out.lines = append(r.out.lines, int64(line))
		for i, at := range r.field {
			if at >= 0 && record[at] != "" {
				r.texts.Columns[i].SetText(n, r.batch.Arena.Copy(record[at]))
			}
		}
		n++
	}
	if end != nil && !errors.Is(end, io.EOF) {
		return &r.out, r.syntaxError(end)
	}
	return r.convert(n, end)
}

// syntaxError says where and why a file is no CSV.
func (r *csvReader) syntaxError(err error) error {
	syntax, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	if errors.Is(err, csv.ErrFieldCount) {
		return types.Errorf(types.CodeValue, "%s:%d: the number of fields is not the %d of the header line", r.name, syntax.StartLine, r.input.FieldsPerRecord)
	}
	return types.Errorf(types.CodeValue, "%s:%d: %v", r.name, syntax.Line, syntax.Err)
}

func (r *csvReader) convert(n int, end error) (*fileBatch, error) {
	r.texts.Len = n
	r.texts.SelectAll()
	r.batch.Len = n
	r.batch.SelectAll()
	for i, kernel := range r.kernels {
		r.batch.Columns[i] = kernel.Eval(&r.texts, r.texts.Selection)
	}
	if r.fault != nil {
		return &r.out, r.fault
	}
	batch, err := r.finish()
	if err != nil {
		return batch, err
	}
	return batch, end
}
