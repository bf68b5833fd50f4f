package exec

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"millrace/exec/task"
	"millrace/kafkaio"
	"millrace/kafkaio/registry"
	"millrace/state"
)

// PerCore, as a number of workers, is one a core.
const PerCore = -1

// Options set up an Engine. The zero value runs in memory and in the caller's
// goroutine.
type Options struct {
	// Service is part of the names of transactional ids. Two engines of one
	// service on one cluster take the work from each other.
	Service string
	// StateDirectory holds the local copies of state; empty: memory only, all
	// state is restored from its changelogs at a start.
	StateDirectory string
	// OpenBackend opens the byte store in a directory; required with StateDirectory.
	OpenBackend func(directory string) (state.Backend, error)
	// Workers is how many goroutines process records, PerCore for one a core.
	// With 0 nothing runs by itself: RunUntilIdle does the work.
	Workers int
	// CommitInterval is how long output waits for its commit; 0: 200 ms.
	CommitInterval time.Duration
	// CheckpointInterval is the length of a round of local checkpoints; 0: 30 s,
	// negative: a new one begins when the last has ended.
	CheckpointInterval time.Duration
	// HoldBack makes aggregations put out a changed group once per commit
	// instead of once per row.
	HoldBack bool
	// MaxTaskIdle is how long a task with several inputs waits for one that has
	// reached its end (max.task.idle.ms).
	MaxTaskIdle time.Duration
	Compression kafkaio.Compression
	// Registry has the schemas of formats that need one; nil: no query uses such a format.
	Registry registry.Registry
	// MemoryBudget bounds the memory of all state, in bytes; 0: no limit.
	MemoryBudget int64
	// BatchRows is the most rows in a batch; 0: column.MaxRows. Results do not
	// depend on it.
	BatchRows int
	// AutoOffsetReset is where a query starts to read topics that it has no
	// position in: earliest (also when empty) or latest.
	AutoOffsetReset string
	Events          Events
	// Crash is called at the crash points of a commit; nil in production.
	Crash func(task.CrashPoint)
	// Now is the clock for intervals and for functions that ask the time; nil:
	// time.Now.
	Now func() time.Time
}

const (
	defaultCommitInterval     = 200 * time.Millisecond
	defaultCheckpointInterval = 30 * time.Second
	// commitBytes is how much a transaction may hold before it is committed early.
	commitBytes = 32 << 20
)

// complete fills in defaults.
func (o *Options) complete() {
	if o.Workers < 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.CommitInterval <= 0 {
		o.CommitInterval = defaultCommitInterval
	}
	switch {
	case o.CheckpointInterval == 0:
		o.CheckpointInterval = defaultCheckpointInterval
	case o.CheckpointInterval < 0:
		o.CheckpointInterval = 0
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Validate reports all faults of the options at once.
func (o *Options) Validate() error {
	var faults []error
	switch o.AutoOffsetReset {
	case "", "earliest", "latest":
	default:
		faults = append(faults, fmt.Errorf("auto.offset.reset is %q, but must be earliest or latest", o.AutoOffsetReset))
	}
	if o.StateDirectory != "" && o.OpenBackend == nil {
		faults = append(faults, errors.New("a state directory needs a store to open in it"))
	}
	if o.MemoryBudget < 0 {
		faults = append(faults, fmt.Errorf("the memory budget is %d bytes, but must not be negative", o.MemoryBudget))
	}
	return errors.Join(faults...)
}
