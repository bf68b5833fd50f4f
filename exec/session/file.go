package session

import (
	"bufio"
	"encoding/csv"
	"errors"
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
	columns := append(append([]catalog.Column{}, l.Source.Key...), l.Source.Value...)
	base := rowReader{name: name, keys: len(l.Source.Key), columns: columns, times: times}
	for _, c := range columns {
		base.batch.Columns = append(base.batch.Columns, column.New(c.Type, column.MaxRows))
	}
	base.batch.Arena = &column.Arena{}
	if l.Format == planner.CSV {
		return newCSVReader(base, file, l.Delimiter)
	}
	return newLineReader(base, file), nil
}

// rowReader is what the readers of both file formats share.
type rowReader struct {
	name    string
	keys    int // the first columns that are the key
	columns []catalog.Column
	times   *timeOf
	batch   column.Batch
	out     fileBatch
	row     int64 // rows before this batch
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
	err := r.times.set(r.out.times, &r.batch, r.row+1)
	r.row += int64(n)
	return &r.out, err
}

// lineReader reads JSON lines.
type lineReader struct {
	rowReader
	input   *bufio.Reader
	decoder format.Decoder
	lines   [][]byte
	line    int64 // lines read, empty ones included
	numbers []int64
}

func newLineReader(base rowReader, file io.Reader) *lineReader {
	json, _ := format.Lookup("JSON")
	wanted := make([]bool, len(base.columns))
	for i := range wanted {
		wanted[i] = true
	}
	return &lineReader{
		rowReader: base, input: bufio.NewReaderSize(file, 1<<20),
		decoder: json.NewDecoder(format.Spec{Name: "JSON"}, fieldsOf(base.columns), wanted),
	}
}

func (r *lineReader) next() (*fileBatch, error) {
	r.lines, r.numbers = r.lines[:0], r.numbers[:0]
	var end error
	for len(r.lines) < column.MaxRows && end == nil {
		var line []byte
		line, end = r.input.ReadBytes('\n')
		if end != nil && !errors.Is(end, io.EOF) {
			return &r.out, end
		}
		r.line++
		if text := strings.TrimSpace(string(line)); text != "" {
			r.lines = append(r.lines, []byte(text))
			r.numbers = append(r.numbers, r.line)
		}
	}
	r.begin(len(r.lines))
	var fault error
	r.decoder.Decode(r.lines, r.batch.Selection, r.batch.Columns, r.batch.Arena, func(row int32, err error) {
		if fault == nil {
			fault = types.Errorf(types.CodeValue, "%s:%d: %v", r.name, r.numbers[row], err)
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
	lines   []int
}

func newCSVReader(base rowReader, file io.Reader, delimiter rune) (*csvReader, error) {
	r := &csvReader{rowReader: base, input: csv.NewReader(bufio.NewReaderSize(file, 1<<20))}
	r.input.Comma = delimiter
	r.input.ReuseRecord = true
	header, err := r.input.Read()
	if err != nil {
		return nil, types.Errorf(types.CodeValue, "%s has no header line", base.name)
	}
	r.field = make([]int, len(base.columns))
	r.texts.Arena = base.batch.Arena
	for i, c := range base.columns {
		r.field[i] = fieldOf(header, c.Name)
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

// fieldOf finds a column's field: by its name, else without regard to case.
func fieldOf(header []string, name string) int {
	found := -1
	for i, field := range header {
		field = strings.TrimSpace(field)
		if field == name {
			return i
		}
		if found < 0 && strings.EqualFold(field, name) {
			found = i
		}
	}
	return found
}

// RowError implements column.Errors: a field that does not convert.
func (r *csvReader) RowError(_ *column.Batch, i int, what string, err error) {
	if r.fault == nil {
		r.fault = types.Errorf(types.CodeValue, "%s:%d: %s: %v", r.name, r.lines[i], what, err)
	}
}

func (r *csvReader) next() (*fileBatch, error) {
	for _, v := range r.texts.Columns {
		v.Reset(column.MaxRows)
	}
	r.batch.Arena.Reset()
	r.lines = r.lines[:0]
	n := 0
	var end error
	for n < column.MaxRows {
		var record []string
		if record, end = r.input.Read(); end != nil {
			break
		}
		line, _ := r.input.FieldPos(0)
		r.lines = append(r.lines, line)
		for i, at := range r.field {
			if at >= 0 && record[at] != "" {
				r.texts.Columns[i].SetText(n, r.batch.Arena.Copy(record[at]))
			}
		}
		n++
	}
	if end != nil && !errors.Is(end, io.EOF) {
		return &r.out, types.Errorf(types.CodeValue, "%s: %v", r.name, end)
	}
	return r.convert(n, end)
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
