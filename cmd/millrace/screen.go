package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"millrace/exec/replay"
	"millrace/exec/session"
	"millrace/kafkaio"
	"millrace/planner/catalog"
)

// screen is what a run shows: results on the output, everything else on the
// error stream. Its methods are safe for concurrent use.
type screen struct {
	out, err io.Writer
	display  display
	quiet    bool
	rewrite  bool // progress is drawn over itself
	aligned  bool // tables have columns, and are not lines of JSON

	mu           sync.Mutex // guards what follows and the writers
	lastProgress time.Time  // or when the statement before ended
	pending      bool       // a progress line stands on the screen
	view         *tableView
}

const (
	defaultHeight, defaultWidth = 24, 0
	progressInterval            = time.Second
)

// newScreen chooses the form of the results: auto, table or json.
func newScreen(std streams, form string, quiet bool) *screen {
	s := &screen{out: std.out, err: std.err, quiet: quiet, lastProgress: time.Now()}
	live, height, width := terminalSize(std.out)
	if e, ok := std.err.(*os.File); ok {
		s.rewrite = term.IsTerminal(int(e.Fd()))
	}
	s.aligned = form == "table" || form == "auto" && live
	switch {
	case quiet:
		s.display = discard{}
	case s.aligned:
		s.view = newTableView(std.out, live, height, width)
		s.display = &lockedDisplay{&s.mu, s.view}
	default:
		s.display = &lockedDisplay{&s.mu, newJSONLines(std.out)}
	}
	return s
}

func terminalSize(w io.Writer) (live bool, height, width int) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return false, defaultHeight, defaultWidth
	}
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil || height < 8 {
		height = defaultHeight
	}
	return true, height, width
}

// lockedDisplay keeps the display and messages from writing into each other.
type lockedDisplay struct {
	mu    *sync.Mutex
	inner display
}

func (d *lockedDisplay) add(sink *catalog.Source) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inner.add(sink)
}

func (d *lockedDisplay) show(sink *catalog.Source, run *kafkaio.Records, recorder *replay.Recorder) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inner.show(sink, run, recorder)
}

func (d *lockedDisplay) refresh() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inner.refresh()
}

func (d *lockedDisplay) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inner.close()
}

// discard shows nothing.
type discard struct{}

func (discard) add(*catalog.Source)                                            {}
func (discard) show(*catalog.Source, *kafkaio.Records, *replay.Recorder) error { return nil }
func (discard) refresh() error                                                 { return nil }
func (discard) close() error                                                   { return nil }

// message writes a line to the error stream, above the view.
func (s *screen) message(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintf(s.err, format+"\n", args...)
}

// clear takes what is drawn over itself off the screen.
func (s *screen) clear() {
	if s.view != nil {
		s.view.erase()
	}
	if s.pending {
		fmt.Fprint(s.err, "\r\x1b[K")
		s.pending = false
	}
}

// alert tells of trouble.
func (s *screen) alert(format string, args ...any) { s.message(format, args...) }

// note tells what goes on.
func (s *screen) note(format string, args ...any) {
	if !s.quiet {
		s.message(format, args...)
	}
}

// Write takes whole lines of a log.
func (s *screen) Write(line []byte) (int, error) {
	s.message("%s", strings.TrimRight(string(line), "\n"))
	return len(line), nil
}

// statement tells what a statement did. What it shows goes to the output.
func (s *screen) statement(file string, line int, result *session.Result) {
	if result.Message != "" {
		s.note("%s:%d: %s", file, line, result.Message)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastProgress = time.Now() // a short statement shows none
	if result.Text == "" && len(result.Tables) == 0 {
		return
	}
	s.clear()
	if result.Text != "" {
		fmt.Fprintln(s.out, strings.TrimRight(result.Text, "\n"))
	}
	for i := range result.Tables {
		if s.aligned {
			writeTable(s.out, &result.Tables[i])
		} else {
			writeJSONRows(s.out, &result.Tables[i])
		}
	}
}

// progress tells how far a long statement has come.
func (s *screen) progress(statement string, records int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet || time.Since(s.lastProgress) < progressInterval {
		return
	}
	s.lastProgress = time.Now()
	s.clear()
	if s.rewrite {
		fmt.Fprintf(s.err, "%s: %s", statement, counted(records, "row"))
		s.pending = true
		return
	}
	fmt.Fprintf(s.err, "%s: %s\n", statement, counted(records, "row"))
}

func (s *screen) failure(file string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	writeFailure(s.err, file, err)
}

// finish leaves the last view where it is.
func (s *screen) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view != nil {
		s.view.drawn = 0
	}
}
