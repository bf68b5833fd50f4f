package task

import (
	"time"

	"millrace/kafkaio"
	"millrace/planner/plan"
)

// unknown is an offset that is not known yet.
const unknown = -1

// Input is one partition that a task reads. Its records wait in a queue; the
// first of them are decoded to a batch, whose rows are handed on in runs.
type Input struct {
	kafkaio.TopicPartition
	// Repartition says that only this query reads the topic.
	Repartition bool

	origin    string // of a repartition topic: the sources that fill it
	number    int    // among the task's inputs
	rank      int    // at equal times the lower rank goes first
	reader    reader
	queue     []*kafkaio.Records
	from      int // the batch is queue[0][from:to]
	to        int
	row       int // first row of the batch that was not handed on
	selected  int // how many of the selected rows were
	skipped   int // how many of the skipped rows were reported
	position  int64
	committed int64 // unknown without a committed position
	settled   int64 // the position at the last commit, or at the start
	stable    int64 // the last one heard of; unknown before the first
	emptied   time.Time
	purged    int64
}

func newInput(number int, node plan.Node, codecs codecs, partition int32) (*Input, error) {
	in := &Input{number: number, rank: 1, position: unknown, committed: unknown, stable: unknown}
	in.Topic, in.Partition = plan.InputTopic(node), partition
	switch n := node.(type) {
	case *plan.Source:
		source, err := newSource(n, codecs)
		if err != nil {
			return nil, err
		}
		in.reader = source
		if n.Output.Changes {
			// A row of a stream sees the table row of its own time.
			in.rank = 0
		}
	case *plan.RepartitionSource:
		in.reader, in.Repartition = newRepartitionSource(n), true
	}
	return in, nil
}

// Position is the offset of the first record that was not handed on.
func (in *Input) Position() int64 { return in.position }

// Lag is how many offsets lie between the position and the end, as far as the
// end is known.
func (in *Input) Lag() int64 { return max(in.stable-in.position, 0) }

// start sets where the input reads from; committed is unknown where the group
// has no position yet.
func (in *Input) start(position, committed int64) {
	in.release()
	in.position, in.settled, in.committed = position, position, committed
}

// Deliver adds a run, which the input releases when it is done with it.
func (in *Input) Deliver(records *kafkaio.Records) {
	in.stable = max(in.stable, records.Stable)
	if records.Next <= in.position {
		records.Release()
		return
	}
	if records.Len() == 0 && len(in.queue) == 0 {
		in.position = records.Next
		records.Release()
		return
	}
	in.queue = append(in.queue, records)
}

// release drops what is buffered.
func (in *Input) release() {
	for i, run := range in.queue {
		run.Release()
		in.queue[i] = nil
	}
	in.queue = in.queue[:0]
	in.from, in.to, in.row, in.selected, in.skipped = 0, 0, 0, 0, 0
}

// head is the time of the next row, after decoding as much as it takes to find
// one. ok is false when the queue is empty.
func (t *Task) head(in *Input) (time int64, ok bool, err error) {
	for {
		if in.to > in.from {
			b := &in.reader.frame().batch
			if in.selected < len(b.Selection) {
				return b.Times[b.Selection[in.selected]], true, nil
			}
			t.consume(in, b.Len)
		}
		if more, err := t.decode(in); !more || err != nil {
			return 0, false, err
		}
	}
}

// decode makes the next batch from the queue; it tells whether there is one.
func (t *Task) decode(in *Input) (bool, error) {
	for len(in.queue) > 0 && in.to >= in.queue[0].Len() {
		run := in.queue[0]
		in.position = max(in.position, run.Next)
		run.Release()
		copy(in.queue, in.queue[1:])
		in.queue[len(in.queue)-1] = nil
		in.queue = in.queue[:len(in.queue)-1]
		in.from, in.to = 0, 0
	}
	if len(in.queue) == 0 {
		return false, nil
	}
	run := in.queue[0]
	t.growBatches(in)
	in.from, in.to = in.to, min(in.to+t.batches.rows, run.Len())
	in.row, in.selected, in.skipped = 0, 0, 0
	return true, in.reader.read(run, in.from, in.to)
}

// consume marks the rows before row of the batch as done: the position moves
// behind them and those that were skipped are reported.
func (t *Task) consume(in *Input, row int) {
	f := in.reader.frame()
	run := in.queue[0]
	for in.skipped < len(f.skipped) && int(f.skipped[in.skipped].row) < row {
		skip := f.skipped[in.skipped]
		in.skipped++
		t.counts.skip(skip.reason, 1)
		t.reportSkip(t.placeOf(in, run.Offsets[in.from+int(skip.row)]), skip)
	}
	t.counts.In += int64(row - in.row)
	in.row = row
	switch next := in.from + row; {
	case next < run.Len():
		in.position = run.Offsets[next]
	default:
		in.position = run.Next
	}
}

func (t *Task) reportSkip(place Place, skip skippedRow) {
	if t.config.Reporter.RecordSkipped != nil {
		t.config.Reporter.RecordSkipped(RecordSkipped{Place: place, Reason: skip.reason, Path: skip.path, Detail: skip.detail})
	}
}
