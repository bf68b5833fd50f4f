// Package embedded runs a Kafka broker inside the process: one node on
// loopback, for first use, development, tests, demos and small single-node
// set-ups. It is franz-go's kfake with guards around what kfake gets wrong when
// a process dies, and any Kafka client can talk to it.
//
// What holds:
//
//   - Acknowledged records, topics, their configuration and committed offsets
//     survive a killed process. With Options.SyncWrites they survive a power
//     cut as well, as far as the file system keeps what it has synced.
//   - A transaction is all or nothing over a kill, group offsets included: the
//     decision to commit is on disk before the first marker is written, and
//     Start finishes or aborts what was open. A transaction that is open when
//     the broker stops, also cleanly, is aborted and its producer fenced.
//   - The data folder belongs to one broker at a time.
//
// What it is not, and what to plan for:
//
//   - No replication, one core, loopback only: not a system of record.
//   - Start reads the whole log, after an unclean stop twice, and then holds
//     each partition's batches in memory for a moment: keep the log well below
//     a quarter of the memory. A GB takes one to a few seconds.
//   - An index of about 150 bytes a batch stays in memory: prefer batches over
//     10 kB. A message of more than 1 MiB is refused unless its topic's
//     max.message.bytes allows it.
//   - cleanup.policy=compact is accepted, but nothing is compacted, and such a
//     topic is kept whole. Other topics are kept whole too unless they have a
//     retention.ms of their own and Options.RetentionInterval is set; a
//     partition always keeps its last batch. Disk space returns by segments.
//   - Offsets of groups do not expire.
//   - kfake rates transactions by epoch only: no leader epochs, quotas, or
//     delegation tokens.
package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrInUse: another broker, of this process or another, has the data folder.
var ErrInUse = errors.New("is in use by another process")

// The files of a data folder.
const (
	lockName    = "lock"
	portName    = "port"
	cleanName   = "clean"    // there while the folder is as a clean stop left it
	journalName = "decision" // see journal
	logName     = "log"      // kfake's folder

	sessionName         = "session_state.json" // in kfake's folder
	openTransactionsKey = "inProgressTxns"
)

// The settings of kfake. What they turn off loses data: its cleaner deletes
// segments before it rewrites them, and is blind to open transactions.
var brokerConfigs = map[string]string{
	"log.cleaner.backoff.ms":     strconv.FormatInt((10 * 365 * 24 * time.Hour).Milliseconds(), 10),
	"log.retention.ms":           "-1",
	"offsets.retention.minutes":  strconv.Itoa(math.MaxInt32),
	"log.segment.bytes":          strconv.Itoa(16 << 20), // what a purged partition keeps at most
	"default.replication.factor": "1",
}

const probeTimeout = 5 * time.Second

// Broker is a running broker. Its methods are safe for concurrent use.
type Broker struct {
	dir       string
	temporary bool
	log       *slog.Logger
	addresses []string

	lock    *os.File
	cluster *kfake.Cluster
	control *control
	journal *journal
	stop    context.CancelFunc // of the background work
	work    sync.WaitGroup

	closeOnce sync.Once
	closeErr  error
}

// Start opens the data folder, repairs it if its last broker did not stop
// cleanly, and serves it. ctx bounds the start, not the broker's life.
func Start(ctx context.Context, options Options) (_ *Broker, err error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	b := &Broker{log: options.Logger}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("embedded broker: %w", err), b.release())
		}
	}()
	if err := b.openFolder(options.Dir); err != nil {
		return nil, err
	}
	listener, err := listen(ctx, b.dir, options.Port)
	if err != nil {
		return nil, err
	}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if err := b.serve(listener, options); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return b, nil
}

// Addresses are the host:port pairs that clients bootstrap from.
func (b *Broker) Addresses() []string { return append([]string(nil), b.addresses...) }

// Dir is the data folder.
func (b *Broker) Dir() string { return b.dir }

// Close stops the broker and saves its state. Clients lose their connections.
func (b *Broker) Close() error {
	b.closeOnce.Do(func() { b.closeErr = b.close() })
	return b.closeErr
}

func (b *Broker) openFolder(dir string) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "millrace-broker-"); err != nil {
			return fmt.Errorf("make a temporary data folder: %w", err)
		}
		b.temporary = true
	}
	if b.dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("data folder %s: %w", dir, err)
	}
	if err := os.MkdirAll(b.logDir(), 0o755); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	b.lock, err = lockFolder(b.dir)
	return err
}

func (b *Broker) logDir() string          { return filepath.Join(b.dir, logName) }
func (b *Broker) path(name string) string { return filepath.Join(b.dir, name) }

// prepare makes the folder fit for kfake and marks it as in use.
func (b *Broker) prepare(ctx context.Context) error {
	clean, err := b.stoppedCleanly()
	if err != nil {
		return err
	}
	if !clean {
		d, err := readJournal(b.path(journalName))
		if err != nil {
			return err
		}
		report, err := repair(ctx, b.logDir(), d, time.Now())
		if err != nil {
			return err
		}
		if report != (repairReport{}) {
			b.log.Warn("embedded broker: repaired the log after an unclean stop",
				"committed", report.committed, "aborted", report.aborted,
				"torn_segments", report.torn, "orphans", report.orphans)
		}
	}
	if err := os.Remove(b.path(cleanName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mark the data folder as in use: %w", err)
	}
	return ctx.Err()
}

// stoppedCleanly tells whether the folder is new or its last broker left
// nothing open. kfake would go on with transactions that were open at a clean
// stop; the journal does not know them any more, so repair ends them.
func (b *Broker) stoppedCleanly() (bool, error) {
	if _, err := os.Stat(b.path(cleanName)); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("look for the mark of a clean stop: %w", err)
		}
		_, err := os.Stat(filepath.Join(b.logDir(), "meta.json"))
		return errors.Is(err, fs.ErrNotExist), nil
	}
	var session map[string]json.RawMessage
	if _, err := readJSON(filepath.Join(b.logDir(), sessionName), &session); err != nil {
		return false, nil //nolint:nilerr // kfake ignores it too; its transactions are then to be ended
	}
	return session[openTransactionsKey] == nil, nil
}

func (b *Broker) serve(listener *gate, options Options) (err error) {
	if b.journal, err = openJournal(b.path(journalName), options.SyncWrites, b.topicName); err != nil {
		return err
	}
	settings := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return listener, nil }),
		kfake.DataDir(b.logDir()),
		kfake.BrokerConfigs(brokerConfigs),
		kfake.DefaultNumPartitions(1),
		kfake.WithLogger(logger{b.log}),
	}
	if options.SyncWrites {
		settings = append(settings, kfake.SyncWrites())
	}
	if b.cluster, err = kfake.NewCluster(settings...); err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	b.addresses = []string{listener.Addr().String()}
	b.control = &control{cluster: b.cluster, journal: b.journal, failed: func(err error) {
		b.log.Error("embedded broker: a request was refused", "error", err)
	}}
	b.control.attach()
	listener.open()

	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	if options.RetentionInterval > 0 {
		b.work.Go(func() { b.applyRetention(ctx, options.RetentionInterval) })
	}
	return nil
}

func (b *Broker) topicName(id [16]byte) string {
	if info := b.cluster.TopicIDInfo(id); info != nil {
		return info.Topic
	}
	return ""
}

func (b *Broker) close() error {
	b.stop()
	b.work.Wait()
	b.control.stopping.Store(true)
	// The answer to a request that came after the flag was set: by then kfake
	// is through with every request from before.
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	probe := kmsg.NewPtrApiVersionsRequest()
	if _, err := exchange(ctx, b.addresses[0], probe); err != nil {
		b.log.Warn("embedded broker: no answer before the stop", "error", err)
	}
	b.cluster.Close()
	if err := os.WriteFile(b.path(cleanName), nil, 0o644); err != nil {
		return errors.Join(fmt.Errorf("mark the data folder as clean: %w", err), b.release())
	}
	return b.release()
}

// release gives back what Start took, as far as it came.
func (b *Broker) release() error {
	var faults []error
	if b.journal != nil {
		faults = append(faults, b.journal.close())
	}
	if b.temporary && b.dir != "" {
		faults = append(faults, os.RemoveAll(b.dir))
	}
	if b.lock != nil {
		faults = append(faults, b.lock.Close())
	}
	return errors.Join(faults...)
}
