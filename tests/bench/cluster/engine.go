package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"millrace/exec"
	"millrace/exec/session"
	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/state/badger"
	"millrace/tests/bench"
)

// warmUp is how many records pass before the steady part begins; a run of less
// than twice as many has no steady part of its own.
const warmUp = 1_000_000

// Setup is how a run's engine is set up.
type Setup struct {
	Work           string
	Run            string // tells the topics and groups of runs apart
	Records        int    // of the orders' topic
	Brokers        []string
	Workers        int
	CommitInterval time.Duration
	Compression    kafkaio.Compression
	StateDirectory string
}

// Result is what a run took.
type Result struct {
	In, Out    int64 // records
	Wall, CPU  time.Duration
	PeakMemory int64 // bytes
	Commits    int64 // of tasks
	// Steady* are of the part after the warm-up, or of all.
	SteadyIn   int64
	SteadyWall time.Duration
	SteadyCPU  time.Duration
	Failure    string // of the query
}

// meter counts what is committed.
type meter struct {
	mu      sync.Mutex
	in, out int64
	commits int64
	warmIn  int64
	warm    bench.Usage
	failure error
}

func (m *meter) committed(c exec.Committed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in += c.In
	m.out += c.Out
	m.commits++
	if m.warmIn == 0 && m.in >= warmUp {
		m.warmIn, m.warm = m.in, bench.Now()
	}
}

func (m *meter) failed(f exec.QueryFailed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = errors.Join(m.failure, f.Cause)
}

func (m *meter) skipped(r task.RecordSkipped) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = errors.Join(m.failure, fmt.Errorf("a record was skipped: %v", r))
}

// Run runs a work's query over all that its topics hold, exactly once.
func Run(ctx context.Context, log kafkaio.Log, setup Setup) (Result, error) {
	work, ok := Find(setup.Work)
	if !ok {
		return Result{}, fmt.Errorf("there is no work %s", setup.Work)
	}
	m := &meter{}
	options := exec.Options{
		Service: "bench_" + setup.Run, Workers: setup.Workers, CommitInterval: setup.CommitInterval, Compression: setup.Compression,
		HoldBack: work.HoldBack, StateDirectory: setup.StateDirectory,
		Events: exec.Events{Committed: m.committed, QueryFailed: m.failed, RecordSkipped: m.skipped},
	}
	if setup.StateDirectory != "" {
		options.OpenBackend = badger.Opener(badger.MemTableBytes(Partitions))
	}
	begin := bench.Now()
	engine := exec.New(log, options)
	s := session.New(session.Options{Log: log, Engine: engine, Service: options.Service, Now: func() int64 { return time.Now().UnixMilli() }})
	err := s.Script(ctx, work.script(setup.Run, setup.Records), nil)
	if err == nil {
		err = engine.RunUntilEnd(ctx)
	}
	end := bench.Now()
	err = errors.Join(err, engine.Close(ctx), s.Close())
	return m.result(begin, end), err
}

func (m *meter) result(begin, end bench.Usage) Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := Result{
		In: m.in, Out: m.out, Commits: m.commits, Wall: end.Wall.Sub(begin.Wall), CPU: end.CPU - begin.CPU, PeakMemory: bench.PeakMemory(),
	}
	if m.failure != nil {
		r.Failure = m.failure.Error()
	}
	r.SteadyIn, r.SteadyWall, r.SteadyCPU = r.In, r.Wall, r.CPU
	if m.in >= 2*warmUp {
		r.SteadyIn, r.SteadyWall, r.SteadyCPU = m.in-m.warmIn, end.Wall.Sub(m.warm.Wall), end.CPU-m.warm.CPU
	}
	return r
}
