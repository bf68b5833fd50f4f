package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"millrace/exec/replay"
	"millrace/kafkaio"
	"millrace/planner/catalog"
	"millrace/sql/types"
)

func changesOf(topic string, n int) *kafkaio.Records {
	run := &kafkaio.Records{TopicPartition: kafkaio.TopicPartition{Topic: topic}}
	for i := range n {
		run.Offsets = append(run.Offsets, int64(i))
		run.Timestamps = append(run.Timestamps, int64(i))
		run.Keys = append(run.Keys, fmt.Appendf(nil, "key %d", i%7))
		run.Values = append(run.Values, fmt.Appendf(nil, `{"N":%d}`, i))
		run.Headers = append(run.Headers, nil)
	}
	return run
}

// TestTableViewStaysOnScreen: however many records there are, no drawing is
// higher than the screen or wider than it, and each replaces the one before.
func TestTableViewStaysOnScreen(t *testing.T) {
	var out bytes.Buffer
	const height, width = 12, 30
	view := newTableView(&out, true, height, width)
	table := &catalog.Source{
		Name: "T", Kind: catalog.Table, Topic: "t", KeyFormat: catalog.Format{Name: "KAFKA"}, ValueFormat: catalog.Format{Name: "JSON"},
		Key: []catalog.Column{{Name: "K", Type: types.String}}, Value: []catalog.Column{{Name: "N", Type: types.Bigint}},
	}
	view.add(table)
	for range 3 {
		if err := view.show(table, changesOf("t", 200_000), replay.NewRecorder(nil)); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		before := view.drawn
		if err := view.draw(); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if before > 0 {
			up := fmt.Sprintf("\x1b[%dA\x1b[J", before)
			if !strings.HasPrefix(text, up) {
				t.Fatalf("the drawing does not begin by taking back %d lines: %q", before, text)
			}
			text = strings.TrimPrefix(text, up)
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > height-1 {
			t.Errorf("%d lines on a screen of %d", len(lines), height)
		}
		for _, line := range lines {
			if len([]rune(line)) > width {
				t.Errorf("a line is wider than the screen: %q", line)
			}
		}
		if strings.Count(text, "key 3") != 1 {
			t.Errorf("a key of the table is not there once:\n%s", text)
		}
	}
	if count := view.sinks[0].count; count != 600_000 {
		t.Errorf("%d records are counted", count)
	}
}

// TestCellsDoNotMoveTheCursor: what a topic holds cannot steer the terminal.
func TestCellsDoNotMoveTheCursor(t *testing.T) {
	for _, raw := range []string{`"a\u001b[2Jb"`, `"a\nb"`, `"\u009b31m"`, `"\u007f"`} {
		if got := cell([]byte(raw), types.String); strings.ContainsAny(got, "\x1b\n\x7f\u009b") {
			t.Errorf("cell(%s) = %q", raw, got)
		}
	}
}

func TestCellOfMoments(t *testing.T) {
	for _, c := range []struct {
		raw  string
		t    *types.Type
		want string
	}{
		{"18262", types.Date, "2020-01-01"},
		{"-56270", types.Date, "1815-12-10"},
		{"3661000", types.Time, "01:01:01"},
		{"1577836800001", types.Timestamp, "2020-01-01T00:00:00.001"},
		{"null", types.Date, "null"},
		{"18262", types.Bigint, "18262"},
		{`"18262"`, types.String, "18262"},
	} {
		if got := cell([]byte(c.raw), c.t); got != c.want {
			t.Errorf("%s of type %s is shown as %q, not %q", c.raw, c.t, got, c.want)
		}
	}
}
