package main

import (
	"bufio"
	"encoding/json"
	"io"

	"millrace/exec/replay"
	"millrace/kafkaio"
	"millrace/planner/catalog"
)

// jsonLines shows each record as a line of JSON.
type jsonLines struct {
	out     *bufio.Writer
	encoder *json.Encoder
}

func newJSONLines(w io.Writer) *jsonLines {
	out := bufio.NewWriterSize(w, 1<<16)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return &jsonLines{out: out, encoder: encoder}
}

func (d *jsonLines) add(*catalog.Source) {}

func (d *jsonLines) show(sink *catalog.Source, run *kafkaio.Records, recorder *replay.Recorder) error {
	for i := range run.Len() {
		record, err := recorder.Record(sink, run, i)
		if err != nil {
			return err
		}
		if err := d.encoder.Encode(record); err != nil {
			return err
		}
	}
	return nil
}

func (d *jsonLines) refresh() error { return d.out.Flush() }

func (d *jsonLines) close() error { return d.out.Flush() }
