package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// compare tells how an answer differs from the expected files.
func (g *golden) compare(a *answer) (string, error) {
	if g.ksql {
		return g.compareKSQL(a)
	}
	want, err := os.ReadFile(filepath.Join(g.directory, errorFile))
	switch {
	case err == nil:
		return g.compareError(strings.TrimSpace(string(want)), a), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	case a.err != nil:
		return fmt.Sprintf("error: %s\n", g.errorText(a.err)), nil
	}
	expected, err := readExpectedLines(filepath.Join(g.directory, expectedFile))
	if err != nil {
		return "", err
	}
	text := diffLines(expected, a.lines())
	if text != "" {
		text = fmt.Sprintf("- %s, + this run\n%s", expectedFile, text)
	}
	events, err := g.compareEvents(a)
	return text + events, err
}

func (g *golden) compareError(want string, a *answer) string {
	if a.err == nil {
		return fmt.Sprintf("expected an error, and there was none: %s\n", want)
	}
	if got := g.errorText(a.err); got != want {
		return fmt.Sprintf("- %s\n+ %s\n", want, got)
	}
	return ""
}

func (g *golden) compareEvents(a *answer) (string, error) {
	text, err := os.ReadFile(filepath.Join(g.directory, eventsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var want, got []diffLine
	for i, line := range nonEmptyLines(string(text)) {
		want = append(want, diffLine{text: line, shown: line, number: i + 1})
	}
	for _, event := range a.events {
		got = append(got, diffLine{text: event, shown: event})
	}
	if diff := diffLines(want, got); diff != "" {
		return fmt.Sprintf("- %s, + this run\n%s", eventsFile, diff), nil
	}
	return "", nil
}

func nonEmptyLines(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimRight(line, "\r"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// readExpectedLines reads the expected records.
func readExpectedLines(path string) ([]diffLine, error) {
	var lines []diffLine
	err := eachLine(path, func(line []byte, number int) error {
		var record Output
		if err := json.Unmarshal(line, &record); err != nil {
			return err
		}
		lines = append(lines, newDiffLine(record, number))
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist; write it with --update", path)
	}
	return lines, err
}

// update writes the expected files anew and tells which of them changed.
func (g *golden) update(a *answer) (updated []string, err error) {
	contents := map[string]string{}
	switch {
	case g.ksql && a.err != nil:
		return nil, a.err
	case g.ksql:
		contents[ksqlOutput] = ksqlText(a)
	case a.err != nil:
		contents = map[string]string{errorFile: g.errorText(a.err) + "\n", expectedFile: "", eventsFile: ""}
	default:
		var records strings.Builder
		for _, r := range a.records {
			records.WriteString(recordLine(r) + "\n")
		}
		if records.Len() == 0 {
			records.WriteString("\n") // an empty answer is an answer, too
		}
		contents = map[string]string{errorFile: "", expectedFile: records.String(), eventsFile: strings.Join(append(a.events, ""), "\n")}
	}
	for _, name := range []string{ksqlOutput, errorFile, expectedFile, eventsFile} {
		text, ok := contents[name]
		if !ok {
			continue
		}
		changed, err := rewrite(filepath.Join(g.directory, name), text)
		if err != nil {
			return updated, err
		}
		if changed {
			updated = append(updated, name)
		}
	}
	return updated, nil
}

// rewrite writes a file if its content changes; one without content is removed.
func rewrite(path, text string) (changed bool, err error) {
	before, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return false, err
	case missing && text == "", err == nil && text == string(before):
		return false, nil
	case text == "":
		return true, os.Remove(path)
	}
	return true, os.WriteFile(path, []byte(text), 0o644)
}

// recordLine is a record as a line of JSON.
func recordLine(r Output) string {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(r) // its raw parts were checked when it was made
	return strings.TrimRight(buf.String(), "\n")
}
