// Cluster measures queries through a broker: Apache Kafka, or the embedded one.
// Run it in the module's folder. The engine is a process of its own, whose CPU
// time is measured; with the embedded broker that is part of it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"millrace/kafkaio"
	"millrace/kafkaio/client"
	"millrace/kafkaio/embedded"
	"millrace/tests/bench"
	"millrace/tests/bench/cluster"
)

type options struct {
	records  int
	works    string
	brokers  string
	embedded bool
	repeat   int
	check    bool
	profile  string
	engine   string // JSON of a Setup: this process is the engine
	setup    cluster.Setup
	codec    int
	state    bool
}

func main() {
	var o options
	flag.IntVar(&o.records, "records", 5_000_000, "orders in each topic")
	flag.StringVar(&o.works, "works", "", "names of works, separated by commas; empty: all")
	flag.StringVar(&o.brokers, "brokers", "", "a running cluster; empty: one is started with tests/kafka/start.sh")
	flag.BoolVar(&o.embedded, "embedded", false, "the broker inside the engine's process")
	flag.IntVar(&o.repeat, "repeat", 1, "runs of each work")
	flag.BoolVar(&o.check, "check", true, "read the output and check it")
	flag.StringVar(&o.profile, "cpuprofile", "", "write the engine's profile to this file")
	flag.StringVar(&o.engine, "engine", "", "for the command's own use")
	flag.IntVar(&o.setup.Workers, "workers", -1, "workers of the engine; -1: one a core")
	flag.DurationVar(&o.setup.CommitInterval, "commit", 0, "commit interval; 0: the engine's default")
	flag.IntVar(&o.codec, "compression", 0, "codec of the output: 0 none, 2 snappy, 3 lz4")
	flag.BoolVar(&o.state, "state", true, "with a state directory")
	flag.Parse()
	if err := run(context.Background(), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) error {
	if o.engine != "" {
		return runEngine(ctx, o)
	}
	o.setup.Compression = kafkaio.Compression(o.codec)
	works := cluster.Works()
	if o.works != "" {
		works = nil
		for _, name := range strings.Split(o.works, ",") {
			w, ok := cluster.Find(name)
			if !ok {
				return fmt.Errorf("there is no work %s", name)
			}
			works = append(works, w)
		}
	}
	if o.embedded {
		return measureEmbedded(ctx, o, works)
	}
	addresses, stop, err := o.kafka()
	if err != nil {
		return err
	}
	defer stop()
	log, err := client.Open(ctx, client.Options{Brokers: addresses})
	if err != nil {
		return err
	}
	defer log.Close()
	o.setup.Brokers = addresses
	return measure(ctx, o, log, works, func(setup cluster.Setup) (cluster.Result, error) { return child(o, setup) })
}

// kafka gives the cluster to use, started with Java's own options, which are
// right for throughput.
func (o *options) kafka() (addresses []string, stop func(), err error) {
	if o.brokers != "" {
		return strings.Split(o.brokers, ","), func() {}, nil
	}
	start := exec.Command("tests/kafka/start.sh")
	start.Env = append(os.Environ(), "KAFKA_JVM_OPTIONS=-Xmx1g")
	start.Stderr = os.Stderr
	out, err := start.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("tests/kafka/start.sh: %w", err)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 2 {
		return nil, nil, fmt.Errorf("tests/kafka/start.sh printed %q", out)
	}
	return fields[:1], func() {
		_ = exec.Command("tests/kafka/stop.sh", fields[1]).Run()
		_ = os.RemoveAll(fields[1])
	}, nil
}

// child runs the engine in a process of its own.
func child(o *options, setup cluster.Setup) (cluster.Result, error) {
	var result cluster.Result
	encoded, err := json.Marshal(setup)
	if err != nil {
		return result, err
	}
	self, err := os.Executable()
	if err != nil {
		return result, err
	}
	command := exec.Command(self, "-engine", string(encoded), "-cpuprofile", o.profile)
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return result, fmt.Errorf("engine: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return result, json.Unmarshal(out, &result)
}

func runEngine(ctx context.Context, o *options) error {
	var setup cluster.Setup
	if err := json.Unmarshal([]byte(o.engine), &setup); err != nil {
		return err
	}
	log, err := client.Open(ctx, client.Options{Brokers: setup.Brokers})
	if err != nil {
		return err
	}
	defer log.Close()
	result, err := profiled(ctx, o.profile, log, setup)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func profiled(ctx context.Context, path string, log kafkaio.Log, setup cluster.Setup) (cluster.Result, error) {
	if path == "" {
		return cluster.Run(ctx, log, setup)
	}
	file, err := os.Create(path)
	if err != nil {
		return cluster.Result{}, err
	}
	defer file.Close()
	if err := pprof.StartCPUProfile(file); err != nil {
		return cluster.Result{}, err
	}
	defer pprof.StopCPUProfile()
	return cluster.Run(ctx, log, setup)
}

// measureEmbedded runs everything in this process.
func measureEmbedded(ctx context.Context, o *options, works []cluster.Work) error {
	broker, err := embedded.Start(ctx, embedded.Options{})
	if err != nil {
		return err
	}
	log, err := client.Open(ctx, client.Options{Brokers: broker.Addresses()})
	if err != nil {
		return errors.Join(err, broker.Close())
	}
	err = measure(ctx, o, log, works, func(setup cluster.Setup) (cluster.Result, error) {
		return profiled(ctx, o.profile, log, setup)
	})
	return errors.Join(err, log.Close(), broker.Close())
}

func measure(
	ctx context.Context, o *options, log kafkaio.Log, works []cluster.Work, engine func(cluster.Setup) (cluster.Result, error),
) error {
	before := bench.Now()
	loaded, took, err := cluster.Load(ctx, log, o.records, works)
	if err != nil {
		return err
	}
	if loaded > 0 {
		used := bench.CPUTime() - before.CPU
		fmt.Printf("loaded %d records: %.0f k/s, %d CPU ns a record here\n", loaded, float64(loaded)/took.Seconds()/1000, int64(used)/int64(loaded))
	}
	fmt.Printf("%-16s %10s %9s %9s %8s %9s %7s %8s %8s %8s  %s\n", "work", "rec/CPU s", "CPU ns", "rec/s", "wall s", "out", "commits",
		"peak MB", "KStreams", "Flink", "target")
	for _, w := range works {
		for range o.repeat {
			if err := one(ctx, o, log, w, engine); err != nil {
				return err
			}
		}
	}
	return nil
}

func one(
	ctx context.Context, o *options, log kafkaio.Log, w cluster.Work, engine func(cluster.Setup) (cluster.Result, error),
) error {
	setup := o.setup
	setup.Records, setup.Work, setup.Run = o.records, w.Name, strconv.FormatInt(time.Now().UnixNano(), 36)
	if o.state {
		directory, err := os.MkdirTemp("", "millrace-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(directory)
		setup.StateDirectory = directory
	}
	r, err := engine(setup)
	if err != nil {
		fmt.Printf("%-16s not run: %v\n", w.Name, err)
		return nil
	}
	if r.Failure != "" {
		return fmt.Errorf("%s: %s", w.Name, r.Failure)
	}
	report(w, r)
	if !o.check {
		return nil
	}
	return cluster.Check(ctx, log, w, setup.Run, o.records)
}

func report(w cluster.Work, r cluster.Result) {
	rate := float64(r.SteadyIn) / r.SteadyCPU.Seconds()
	verdict := fmt.Sprintf("%.0f k", w.Target/1000)
	if rate >= w.Target {
		verdict += ", met"
	}
	fmt.Printf("%-16s %8.0f k %9.0f %7.0f k %8.2f %9d %7d %8d %6.0f k %6.0f k  %s\n", w.Name, rate/1000, 1e9/rate,
		float64(r.SteadyIn)/r.SteadyWall.Seconds()/1000, r.Wall.Seconds(), r.Out, r.Commits, r.PeakMemory>>20, w.Peers[0]/1000, w.Peers[1]/1000, verdict)
}
