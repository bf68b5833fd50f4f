package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"millrace/exec"
	"millrace/exec/task"
)

// Verdict is what came of a golden test.
type Verdict struct {
	Directory string
	// Differences is empty if the test passed. Otherwise it tells, over several
	// lines, what is not as expected.
	Differences string
	// Updated are the files that were written anew.
	Updated []string
}

// answer is what one run of a test's statements gives.
type answer struct {
	records []Output // topic by topic
	events  []string
	err     error
	shared  map[string]bool // topics that several queries write
	timed   bool            // a source takes its time from a column
}

// RunGolden runs a test and compares. The inputs are fed one record at a time,
// which is what the expected files hold, and all together in batches of one and
// of many rows, which must give the same. With update, the expected files are
// written instead of compared.
func RunGolden(ctx context.Context, directory string, update bool) (Verdict, error) {
	v := Verdict{Directory: directory}
	g, err := readGolden(directory)
	if err != nil {
		return v, err
	}
	single := g.answer(ctx, Options{})
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	if update {
		v.Updated, err = g.update(single)
	} else {
		v.Differences, err = g.compare(single)
	}
	if err != nil {
		return v, err
	}
	v.Differences += g.compareBatches(ctx, single)
	return v, ctx.Err()
}

func (g *golden) answer(ctx context.Context, options Options) *answer {
	a := &answer{shared: map[string]bool{}}
	options.Properties, options.Directory = g.properties, g.directory
	options.Events = exec.Events{
		RecordSkipped: func(e task.RecordSkipped) { a.events = append(a.events, e.String()) },
		RowError:      func(e task.RowError) { a.events = append(a.events, e.String()) },
		LateRecord:    func(e task.LateRecord) { a.events = append(a.events, e.String()) },
	}
	r, err := New(ctx, g.recorded, options)
	if err != nil {
		a.err = err
		return a
	}
	a.err = r.Run(ctx, g.statements, g.recorded.Inputs, func(o Output) error {
		a.records = append(a.records, o)
		return nil
	})
	slices.SortStableFunc(a.records, func(x, y Output) int { return strings.Compare(x.Topic, y.Topic) })
	writers := map[string]int{}
	for _, q := range r.session.Catalog().Queries() {
		if s, ok := r.session.Catalog().Source(q.Sink); ok {
			writers[s.Topic]++
			a.shared[s.Topic] = writers[s.Topic] > 1
		}
	}
	for _, s := range r.session.Catalog().Sources() {
		a.timed = a.timed || s.Timestamp != nil
	}
	if a.err == nil {
		a.err = g.checkTopics(r)
	}
	a.err = errors.Join(a.err, r.Close(ctx))
	return a
}

// checkTopics refuses inputs that no statement can read: a test of nothing.
func (g *golden) checkTopics(r *Replay) error {
	for i, in := range g.recorded.Inputs {
		if r.source(in.Topic) == nil {
			return fmt.Errorf("input %d is of topic %s, over which no source is declared", i+1, in.Topic)
		}
	}
	return nil
}

// errorText is an error without the path to the test's folder, which depends on
// where the test is run from.
func (g *golden) errorText(err error) string {
	return strings.ReplaceAll(err.Error(), filepath.Clean(g.directory)+string(filepath.Separator), "")
}

// compareBatches tells where the size of batches changes the answer.
func (g *golden) compareBatches(ctx context.Context, single *answer) string {
	if single.err != nil {
		return ""
	}
	ones := g.answer(ctx, Options{Together: true, BatchRows: 1})
	many := g.answer(ctx, Options{Together: true})
	text := differ("in batches of one row", ones, "in batches of many rows", many)
	if text == "" && g.ordered(single) {
		text = differ("one record at a time", single, "all together", ones)
	}
	return text
}

// ordered tells whether the order in which the records are fed is the only one
// that a task with all of them at hand may take: they are of one topic, or
// their times grow from each to the next.
func (g *golden) ordered(a *answer) bool {
	one, growing := true, !a.timed
	for i := 1; i < len(g.recorded.Inputs); i++ {
		before, in := &g.recorded.Inputs[i-1], &g.recorded.Inputs[i]
		one = one && before.Topic == in.Topic
		growing = growing && before.Timestamp < in.Timestamp
	}
	return one || growing
}

// differ compares two answers that must be the same.
func differ(first string, a *answer, second string, b *answer) string {
	if a.err != nil || b.err != nil {
		if fmt.Sprint(a.err) == fmt.Sprint(b.err) {
			return ""
		}
		return fmt.Sprintf("the answer depends on how the inputs are fed: error %s: %v; %s: %v\n", first, a.err, second, b.err)
	}
	diff := diffLines(a.comparable(), b.comparable())
	if diff == "" {
		return ""
	}
	return fmt.Sprintf("the answer depends on how the inputs are fed: - %s, + %s\n%s", first, second, diff)
}

// lines are the records as lines.
func (a *answer) lines() []diffLine {
	lines := make([]diffLine, len(a.records))
	for i, r := range a.records {
		lines[i] = newDiffLine(r, 0)
	}
	return lines
}

// comparable are the lines with those of topics that several queries write
// sorted, since only what one query writes has an order of its own.
func (a *answer) comparable() []diffLine {
	lines := a.lines()
	slices.SortStableFunc(lines, func(x, y diffLine) int {
		if x.topic == y.topic && a.shared[x.topic] {
			return strings.Compare(x.text, y.text)
		}
		return strings.Compare(x.topic, y.topic)
	})
	return lines
}
