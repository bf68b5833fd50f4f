package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// repairReport counts what a repair did.
type repairReport struct {
	committed, aborted int // transactions' ends written, one for each partition
	torn               int // segments with an unreadable tail
	orphans            int // folders of partitions that no topic has
}

// The parts of kfake's files that repair reads.
type (
	topicsFile struct {
		Version int         `json:"version"`
		Topics  []topicInfo `json:"topics"`
	}
	topicInfo struct {
		Name       string            `json:"name"`
		Partitions int32             `json:"partitions"`
		Configs    map[string]string `json:"configs"`
	}
	producerEntry struct {
		Type     string `json:"type"` // init, endtx, timeout
		Producer int64  `json:"pid"`
		Epoch    int16  `json:"epoch"`
		TxnID    string `json:"txid,omitempty"`
		Timeout  int32  `json:"timeout,omitempty"`
		Commit   *bool  `json:"commit,omitempty"`
	}
	offsetEntry struct {
		Type        string  `json:"type"` // commit
		Group       string  `json:"g"`
		Topic       string  `json:"t"`
		Partition   int32   `json:"p"`
		Offset      int64   `json:"o"`
		LeaderEpoch int32   `json:"e"`
		Metadata    *string `json:"m,omitempty"`
		CommittedAt int64   `json:"lc"`
	}
)

// openTransaction is a producer's transaction without a marker in a partition.
type openTransaction struct {
	producer int64
	epoch    int16
}

// openPartition is a partition with open transactions.
type openPartition struct {
	last *segment
	open []openTransaction
}

// repairer mends a folder that a broker left without a clean stop: it ends
// open transactions as decided, or aborts them, completes the decided one's
// offsets, fences the producers of aborted ones, and rebuilds what kfake saves
// only at a clean stop. What it appends comes in an order that lets a repair
// which is itself killed be done again.
type repairer struct {
	dir       string // kfake's folder
	decision  *decision
	now       time.Time
	report    repairReport
	topics    map[string]int32 // partitions by topic
	epochs    map[int64]int16  // of the known producers
	windows   map[windowKey]*sequenceWindow
	unsettled []openPartition
	buffer    []byte
}

type windowKey struct {
	topic     string
	partition int32
	producer  int64
}

// repair mends kfake's folder dir. ctx is looked at between partitions.
func repair(ctx context.Context, dir string, d *decision, now time.Time) (repairReport, error) {
	r := &repairer{
		dir: dir, decision: d, now: now,
		topics: map[string]int32{}, epochs: map[int64]int16{}, windows: map[windowKey]*sequenceWindow{},
	}
	for _, step := range []func(context.Context) error{
		r.loadTopics, r.loadProducers, r.scanPartitions, r.writeProducers, r.writeOffsets, r.writeMarkers, r.writeWindows, r.dropOpenSessions,
	} {
		if err := step(ctx); err != nil {
			return r.report, fmt.Errorf("repair the data folder: %w", err)
		}
	}
	return r.report, nil
}

func (r *repairer) loadTopics(context.Context) error {
	var file topicsFile
	found, err := readJSON(filepath.Join(r.dir, "topics.json"), &file)
	if err != nil {
		return err
	}
	if found && file.Version != 1 {
		return fmt.Errorf("topics.json has version %d: only 1 is known", file.Version)
	}
	for _, topic := range file.Topics {
		r.topics[topic.Name] = topic.Partitions
	}
	if found {
		return nil
	}
	if _, err := os.Stat(r.partitionsDir()); err == nil {
		return errors.New("there are partitions, but topics.json is missing")
	}
	return nil
}

func (r *repairer) partitionsDir() string { return filepath.Join(r.dir, "partitions") }

func (r *repairer) loadProducers(context.Context) error {
	entries, err := loadEntries(filepath.Join(r.dir, "pids.log"))
	if err != nil {
		return err
	}
	for _, raw := range entries {
		var entry producerEntry
		if json.Unmarshal(raw, &entry) == nil {
			r.epochs[entry.Producer] = entry.Epoch
		}
	}
	return nil
}

// scanPartitions mends the segments of every partition, finds the open
// transactions, and removes partitions of deleted topics: a topic made again
// would find their records.
func (r *repairer) scanPartitions(ctx context.Context) error {
	folders, err := os.ReadDir(r.partitionsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	wanted := map[string]windowKey{}
	for topic, partitions := range r.topics {
		for p := range partitions {
			wanted[url.PathEscape(topic)+"-"+strconv.Itoa(int(p))] = windowKey{topic: topic, partition: p}
		}
	}
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(r.partitionsDir(), folder.Name())
		partition, ok := wanted[folder.Name()]
		if !ok {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			r.report.orphans++
			continue
		}
		if err := r.scanPartition(path, partition); err != nil {
			return fmt.Errorf("topic %s, partition %d: %w", partition.topic, partition.partition, err)
		}
	}
	return nil
}

func (r *repairer) scanPartition(path string, partition windowKey) error {
	bases, err := segmentBases(path)
	if err != nil {
		return err
	}
	open := map[int64]int16{}
	var last *segment
	for _, base := range bases {
		s, err := scanSegment(path, base, &r.buffer, func(h *batchHeader) { r.visit(h, partition, open) })
		if err != nil {
			return err
		}
		if s.good < s.size {
			r.report.torn++
		}
		if err := s.mend(); err != nil {
			return err
		}
		last = s
	}
	if len(open) == 0 {
		return nil
	}
	p := openPartition{last: last}
	for producer, epoch := range open {
		p.open = append(p.open, openTransaction{producer, epoch})
	}
	r.unsettled = append(r.unsettled, p)
	return nil
}

func (r *repairer) visit(h *batchHeader, partition windowKey, open map[int64]int16) {
	if h.producer < 0 {
		return
	}
	if h.control() {
		delete(open, h.producer)
		return
	}
	if h.transactional() {
		open[h.producer] = h.producerEpoch
	}
	if _, known := r.epochs[h.producer]; !known || h.baseSequence < 0 {
		return
	}
	partition.producer = h.producer
	w := r.windows[partition]
	if w == nil {
		w = &sequenceWindow{Producer: h.producer, Topic: partition.topic, Partition: partition.partition}
		r.windows[partition] = w
	}
	w.add(h)
}

func (r *repairer) decided(t openTransaction) bool {
	return r.decision != nil && r.decision.Producer == t.producer && r.decision.Epoch == t.epoch
}

// fencedEpoch is the epoch under which a coordinator ends a transaction by
// itself.
func fencedEpoch(epoch int16) int16 { return min(epoch, math.MaxInt16-1) + 1 }

// writeProducers fences the producers of transactions to be aborted before
// anything is aborted: one that went on with its old epoch would be told that
// an aborted transaction had been committed.
func (r *repairer) writeProducers(context.Context) error {
	fenced := map[int64]int16{}
	for _, p := range r.unsettled {
		for _, t := range p.open {
			if known, ok := r.epochs[t.producer]; ok && !r.decided(t) {
				fenced[t.producer] = max(fenced[t.producer], fencedEpoch(t.epoch), known)
			}
		}
	}
	var entries []any
	for producer, epoch := range fenced {
		entries = append(entries, producerEntry{Type: "timeout", Producer: producer, Epoch: epoch})
	}
	if d := r.decision; d != nil {
		epoch, yes := d.Epoch, true
		if d.bumpsEpoch() {
			epoch = fencedEpoch(epoch)
		}
		if known, ok := r.epochs[d.Producer]; ok && known <= epoch {
			// Also what answers the producer when it asks again.
			entries = append(entries, producerEntry{Type: "endtx", Producer: d.Producer, Epoch: epoch, Commit: &yes})
		}
	}
	return appendEntries(filepath.Join(r.dir, "pids.log"), entries)
}

func (r *repairer) writeOffsets(context.Context) error {
	path := filepath.Join(r.dir, "groups.log")
	if _, err := loadEntries(path); err != nil {
		return err
	}
	if r.decision == nil {
		return nil
	}
	var entries []any
	for _, o := range r.decision.Offsets {
		if o.Partition < r.topics[o.Topic] {
			entries = append(entries, offsetEntry{
				Type: "commit", Group: o.Group, Topic: o.Topic, Partition: o.Partition,
				Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, CommittedAt: r.now.UnixMilli(),
			})
		}
	}
	return appendEntries(path, entries)
}

func (r *repairer) writeMarkers(context.Context) error {
	for _, p := range r.unsettled {
		for _, t := range p.open {
			commit, epoch := r.decided(t), t.epoch
			if commit {
				r.report.committed++
			} else {
				r.report.aborted++
				epoch = fencedEpoch(epoch)
			}
			marker := markerBatch(p.last.next, p.last.epoch, t.producer, epoch, commit, r.now)
			if err := p.last.append(marker); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *repairer) writeWindows(context.Context) error {
	file := sequenceFile{Version: 1}
	for _, w := range r.windows {
		file.Windows = append(file.Windows, *w)
	}
	return writeJSON(filepath.Join(r.dir, "seq_windows.json"), file)
}

// dropOpenSessions takes the transactions that repair has ended out of what
// kfake saved for the next start.
func (r *repairer) dropOpenSessions(context.Context) error {
	path := filepath.Join(r.dir, sessionName)
	var session map[string]json.RawMessage
	if found, err := readJSON(path, &session); err != nil || !found {
		return err
	}
	delete(session, openTransactionsKey)
	return writeJSON(path, session)
}
