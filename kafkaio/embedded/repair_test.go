package embedded

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/tests/kafka/reader"
)

var repairTime = time.UnixMilli(1_700_000_000_000)

// folder is a kfake folder made by hand: topic x with two partitions, the
// known producers 1 and 2.
type folder struct {
	t    *testing.T
	root string // the broker's folder
	dir  string // kfake's
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	root := t.TempDir()
	f := &folder{t: t, root: root, dir: filepath.Join(root, logName)}
	if err := os.Mkdir(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f.json("topics.json", map[string]any{"version": 1, "topics": []any{
		map[string]any{"name": "x", "partitions": 2, "replicas": 1, "id": "AQAAAAAAAAAAAAAAAAAAAA=="},
	}})
	f.json("meta.json", map[string]any{"version": 1, "cluster_id": "c"})
	for _, producer := range []int64{1, 2} {
		err := appendEntries(f.path("pids.log"), []any{producerEntry{
			Type: "init", Producer: producer, TxnID: fmt.Sprint("tx", producer), Timeout: 60_000,
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *folder) json(name string, value any) {
	f.t.Helper()
	if err := writeJSON(f.path(name), value); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) write(name string, data []byte) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), data, 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) repair(d *decision) repairReport {
	f.t.Helper()
	report, err := repair(f.t.Context(), f.dir, d, repairTime)
	if err != nil {
		f.t.Fatal(err)
	}
	return report
}

// contents is every file of the folder, for comparisons.
func (f *folder) contents() string {
	f.t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(f.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&text, "%s %x\n", path, raw)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return text.String()
}

// batch encodes a batch of one record; sequence is the producer's.
func dataBatch(offset, producer int64, epoch int16, sequence int32, transactional bool) []byte {
	record := kmsg.Record{Value: []byte("value")}
	record.Length = int32(len(record.AppendTo(nil)) - 1)
	batch := kmsg.RecordBatch{
		FirstOffset: offset, Magic: 2, ProducerID: producer, ProducerEpoch: epoch, FirstSequence: sequence,
		FirstTimestamp: 1, MaxTimestamp: 1, NumRecords: 1, Records: record.AppendTo(nil),
	}
	if transactional {
		batch.Attributes = attributeTransactional
	}
	return sealed(batch.AppendTo(nil))
}

func index(flags ...bool) []byte {
	var raw []byte
	for _, flag := range flags {
		raw = appendIndexEntry(raw, 0, flag)
	}
	return raw
}

// describe prints the batches of a partition: d for data, t for data of a
// transaction, c and a for markers, with producer and epoch.
func (f *folder) describe(partition string) string {
	f.t.Helper()
	dir := f.path("partitions/" + partition)
	bases, err := segmentBases(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	var text []string
	var buffer []byte
	for _, base := range bases {
		s, err := scanSegment(dir, base, &buffer, func(h *batchHeader) {
			kind := "d"
			switch {
			case h.control():
				var header kmsg.RecordBatch
				var record kmsg.Record
				if header.ReadFrom(buffer) != nil || record.ReadFrom(header.Records) != nil {
					f.t.Fatalf("unreadable marker at %d", h.baseOffset)
				}
				kind = string("ac"[record.Key[3]])
			case h.transactional():
				kind = "t"
			}
			text = append(text, fmt.Sprintf("%d:%s%d/%d", h.baseOffset, kind, h.producer, h.producerEpoch))
		})
		if err != nil {
			f.t.Fatal(err)
		}
		index, err := os.ReadFile(s.indexPath())
		if err != nil || s.good != s.size || !sameFlags(index, s.index) {
			f.t.Errorf("segment %d: %d of %d bytes are good, index %x, %v", base, s.good, s.size, index, err)
		}
	}
	return strings.Join(text, " ")
}

func TestRepairEndsOpenTransactions(t *testing.T) {
	f := newFolder(t)
	f.write("partitions/x-0/0.dat", slices.Concat(
		dataBatch(0, 1, 0, 0, true), markerBatch(1, 0, 1, 0, true, repairTime), // done
		dataBatch(2, 1, 0, 1, true), dataBatch(3, 2, 4, 0, true)))
	f.write("partitions/x-0/0.idx", index(true, false, true, true))
	f.write("partitions/x-1/0.dat", dataBatch(0, -1, -1, -1, false))
	f.write("partitions/x-1/0.idx", index(false))
	f.write("partitions/x-1/1.dat", dataBatch(1, 1, 0, 0, true))
	f.write("partitions/x-1/1.idx", index(true))
	report := f.repair(&decision{Producer: 1, Epoch: 0, Version: 3, Offsets: []stagedOffset{
		{Group: "g", Topic: "x", Partition: 1, Offset: 7}, {Group: "g", Topic: "deleted", Offset: 8},
	}})
	if report != (repairReport{committed: 2, aborted: 1}) {
		t.Errorf("%+v", report)
	}
	got := f.describe("x-0")
	if got != "0:t1/0 1:c1/0 2:t1/0 3:t2/4 4:c1/0 5:a2/5" && got != "0:t1/0 1:c1/0 2:t1/0 3:t2/4 4:a2/5 5:c1/0" {
		t.Errorf("x-0: %s", got)
	}
	if got := f.describe("x-1"); got != "0:d-1/-1 1:t1/0 2:c1/0" {
		t.Errorf("x-1: %s", got)
	}
	entries, err := loadEntries(f.path("groups.log"))
	if err != nil || len(entries) != 1 || !strings.Contains(string(entries[0]), `"g":"g","t":"x","p":1,"o":7`) {
		t.Errorf("groups.log: %s, %v", entries, err)
	}
	producers, err := loadEntries(f.path("pids.log"))
	if err != nil || len(producers) != 4 {
		t.Fatalf("pids.log: %s, %v", producers, err)
	}
	if got := string(producers[2]); got != `{"type":"timeout","pid":2,"epoch":5}` {
		t.Errorf("producer 2: %s", got)
	}
	if got := string(producers[3]); got != `{"type":"endtx","pid":1,"epoch":0,"commit":true}` {
		t.Errorf("producer 1: %s", got)
	}
}

func TestRepairIsIdempotent(t *testing.T) {
	f := newFolder(t)
	f.write("partitions/x-0/0.dat", append(dataBatch(0, 1, 0, 0, true), "torn"...))
	f.write("partitions/x-0/0.idx", nil)
	first := f.repair(nil)
	if first != (repairReport{aborted: 1, torn: 1}) {
		t.Errorf("%+v", first)
	}
	before := f.contents()
	if again := f.repair(nil); again != (repairReport{}) || f.contents() != before {
		t.Errorf("the second repair: %+v", again)
	}
}

// A repair that is itself cut off after any of its writes is completed by the
// next: here, markers in the first partition only.
func TestRepairOfARepair(t *testing.T) {
	f := newFolder(t)
	open := dataBatch(0, 1, 0, 0, true)
	d := &decision{Producer: 1, Epoch: 0, Version: 3}
	f.write("partitions/x-0/0.dat", open)
	f.write("partitions/x-0/0.idx", index(true))
	f.repair(d)
	f.write("partitions/x-1/0.dat", open)
	f.write("partitions/x-1/0.idx", index(true, false)) // the marker's entry is written before it
	if report := f.repair(d); report != (repairReport{committed: 1}) {
		t.Errorf("%+v", report)
	}
	for _, p := range []string{"x-0", "x-1"} {
		if got := f.describe(p); got != "0:t1/0 1:c1/0" {
			t.Errorf("%s: %s", p, got)
		}
	}
}

func TestRepairDecisions(t *testing.T) {
	for _, c := range []struct {
		name     string
		decision *decision
		want     string // of the log
		producer string // last entry of pids.log
	}{
		{"none", nil, "0:t1/3 1:a1/4", `{"type":"timeout","pid":1,"epoch":4}`},
		{"of another epoch", &decision{Producer: 1, Epoch: 2, Version: 3}, "0:t1/3 1:a1/4", `{"type":"endtx","pid":1,"epoch":2,"commit":true}`},
		{"of another producer", &decision{Producer: 9, Epoch: 3, Version: 3}, "0:t1/3 1:a1/4", `{"type":"timeout","pid":1,"epoch":4}`},
		{"commit", &decision{Producer: 1, Epoch: 3, Version: 3}, "0:t1/3 1:c1/3", `{"type":"endtx","pid":1,"epoch":3,"commit":true}`},
		{"commit with a new epoch", &decision{Producer: 1, Epoch: 3, Version: 5}, "0:t1/3 1:c1/3", `{"type":"endtx","pid":1,"epoch":4,"commit":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			f.write("partitions/x-0/0.dat", dataBatch(0, 1, 3, 0, true))
			f.write("partitions/x-0/0.idx", index(true))
			f.repair(c.decision)
			if got := f.describe("x-0"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			entries, err := loadEntries(f.path("pids.log"))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(entries[len(entries)-1]); got != c.producer {
				t.Errorf("got %s, want %s", got, c.producer)
			}
		})
	}
}

func TestRepairRebuildsSequences(t *testing.T) {
	f := newFolder(t)
	var log []byte
	for i := range 7 {
		log = append(log, dataBatch(int64(i), 1, 0, int32(i), false)...)
	}
	log = append(log, dataBatch(7, 2, 0, 5, false)...)
	log = append(log, dataBatch(8, 2, 1, 0, false)...)  // a new epoch begins again
	log = append(log, dataBatch(9, 77, 0, 0, false)...) // not in pids.log
	f.write("partitions/x-0/0.dat", log)
	f.repair(nil)
	var file sequenceFile
	if _, err := readJSON(f.path("seq_windows.json"), &file); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(file.Windows, func(a, b sequenceWindow) int { return int(a.Producer - b.Producer) })
	want := []sequenceWindow{
		{
			Producer: 1, Topic: "x", Count: 5, At: 2, Seen: true, Next: 7,
			Entries: [windowSize]sequenceEntry{{5, 6, 5}, {6, 7, 6}, {2, 3, 2}, {3, 4, 3}, {4, 5, 4}},
		},
		{
			Producer: 2, Topic: "x", Count: 1, At: 1, Epoch: 1, Seen: true, Next: 1,
			Entries: [windowSize]sequenceEntry{{0, 1, 8}},
		},
	}
	if !slices.Equal(file.Windows, want) {
		t.Errorf("got %+v", file.Windows)
	}
}

func TestRepairRemovesDeletedTopics(t *testing.T) {
	f := newFolder(t)
	f.write("partitions/gone-0/0.dat", dataBatch(0, -1, -1, -1, false))
	f.write("partitions/x-2/0.dat", dataBatch(0, -1, -1, -1, false))
	f.write("partitions/x-1/0.dat", dataBatch(0, -1, -1, -1, false))
	if report := f.repair(nil); report != (repairReport{orphans: 2}) {
		t.Errorf("%+v", report)
	}
	left, err := os.ReadDir(f.path("partitions"))
	if err != nil || len(left) != 1 || left[0].Name() != "x-1" {
		t.Errorf("%v, %v", left, err)
	}
}

func TestRepairRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, breakIt := range map[string]func(*folder){
		"topics missing":       func(f *folder) { _ = os.Remove(f.path("topics.json")) },
		"topics unreadable":    func(f *folder) { f.write("topics.json", []byte("{")) },
		"topics of tomorrow":   func(f *folder) { f.json("topics.json", map[string]any{"version": 2}) },
		"partition not a dir":  func(f *folder) { f.write("partitions/x-1", nil) },
		"segment not a file":   func(f *folder) { f.write("partitions/x-1/0.dat/y", nil) },
		"session not readable": func(f *folder) { f.write(sessionName+"/y", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.write("partitions/x-0/0.dat", dataBatch(0, -1, -1, -1, false))
			breakIt(f)
			if _, err := repair(t.Context(), f.dir, nil, repairTime); err == nil {
				t.Error("no error")
			}
			if _, err := os.Stat(f.path("partitions/x-0/0.dat")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRepairDropsOpenSessions(t *testing.T) {
	f := newFolder(t)
	f.json(sessionName, map[string]any{openTransactionsKey: []int{1}, "shutdownAt": "2026-01-01T00:00:00Z"})
	f.repair(nil)
	raw, err := os.ReadFile(f.path(sessionName))
	if err != nil || string(raw) != `{"shutdownAt":"2026-01-01T00:00:00Z"}` {
		t.Errorf("%s, %v", raw, err)
	}
}

// Whatever the ends of the files look like after a stop, repair keeps the
// whole batches before, a broker starts on the result, and a second repair
// finds nothing to do.
func TestRepairOfDamagedTails(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	whole := slices.Concat(dataBatch(0, -1, -1, -1, false), dataBatch(1, 1, 0, 0, true))
	for round := range rounds(60, 2000) {
		f := newFolder(t)
		damage := func(name string, good []byte) int {
			cut := len(good) - random.IntN(len(good)+1)*random.IntN(2)
			tail := make([]byte, random.IntN(200)*random.IntN(2))
			for i := range tail {
				tail[i] = byte(random.Uint32())
			}
			f.write(name, slices.Concat(good[:cut], tail))
			return cut
		}
		cut := damage("partitions/x-0/0.dat", whole)
		damage("partitions/x-0/0.idx", index(false, true))
		pids, err := os.ReadFile(f.path("pids.log"))
		if err != nil {
			t.Fatal(err)
		}
		damage("pids.log", pids)
		damage("groups.log", pids)
		f.repair(nil)
		want := []string{"", "0:d-1/-1", "0:d-1/-1 1:t1/0 2:a1/1"}[cut/(len(whole)/2)]
		if got := f.describe("x-0"); got != want {
			t.Fatalf("%d of %d bytes: got %q, want %q", cut, len(whole), got, want)
		}
		before := f.contents()
		if report := f.repair(nil); report != (repairReport{}) || f.contents() != before {
			t.Fatalf("the second repair: %+v", report)
		}
		if round%10 == 0 {
			b := startBroker(t, Options{Dir: f.root})
			visible := ""
			if want != "" {
				visible = "value"
			}
			if got := reader.Values(readAll(t, b.Addresses()[0], "x")); got != visible {
				t.Fatalf("%d of %d bytes: visible are %q, want %q", cut, len(whole), got, visible)
			}
			closeBroker(t, b)
		}
	}
}

func FuzzReadJournal(f *testing.F) {
	d, err := json.Marshal(decision{Producer: 1, Epoch: 2, Version: 3})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(make([]byte, journalHeaderSize), d...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), journalName)
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readJournal(path); err != nil {
			t.Error(err)
		}
	})
}

func FuzzScanSegment(f *testing.F) {
	f.Add(slices.Concat(dataBatch(0, 1, 0, 0, true), markerBatch(1, 0, 1, 0, true, repairTime)))
	f.Add(dataBatch(5, -1, -1, -1, false)[:70])
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "0.dat"), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		var buffer []byte
		next := int64(0)
		s, err := scanSegment(dir, 0, &buffer, func(h *batchHeader) {
			if h.baseOffset < next {
				t.Errorf("offset %d after %d", h.baseOffset, next)
			}
			next = h.nextOffset()
		})
		if err != nil || s.good > s.size || s.next != next {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
