package docs

import (
	"strings"
	"testing"
)

// A table of a document whose first column is called Expression holds SQL
// expressions; the columns Type and Result say what they give.

// cells splits a table's line; a bar behind a backslash is part of its cell.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var list []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			list = append(list, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(list, strings.TrimSpace(cell.String()))
}

// tableLine writes the cells of a line.
func tableLine(list []string) string {
	escaped := make([]string, len(list))
	for i, cell := range list {
		escaped[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return "| " + strings.Join(escaped, " | ") + " |"
}

// uncode is the text in a cell's back quotes.
func uncode(cell string) (string, bool) {
	if inner, ok := strings.CutPrefix(cell, "`` "); ok {
		return strings.CutSuffix(inner, " ``")
	}
	if len(cell) < 2 || cell[0] != '`' || cell[len(cell)-1] != '`' {
		return "", false
	}
	return cell[1 : len(cell)-1], true
}

// expressionLines calls each for every line of the document's tables of
// expressions, with the names of the columns and the cells, which it may change.
func expressionLines(t *testing.T, document string, each func(expression string, header, line []string)) string {
	t.Helper()
	return tableLines(t, document, "Expression", func(_ int, code string, header, line []string) { each(code, header, line) })
}

// tableLines calls each for every line of the tables whose first column has
// the name, with the line's number and the code in its first cell.
func tableLines(t *testing.T, document, name string, each func(number int, code string, header, line []string)) string {
	t.Helper()
	lines := strings.Split(document, "\n")
	var header []string
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") {
			header = nil
			continue
		}
		list := cells(line)
		switch {
		case header == nil:
			header = list
		case header[0] != name || strings.HasPrefix(list[0], "-"):
		default:
			code, ok := uncode(list[0])
			if !ok || len(list) != len(header) {
				t.Errorf("line %d of the document does not fit its table: %s", i+1, line)
				continue
			}
			each(i+1, code, header, list)
			lines[i] = tableLine(list)
		}
	}
	return strings.Join(lines, "\n")
}

// checkTables evaluates all expressions of a document and returns it with
// their results.
func checkTables(t *testing.T, document string) string {
	t.Helper()
	var expressions []string
	expressionLines(t, document, func(expression string, _, _ []string) { expressions = append(expressions, expression) })
	if len(expressions) == 0 {
		return document
	}
	answers := evaluate(t, expressions)
	return expressionLines(t, document, func(expression string, header, line []string) {
		for k, name := range header {
			switch name {
			case "Type":
				if line[k] = ""; answers[expression].Type != "" {
					line[k] = code(answers[expression].Type)
				}
			case "Result":
				line[k] = answers[expression].text()
			}
		}
	})
}

func TestExpressionTables(t *testing.T) {
	for _, page := range pages(t) {
		document := readFile(t, page)
		settle(t, page, document, checkTables(t, document))
	}
}
