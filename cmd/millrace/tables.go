package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"millrace/exec/session"
)

// writeTable writes what a statement found as aligned columns.
func writeTable(w io.Writer, t *session.Table) {
	if t.Title != "" {
		fmt.Fprintln(w, t.Title)
	}
	header := make([]string, len(t.Columns))
	numeric := make([]bool, len(t.Columns))
	for i, name := range t.Columns {
		header[i] = name
		if name == strings.ToLower(name) { // one of SHOW or DESCRIBE, not a user's
			header[i] = strings.ReplaceAll(name, "_", " ")
		}
	}
	lines := [][]string{header}
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, value := range row {
			if value == nil {
				continue
			}
			switch v := value.(type) {
			case int64, json.Number:
				numeric[i] = true
			case json.RawMessage:
				value = string(v)
			}
			cells[i] = printable(fmt.Sprint(value))
		}
		lines = append(lines, cells)
	}
	for _, line := range align(lines, numeric) {
		fmt.Fprintln(w, line)
	}
}

// align pads the cells of lines so that columns stand below each other,
// numeric ones to the right.
func align(lines [][]string, numeric []bool) []string {
	widths := make([]int, len(numeric))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	out := make([]string, len(lines))
	for n, cells := range lines {
		var line strings.Builder
		for i, cell := range cells {
			padding := strings.Repeat(" ", widths[i]-textWidth(cell))
			if line.WriteString("  "); numeric[i] {
				line.WriteString(padding + cell)
			} else {
				line.WriteString(cell + padding)
			}
		}
		out[n] = strings.TrimRight(line.String(), " ")
	}
	return out
}

// writeJSONRows writes each row as a line of JSON with the columns in order.
func writeJSONRows(w io.Writer, t *session.Table) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	for _, row := range t.Rows {
		for i, value := range row {
			separator := byte(',')
			if i == 0 {
				separator = '{'
			}
			buf.WriteByte(separator)
			_ = encoder.Encode(t.Columns[i]) // a text always encodes
			buf.Truncate(buf.Len() - 1)
			buf.WriteByte(':')
			if err := encoder.Encode(value); err != nil {
				_ = encoder.Encode(fmt.Sprint(value))
			}
			buf.Truncate(buf.Len() - 1)
		}
		buf.WriteString("}\n")
	}
	_, _ = w.Write(buf.Bytes()) // a reader that is gone is noticed at the results
}
