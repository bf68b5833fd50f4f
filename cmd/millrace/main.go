// Command millrace runs ksqlDB's SQL, and more, over Kafka.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// commands are the subcommands, one file each.
type commands struct {
	Replay replayCommand `cmd:"" help:"Feed recorded inputs to statements in memory, one record at a time, and print what they write."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// streams are where a command reads and writes.
type streams struct {
	in, out, err *os.File
}

// run executes a command line. It gives the exit status: 0 for success, 1 for
// a command that failed, 2 for bad use.
func run(ctx context.Context, args []string, std streams) int {
	var cli commands
	parser, err := kong.New(&cli, kong.Name("millrace"), kong.Description("Streaming SQL over Kafka."),
		kong.Writers(std.out, std.err), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(std))
	if err != nil {
		fmt.Fprintf(std.err, "error: %v\n", err)
		return 2
	}
	call, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(std.err, "error: %v\n", err)
		return 2
	}
	if err := call.Run(); err != nil {
		fmt.Fprintf(std.err, "error: %v\n", err)
		return 1
	}
	return 0
}
