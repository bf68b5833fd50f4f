package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/exec/replay"
	"millrace/kafkaio"
	"millrace/kafkaio/format"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// tableView shows the last rows of each sink as aligned columns, at most a
// screen. Live, it draws over what it drew before; otherwise it draws once, at
// the end.
type tableView struct {
	out           io.Writer
	live          bool
	height, width int
	sinks         []*sinkView
	drawn         int // lines on the screen
	dirty         bool
	last          time.Time // of drawing
}

// sinkView is a sink's part of the view.
type sinkView struct {
	source *catalog.Source
	count  int64
	rows   []viewRow // the oldest first
}

// viewRow is a record to show. Identity is what a later record of a table
// replaces.
type viewRow struct {
	identity string
	record   replay.Output
}

const (
	redrawInterval = 200 * time.Millisecond
	fewestRows     = 3
	widestCell     = 40
)

func newTableView(w io.Writer, live bool, height, width int) *tableView {
	return &tableView{out: w, live: live, height: height, width: width}
}

func (v *tableView) add(sink *catalog.Source) {
	v.sinks = append(v.sinks, &sinkView{source: sink})
	v.dirty = true
}

func (v *tableView) view(sink *catalog.Source) *sinkView {
	return v.sinks[slices.IndexFunc(v.sinks, func(s *sinkView) bool { return s.source.Topic == sink.Topic })]
}

// rowsPerSink leaves each sink a blank line, its title and its header, and the
// prompt a line.
func (v *tableView) rowsPerSink() int {
	return max((v.height-2)/max(len(v.sinks), 1)-3, fewestRows)
}

func (v *tableView) show(sink *catalog.Source, run *kafkaio.Records, recorder *replay.Recorder) error {
	s := v.view(sink)
	s.count += int64(run.Len())
	v.dirty = true
	keep := v.rowsPerSink()
	// Changes of few keys may replace each other, so more than keep are looked at.
	for i := max(0, run.Len()-8*keep); i < run.Len(); i++ {
		record, err := recorder.Record(sink, run, i)
		if err != nil {
			return err
		}
		s.put(record)
	}
	s.rows = s.rows[max(0, len(s.rows)-keep):]
	return nil
}

// put adds a row, the last one; of a table it replaces that of the same key.
func (s *sinkView) put(record replay.Output) {
	row := viewRow{record: record}
	if s.source.Kind == catalog.Table {
		row.identity = string(record.Key)
		if record.Window != nil {
			row.identity += fmt.Sprintf("@%d", record.Window.Start)
		}
		for i := range s.rows {
			if s.rows[i].identity == row.identity {
				s.rows = append(s.rows[:i], s.rows[i+1:]...)
				break
			}
		}
	}
	s.rows = append(s.rows, row)
}

func (v *tableView) refresh() error {
	if !v.live || !v.dirty || time.Since(v.last) < redrawInterval {
		return nil
	}
	return v.draw()
}

func (v *tableView) close() error {
	if !v.dirty {
		return nil
	}
	return v.draw()
}

func (v *tableView) draw() error {
	v.dirty, v.last = false, time.Now()
	var buf bytes.Buffer
	if v.drawn > 0 {
		fmt.Fprintf(&buf, "\x1b[%dA\x1b[J", v.drawn)
	}
	v.drawn = 0
	for _, s := range v.sinks {
		for _, line := range s.lines() {
			buf.WriteString(clip(line, v.width))
			buf.WriteByte('\n')
			v.drawn++
		}
	}
	if !v.live {
		v.drawn = 0
	}
	_, err := v.out.Write(buf.Bytes())
	return err
}

// erase takes the view off the screen, so that a message can be written above.
func (v *tableView) erase() {
	if v.drawn > 0 {
		fmt.Fprintf(v.out, "\x1b[%dA\x1b[J", v.drawn)
		v.drawn, v.dirty, v.last = 0, true, time.Time{}
	}
}

func (s *sinkView) lines() []string {
	lines := []string{"", s.title()}
	header := s.header()
	table := [][]string{header}
	for _, row := range s.rows {
		table = append(table, s.cells(row.record))
	}
	return append(lines, align(table, s.numeric())...)
}

func (s *sinkView) title() string {
	if shown := len(s.rows); int64(shown) < s.count {
		return fmt.Sprintf("%s: %d records, the last %d", s.source.Name, s.count, shown)
	}
	return fmt.Sprintf("%s: %s", s.source.Name, counted(s.count, "record"))
}

func (s *sinkView) header() []string {
	var names []string
	for _, c := range s.source.Key {
		names = append(names, c.Name)
	}
	if s.source.Window != nil {
		names = append(names, "WINDOWSTART")
	}
	for _, c := range s.source.Value {
		names = append(names, c.Name)
	}
	return names
}

func (s *sinkView) numeric() []bool {
	var out []bool
	for _, c := range s.source.Key {
		out = append(out, c.Type.Numeric())
	}
	if s.source.Window != nil {
		out = append(out, false)
	}
	for _, c := range s.source.Value {
		out = append(out, c.Type.Numeric())
	}
	return out
}

func (s *sinkView) cells(r replay.Output) []string {
	cells := fields(r.Key, s.source.Key, s.source.KeyFormat)
	if s.source.Window != nil {
		start := "?"
		if r.Window != nil {
			start = strings.TrimSuffix(formatTime(r.Window.Start), ".000")
		}
		cells = append(cells, start)
	}
	if string(r.Value) == "null" && len(s.source.Value) > 0 {
		values := make([]string, len(s.source.Value))
		values[0] = "(deleted)"
		if s.source.Kind == catalog.Stream {
			values[0] = "(null)"
		}
		return append(cells, values...)
	}
	return append(cells, fields(r.Value, s.source.Value, s.source.ValueFormat)...)
}

// fields are the texts of a part's columns.
func fields(raw json.RawMessage, columns []catalog.Column, of catalog.Format) []string {
	out := make([]string, len(columns))
	if len(columns) == 0 {
		return out
	}
	var object map[string]json.RawMessage
	_, hasSchema := format.LookupSchema(of.Name)
	if (of.Name == "JSON" || hasSchema) && json.Unmarshal(raw, &object) == nil && object != nil && !(len(columns) == 1 && of.Unwrapped) {
		for i, c := range columns {
			out[i] = cell(member(object, c.Name), c.Type)
		}
		return out
	}
	if len(columns) > 1 && of.Name == "DELIMITED" {
		var line string
		if json.Unmarshal(raw, &line) == nil {
			copy(out, strings.SplitN(line, orComma(of.Delimiter), len(columns)))
			return out
		}
	}
	out[0] = cell(raw, columns[0].Type)
	return out
}

// member is the one of a column: under its name, or else under one that differs
// in case only, as the schema of others may have it.
func member(object map[string]json.RawMessage, name string) json.RawMessage {
	if value, ok := object[name]; ok {
		return value
	}
	for other, value := range object {
		if strings.EqualFold(other, name) {
			return value
		}
	}
	return nil
}

func orComma(delimiter string) string {
	if delimiter == "" {
		return ","
	}
	return delimiter
}

// cell is a JSON value as it is shown: a text bare, a date or time in its text
// form, everything else as JSON.
func cell(raw json.RawMessage, t *types.Type) string {
	if len(raw) == 0 {
		return "null"
	}
	text := string(raw)
	if t.Temporal() {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return momentText(n, t.Kind)
		}
	}
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return clip(printable(string(raw)), widestCell)
		}
	}
	return clip(printable(text), widestCell)
}

// momentText is the text form of a DATE, TIME or TIMESTAMP.
func momentText(n int64, kind types.Kind) string {
	switch kind {
	case types.KindDate:
		return string(types.AppendDate(nil, n))
	case types.KindTime:
		return string(types.AppendTime(nil, n))
	}
	return string(types.AppendTimestamp(nil, n))
}

// printable replaces what would move the cursor.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '.'
		}
		return r
	}, text)
}
