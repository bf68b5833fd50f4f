package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"millrace/exec/column"
	"millrace/exec/expr"
	"millrace/kafkaio"
	"millrace/planner"
	"millrace/planner/catalog"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// loadCommitRows is how many rows LOAD writes in one transaction.
const loadCommitRows = 50_000

// load executes LOAD. The number of rows that have been loaded is committed
// with them, as the position of a group named after the file and the target:
// a statement that is executed again goes on behind them, and one that was
// interrupted leaves nothing doubled. The whole file is checked before its
// first row is written.
func (s *Session) load(ctx context.Context, n *ast.Load) (*Result, error) {
	l, err := s.planner(ctx).Load(n)
	if err != nil {
		return nil, err
	}
	name := l.File
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.options.Directory, name)
	}
	if s.options.Log == nil {
		if _, err := os.Stat(name); err != nil {
			return nil, fileError(n, name, err)
		}
		return &Result{Message: fmt.Sprintf("%s would be loaded into %s.", l.File, l.Source.Name)}, nil
	}
	if err := s.checkFile(l, name); err != nil {
		return nil, fileError(n, name, err)
	}
	w, err := s.newWriter(ctx, l.Source, l.File+":")
	if err != nil {
		return nil, err
	}
	job := &loadJob{session: s, plan: l, writer: w, group: kafkaio.Group{
		Name:       fmt.Sprintf("_millrace_%s_load_%s_%s", s.options.Service, l.Source.Name, filepath.ToSlash(filepath.Clean(l.File))),
		Generation: -1,
	}}
	loaded, before, err := job.run(ctx, name)
	if err != nil {
		return nil, fileError(n, name, err)
	}
	message := fmt.Sprintf("%s of %s %s loaded into %s", planner.Counted(int(loaded), "row"), l.File, areOrIs(loaded), l.Source.Name)
	if before > 0 {
		verb := "were"
		if before == 1 {
			verb = "was"
		}
		message += fmt.Sprintf("; %d %s there already", before, verb)
	}
	return &Result{Message: message + "." + missingText(l, name)}, nil
}

// missingText tells which columns a file with a header line does not have: they
// are null in all rows, which may be a slip of the pen.
func missingText(l *planner.Load, name string) string {
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // it was only read
	reader, err := newFileReader(l, file, name)
	if err != nil {
		return ""
	}
	csv, ok := reader.(*csvReader)
	if !ok {
		return ""
	}
	var missing []string
	for i, field := range csv.field {
		if field < 0 {
			missing = append(missing, csv.columns[i].Name)
		}
	}
	switch len(missing) {
	case 0:
		return ""
	case 1:
		return " The file has no column " + missing[0] + ", which is null."
	}
	return " The file has no columns " + strings.Join(missing, ", ") + ", which are null."
}

func areOrIs(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// fileError gives a fault of a file the place of its name in the statement.
func fileError(n *ast.Load, name string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return types.Errorf(types.CodeValue, "file %s does not exist", name).At(n.FilePosition).
			WithHint("relative names start from the script's folder")
	}
	var fault *types.Error
	if errors.As(err, &fault) {
		return fault.At(n.FilePosition)
	}
	return err
}

// checkFile reads a whole file without writing anything.
func (s *Session) checkFile(l *planner.Load, name string) error {
	return eachBatch(l, name, func(*fileBatch) error { return nil })
}

// eachBatch opens a file and hands its rows on in batches.
func eachBatch(l *planner.Load, name string, handle func(*fileBatch) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	reader, err := newFileReader(l, file, name)
	if err != nil {
		return err
	}
	for {
		batch, err := reader.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if batch.len > 0 {
			if err := handle(batch); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// loadJob is one LOAD under way.
type loadJob struct {
	session *Session
	plan    *planner.Load
	writer  *writer
	group   kafkaio.Group
}

func (j *loadJob) position() kafkaio.TopicPartition {
	return kafkaio.TopicPartition{Topic: j.plan.Source.Topic, Partition: 0}
}

func (j *loadJob) run(ctx context.Context, name string) (loaded, before int64, err error) {
	committed, err := j.session.options.Log.CommittedOffsets(ctx, j.group.Name, []kafkaio.TopicPartition{j.position()})
	if err != nil {
		return 0, 0, err
	}
	before = max(committed[j.position()], 0)
	row, pending := int64(0), 0
	err = eachBatch(j.plan, name, func(b *fileBatch) error {
		for i := range b.len {
			if row++; row <= before {
				continue
			}
			if err := j.writer.append(ctx, b.key, b.value, i, b.lines[i], b.times[i]); err != nil {
				return err
			}
			if pending++; pending == loadCommitRows {
				pending = 0
				if err := j.commit(ctx, row); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, before, j.writer.explain(j.writer.abort(ctx, err))
	}
	if pending > 0 {
		err = j.writer.explain(j.commit(ctx, row))
	}
	return max(row-before, 0), min(before, row), err
}

func (j *loadJob) commit(ctx context.Context, rows int64) error {
	producer := j.session.producer
	if err := producer.SendOffsets(ctx, j.group, map[kafkaio.TopicPartition]int64{j.position(): rows}); err != nil {
		return j.writer.abort(ctx, err)
	}
	if err := producer.Commit(ctx); err != nil {
		return fmt.Errorf("loading into %s: %w", j.plan.Source.Name, err)
	}
	j.writer.largest = 0
	if progress := j.session.options.Progress; progress != nil {
		progress("LOAD INTO "+j.plan.Source.Name, rows)
	}
	return nil
}

// fileBatch is a run of a file's rows: one vector a key and value column of the
// target, and the records' times.
type fileBatch struct {
	len        int
	key, value []*column.Vector
	times      []int64
	lines      []int64 // of the file, counted from 1
}

// timeOf computes the time of a batch's rows.
type timeOf struct {
	fixed  int64
	column int // in key and value columns together; -1: fixed
	parse  expr.Kernel
}

func newTimeOf(l *planner.Load, now int64) (*timeOf, error) {
	t := &timeOf{column: -1, fixed: now}
	if l.Timestamp == nil {
		if l.Source.Kind == catalog.Table {
			t.fixed = 0
		}
		return t, nil
	}
	for i, c := range append(append([]catalog.Column{}, l.Source.Key...), l.Source.Value...) {
		if c.Name != l.Timestamp.Column {
			continue
		}
		t.column = i
		if c.Type.Kind != types.KindString {
			return t, nil
		}
		e, err := expr.NewCall("PARSE_TIMESTAMP", []expr.Argument{
			{Expr: expr.NewColumn(i, c.Name, c.Type)}, {Expr: expr.NewLiteral(l.Timestamp.Format, types.String)},
		})
		if err != nil {
			return nil, err
		}
		t.parse, err = expr.Compile(e, &expr.Environment{})
		return t, err
	}
	return t, nil
}

// set fills the times of a batch's rows, and gives the first row without a
// valid time; -1: all have one.
func (t *timeOf) set(times []int64, b *column.Batch) (fault int) {
	if t.column < 0 {
		for i := range times {
			times[i] = t.fixed
		}
		return -1
	}
	v := b.Columns[t.column]
	if t.parse != nil {
		v = t.parse.Eval(b, b.Selection)
	}
	for i := range times {
		if v.Null(i) {
			return i
		}
		times[i] = v.Ints[i]
	}
	return -1
}
