package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"millrace/exec"
	"millrace/exec/replay"
	"millrace/exec/session"
	"millrace/planner/catalog"
	"millrace/sql/token"
	"millrace/state/badger"
)

// runCommand is millrace run.
type runCommand struct {
	File string `arg:"" help:"File with the statements."`
	brokerFlags
	UntilEnd bool              `help:"End when the queries have read their inputs up to where these end now."`
	Set      map[string]string `help:"Session property, as 'key=value'; may be given several times." mapsep:"none" placeholder:"KEY=VALUE"`
	Service  string            `default:"default" help:"Name that internal topics, groups and transactions carry. One process may run a service at a time."`
	Output   string            `enum:"auto,table,json" default:"auto" help:"How results are shown: table or json (a line a record). Default: table on a terminal, else json."`
	Quiet    bool              `short:"q" help:"Show neither results nor progress, only errors and the summary."`
}

// closeTimeout bounds what is left to do after the end or an interrupt.
const closeTimeout = 30 * time.Second

var serviceName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// Run implements the command.
func (c *runCommand) Run(ctx context.Context, std streams) error {
	if err := c.check(); err != nil {
		return err
	}
	crash, err := crashHook()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return readError(err, c.File)
	}
	screen := newScreen(std, c.Output, c.Quiet)
	job := &runJob{command: c, screen: screen, monitor: newMonitor(screen.alert)}
	cluster, err := c.open(ctx, c.Set, slog.New(slog.NewTextHandler(screen, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		return err
	}
	err = job.run(ctx, cluster, string(text), exec.Options{
		Service: c.Service, Workers: exec.PerCore, HoldBack: true, Events: job.monitor.events(), Crash: crash,
	})
	return errors.Join(err, cluster.close())
}

// readError names the file once, in the words of the other errors.
func readError(err error, file string) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("file %s does not exist", file)
	}
	return err
}

func (c *runCommand) check() error {
	if err := c.brokerFlags.check(); err != nil {
		return err
	}
	if !serviceName.MatchString(c.Service) {
		return usageErrorf("--service must consist of letters, digits, '.', '_' and '-', not be '%s'", c.Service)
	}
	for name, value := range c.Set {
		if _, err := session.CheckPropertyName(name); err != nil {
			return &usageError{fmt.Errorf("--set: %w", err)}
		}
		if err := checkProperty(name, value); err != nil {
			return &usageError{fmt.Errorf("--set: %w", err)}
		}
	}
	return nil
}

// runJob is one run under way.
type runJob struct {
	command *runCommand
	screen  *screen
	monitor *monitor
	session *session.Session
	host    *host
	reader  *sinkReader
	loaded  bool // a statement has written rows
	shown   bool // a statement has shown something
	queries int
}

func (j *runJob) run(ctx context.Context, c *cluster, text string, options exec.Options) error {
	if err := j.openState(&options); err != nil {
		return err
	}
	options.Registry = c.registry
	j.host = &host{
		log: c.log, options: options, monitor: j.monitor, begins: make(map[string]map[int32]int64),
		properties: func() map[string]string { return j.session.Catalog().Properties },
	}
	j.session = session.New(session.Options{
		Log: c.log, Registry: c.registry, Engine: j.host, Service: j.command.Service, Now: func() int64 { return time.Now().UnixMilli() },
		Directory: filepath.Dir(j.command.File), CheckProperty: checkProperty, Progress: j.screen.progress,
		QueryStatus: j.host.queryStatus,
	})
	for name, value := range j.command.Set {
		j.session.SetProperty(name, value)
	}
	if c.broker != nil {
		j.screen.note("The embedded broker listens on %s.", c.broker.Addresses()[0])
	}
	// The reader outlives an interrupt: it shows what is committed then.
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	j.reader = newSinkReader(c.log, replay.NewRecorder(c.registry), j.screen.display)
	go j.reader.run(background)
	err := j.execute(ctx, text)
	if err == nil {
		err = j.follow(ctx)
	}
	return j.end(ctx, err)
}

// openState puts the local state below the data folder.
func (j *runJob) openState(options *exec.Options) error {
	if j.command.Data == "" {
		return nil
	}
	options.StateDirectory = filepath.Join(j.command.Data, "state")
	options.OpenBackend = badger.Opener(badger.MemTableBytes(stateTasks))
	if err := os.MkdirAll(options.StateDirectory, 0o755); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	return nil
}

// stateTasks is the number of tasks with state that memory is set aside for.
const stateTasks = 16

// execute executes the script. Errors have been told of.
func (j *runJob) execute(ctx context.Context, text string) error {
	var fault error
	err := j.session.Script(ctx, text, func(piece token.Piece, result *session.Result) {
		j.screen.statement(j.command.File, piece.Position.Line, result)
		j.shown = j.shown || result.Text != "" || len(result.Tables) > 0
		if result.Query == nil {
			j.loaded = j.loaded || piece.Tokens[0].Is("LOAD") || piece.Tokens[0].Is("INSERT")
			return
		}
		j.queries++
		if err := j.watch(ctx, result); err != nil && fault == nil {
			fault = err
		}
	})
	if err != nil {
		j.screen.failure(j.command.File, err)
		return errReported
	}
	return fault
}

// watch lets the reader show the sink of a query.
func (j *runJob) watch(ctx context.Context, result *session.Result) error {
	running, ok := j.session.Catalog().Query(result.Query.ID)
	if !ok {
		return nil
	}
	sink, ok := j.session.Catalog().Source(running.Sink)
	if !ok {
		return nil
	}
	return j.reader.add(ctx, sink, j.host.begin(sink.Topic))
}

// follow lets the queries run to the end of their input, or until they are
// interrupted.
func (j *runJob) follow(ctx context.Context) error {
	if !j.writing() {
		if j.queries == 0 && !j.shown {
			j.screen.note("The script starts no query.")
		}
		return j.drain(ctx)
	}
	if j.command.UntilEnd || j.command.embedded() && j.loaded {
		return j.drain(ctx)
	}
	j.screen.note("Running until interrupted (Ctrl-C).")
	select {
	case <-ctx.Done():
	case <-j.monitor.failed:
	case <-j.reader.done:
	}
	return nil
}

// writing tells whether there is a query left that writes something.
func (j *runJob) writing() bool {
	return slices.ContainsFunc(j.session.Catalog().Queries(), func(q *catalog.Query) bool { return q.Sink != "" })
}

// drain lets the queries read their input to its end.
func (j *runJob) drain(ctx context.Context) error {
	if j.host.engine == nil {
		return nil
	}
	err := j.host.engine.RunUntilEnd(ctx)
	if ctx.Err() != nil {
		return errors.New("interrupted before the end of the input; what was committed stays")
	}
	return err
}

// end commits, shows what is left and sums up.
func (j *runJob) end(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	closed := errors.Join(j.host.close(ctx), j.session.Close())
	read := j.reader.finish(ctx)
	j.screen.finish()
	j.monitor.summarize(j.screen.err, j.host.status)
	if err := errors.Join(cause, closed, read); err != nil {
		return err
	}
	if j.monitor.anyFailed() {
		return errReported
	}
	return nil
}
