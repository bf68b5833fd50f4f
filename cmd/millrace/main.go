// Command millrace runs ksqlDB's SQL, and more, over Kafka.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// commands are the subcommands, one file each.
type commands struct {
	Run runCommand `cmd:"" help:"Execute the statements of a file and run its queries, over a Kafka cluster or an embedded broker."`

	Check  checkCommand  `cmd:"" help:"Plan the statements of files without a broker, and tell all errors in them."`
	Test   testCommand   `cmd:"" help:"Compare what queries make of recorded inputs with what was expected."`
	Replay replayCommand `cmd:"" help:"Feed recorded inputs to statements in memory, one record at a time, and print what they write."`
}

// The exit statuses.
const (
	exitSuccess = 0
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default is back, so that a second one kills.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], streams{out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// streams are where a command writes.
type streams struct {
	out, err io.Writer
}

// usageError is bad use of a command: a flag, or a combination of flags, that
// cannot work.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

func usageErrorf(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// errReported ends a command that has told already what went wrong.
var errReported = errors.New("reported")

// run executes a command line and gives the exit status.
func run(ctx context.Context, args []string, std streams) int {
	var cli commands
	helped := false
	parser, err := kong.New(&cli, kong.Name("millrace"), kong.Description("Streaming SQL over Kafka."),
		kong.Writers(std.out, std.err), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(std),
		kong.Exit(func(int) { helped = true }))
	if err != nil {
		fmt.Fprintf(std.err, "error: %v\n", err)
		return exitUsage
	}
	call, err := parser.Parse(args)
	switch {
	case helped:
		return exitSuccess
	case err != nil:
		fmt.Fprintf(std.err, "error: %v\n", err)
		return exitUsage
	}
	err = call.Run()
	var usage *usageError
	switch {
	case err == nil:
		return exitSuccess
	case errors.As(err, &usage):
		fmt.Fprintf(std.err, "error: %v\n", err)
		return exitUsage
	case !errors.Is(err, errReported):
		fmt.Fprintf(std.err, "error: %v\n", err)
	}
	return exitFailure
}
