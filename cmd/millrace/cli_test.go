package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/kafkaio/embedded"
)

var update = flag.Bool("update", false, "write the expected outputs in the scripts anew")

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"millrace": main}) }

// TestCommandLine runs the scripts of tests/cli. Beside testscript's own
// commands they have those of scriptCommands.
func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "tests", "cli"),
		Cmds:                scriptCommands,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

var scriptCommands = map[string]func(ts *testscript.TestScript, negated bool, args []string){
	"status":   statusCommand,
	"messages": messagesCommand,
	"broker":   brokerCommand,
	"topic":    topicCommand,
	"produce":  produceCommand,
	"repeat":   repeatCommand,
}

func arguments(ts *testscript.TestScript, negated bool, args []string, least int, usage string) {
	if negated || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

// statusCommand runs a command, which must end with a given exit status.
func statusCommand(ts *testscript.TestScript, negated bool, args []string) {
	arguments(ts, negated, args, 2, "status CODE command args..")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failure.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, not %d", got, want)
	}
}

// What differs from run to run in messages.
var varying = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), "BROKER"},
	{regexp.MustCompile(`; [0-9.]+ s, [0-9]+ records/s`), ""},
	{regexp.MustCompile(` for [0-9.]+m?s;`), " for TIME;"},
}

// messagesCommand writes what the last command put on its error stream to a
// file, without what differs from run to run.
func messagesCommand(ts *testscript.TestScript, negated bool, args []string) {
	arguments(ts, negated, args, 1, "messages FILE")
	text := strings.ReplaceAll(ts.ReadFile("stderr"), ts.Getenv("WORK"), "WORK")
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.replacement)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// brokerCommand starts a broker for the script and sets $BROKER.
func brokerCommand(ts *testscript.TestScript, negated bool, args []string) {
	arguments(ts, negated, args, 0, "broker")
	broker, err := embedded.Start(context.Background(), embedded.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(broker.Close()) })
	ts.Setenv("BROKER", broker.Addresses()[0])
}

func withLog(ts *testscript.TestScript, do func(ctx context.Context, log kafkaio.Log) error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	log, err := client.Open(ctx, client.Options{Brokers: []string{ts.Getenv("BROKER")}})
	ts.Check(err)
	ts.Check(errors.Join(do(ctx, log), log.Close()))
}

// topicCommand makes a topic.
func topicCommand(ts *testscript.TestScript, negated bool, args []string) {
	arguments(ts, negated, args, 2, "topic NAME PARTITIONS [config=value..]")
	partitions, err := strconv.Atoi(args[1])
	ts.Check(err)
	spec := kafkaio.TopicSpec{Name: args[0], Partitions: partitions, Config: map[string]string{}}
	for _, pair := range args[2:] {
		name, value, _ := strings.Cut(pair, "=")
		spec.Config[name] = value
	}
	withLog(ts, func(ctx context.Context, log kafkaio.Log) error { return log.CreateTopic(ctx, spec) })
}

// produceCommand writes a record. A file or key called null is one.
func produceCommand(ts *testscript.TestScript, negated bool, args []string) {
	arguments(ts, negated, args, 4, "produce TOPIC TIMESTAMP KEY FILE")
	timestamp, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	var key, value []byte
	if args[2] != "null" {
		key = []byte(args[2])
	}
	if args[3] != "null" {
		value = []byte(strings.TrimSuffix(ts.ReadFile(args[3]), "\n"))
	}
	withLog(ts, func(ctx context.Context, log kafkaio.Log) error {
		producer := log.NewProducer(kafkaio.ProducerOptions{TransactionalID: "script"})
		to := kafkaio.TopicPartition{Topic: args[0]}
		return errors.Join(producer.Init(ctx), producer.Append(ctx, to, timestamp, key, value, nil), producer.Commit(ctx), producer.Close())
	})
}

// repeatCommand writes a file with a text many times between two others.
func repeatCommand(ts *testscript.TestScript, negated bool, args []string) {
	arguments(ts, negated, args, 5, "repeat FILE COUNT BEFORE TEXT AFTER")
	count, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := fmt.Sprint(args[2], strings.Repeat(args[3], count), args[4], "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}
