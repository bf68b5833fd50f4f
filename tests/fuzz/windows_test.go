package fuzz

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"millrace/exec"
	"millrace/exec/task"
	"millrace/kafkaio/memory"
	"millrace/state"
	statememory "millrace/state/memory"
)

const (
	inputPartitions = 3
	inputParts      = 4 // each is later than the one before it
	rowsOfPart      = 100
	// closing is the key and group of rows that only let windows close.
	closing = "closing"
)

// windowKinds are windows with little and much time for late rows.
var windowKinds = []string{
	"SESSION (60 MILLISECONDS, GRACE PERIOD 0 SECONDS)",
	"SESSION (60 MILLISECONDS, GRACE PERIOD 150 MILLISECONDS)",
	"SESSION (5 MILLISECONDS, GRACE PERIOD 1 HOUR)",
	"SLIDING (SIZE 80 MILLISECONDS, GRACE PERIOD 0 SECONDS)",
	"SLIDING (SIZE 80 MILLISECONDS, GRACE PERIOD 150 MILLISECONDS)",
	"SLIDING (SIZE 7 MILLISECONDS, GRACE PERIOD 1 HOUR)",
	"TUMBLING (SIZE 100 MILLISECONDS, GRACE PERIOD 150 MILLISECONDS)",
	"HOPPING (SIZE 100 MILLISECONDS, ADVANCE BY 30 MILLISECONDS, GRACE PERIOD 150 MILLISECONDS)",
}

// windowTest is a query over windows of a kind, in both forms of output.
type windowTest struct{ window, group, having string }

func (w windowTest) script() string {
	query := func(name, emit string) string {
		return fmt.Sprintf(`CREATE TABLE %s AS SELECT %s, COUNT(*) AS n, SUM(v) AS total, COLLECT_LIST(v) AS vs, COUNT(DISTINCT v %% 3) AS kinds,
			MAX(v) FILTER (WHERE v %% 2 = 0) AS top FROM s WINDOW %s GROUP BY %s %s EMIT %s;`, name, w.group, w.window, w.group, w.having, emit)
	}
	return `CREATE STREAM s (k STRING KEY, g STRING, v INT) WITH (KAFKA_TOPIC='s', PARTITIONS=3, VALUE_FORMAT='JSON');` +
		query("changes", "CHANGES") + query("final", "FINAL")
}

// rowsOf are the parts of the input: rows nearly in the order of time within
// each partition, and at last rows that let all windows close.
func rowsOf(random *rand.Rand) [][]rawRecord {
	var parts [][]rawRecord
	v := 0
	for part := range int64(inputParts) {
		begin := 1_000_000 + part*1000
		now := begin
		var rows []rawRecord
		for range rowsOfPart {
			now += random.Int64N(14)
			at := now
			if random.IntN(4) == 0 {
				at = max(begin, now-random.Int64N(300))
			}
			v++
			key := random.IntN(5)
			rows = append(rows, rawRecord{
				"s", int32(key % inputPartitions), at, fmt.Appendf(nil, "k%d", key), fmt.Appendf(nil, `{"G":"g%d","V":%d}`, random.IntN(4), v),
			})
		}
		parts = append(parts, rows)
	}
	var last []rawRecord
	for i := range 60 {
		value := fmt.Appendf(nil, `{"G":"%s%d","V":0}`, closing, i)
		last = append(last, rawRecord{"s", int32(i % inputPartitions), 100_000_000, fmt.Appendf(nil, "%s%d", closing, i), value})
	}
	return append(parts, last)
}

// host runs a script again and again over one log, as processes that come and go.
type host struct {
	*pipeline
	log     *memory.Log
	script  string
	options exec.Options
	disk    *statememory.Disk
	opened  []state.Backend
}

func newHost(t *testing.T, script string, options exec.Options) *host {
	h := &host{log: memory.New(), script: script, options: options, disk: statememory.NewDisk()}
	h.begin(t)
	return h
}

// begin starts a process with the log and the local state that are there.
func (h *host) begin(t *testing.T) {
	t.Helper()
	h.options.CheckpointInterval = -1
	h.options.OpenBackend = func(directory string) (state.Backend, error) {
		backend, err := h.disk.Open(directory)
		if err == nil {
			h.opened = append(h.opened, backend)
		}
		return backend, err
	}
	h.pipeline = newPipelineOn(h.log, nil, h.options)
	if err := h.session.Script(t.Context(), h.script, nil); err != nil {
		t.Fatal(err)
	}
}

// crashed is what a crash hook panics with, in place of a SIGKILL.
type crashed struct{}

// feed produces a part and processes it. A process that is killed meanwhile is
// followed by another one.
func (h *host) feed(t *testing.T, rows []rawRecord) (kills int) {
	t.Helper()
	h.produce(t, rows)
	for !h.survives(t) {
		kills++
		for _, backend := range h.opened {
			_ = backend.Close() // as the end of a process does
		}
		h.opened = nil
		h.begin(t)
	}
	return kills
}

func (h *host) survives(t *testing.T) (alive bool) {
	defer func() {
		if fault := recover(); fault != nil {
			if _, ok := fault.(crashed); !ok {
				panic(fault)
			}
		}
	}()
	if failure := h.settle(t); failure != "" {
		t.Fatal(failure)
	}
	return true
}

// answer is what the queries wrote, group by group: the tasks of a query write
// to each other's partitions, in any order.
func (h *host) answer(t *testing.T) map[string][]rawRecord {
	t.Helper()
	out := map[string][]rawRecord{}
	for _, topic := range h.sinks() {
		records := h.read(t, topic)
		slices.SortStableFunc(records, func(a, b rawRecord) int { return strings.Compare(groupOf(string(a.key)), groupOf(string(b.key))) })
		out[topic] = records
	}
	return out
}

// groupOf is a windowed key without its window, which begins with a zero byte.
func groupOf(key string) string {
	group, _, _ := strings.Cut(key, "\x00")
	return group
}

func compareAnswers(t *testing.T, how string, got, want map[string][]rawRecord) {
	t.Helper()
	for topic, records := range want {
		for i := range max(len(records), len(got[topic])) {
			shown := func(of []rawRecord) string {
				if i < len(of) {
					return of[i].String()
				}
				return "nothing"
			}
			if a, b := shown(got[topic]), shown(records); a != b {
				t.Errorf("%s: record %d of %s is\n%s\nwant\n%s", how, i, topic, a, b)
				break
			}
		}
	}
}

// lastValues are the rows of a table that are not of the rows that only let
// windows close.
func lastValues(t *testing.T, records []rawRecord, once bool) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for _, r := range records {
		key := string(r.key)
		if _, again := rows[key]; again && once {
			t.Errorf("a final window is there again: %s", r)
		}
		switch {
		case strings.HasPrefix(key, closing):
		case r.value == nil:
			delete(rows, key)
		default:
			rows[key] = string(r.value)
		}
	}
	return rows
}

// readableKey shows a windowed key.
func readableKey(key string) string {
	text := groupOf(key)
	for at := len(text); at+8 <= len(key); at += 8 {
		text += fmt.Sprintf("@%d", binary.BigEndian.Uint64([]byte(key[at:])))
	}
	return text
}

// TestWindows runs windows of each kind over partitions with late rows, grouped
// by the key and by another column. Batches of any size, commits, restarts with
// and without local state and kills at any crash point give the same records. The
// last rows of EMIT CHANGES are those of EMIT FINAL, and those that are left when
// output is held back until commits.
func TestWindows(t *testing.T) {
	for i, window := range windowKinds {
		for j, group := range []string{"k", "g"} {
			test := windowTest{window, group, []string{"", "HAVING COUNT(*) > 1"}[(i+j)%2]}
			t.Run(window+" by "+group, func(t *testing.T) {
				t.Parallel()
				test.run(t, rand.New(rand.NewPCG(uint64(i), uint64(j))))
			})
		}
	}
}

func (w windowTest) run(t *testing.T, random *rand.Rand) {
	parts := rowsOf(random)
	together := func(options exec.Options) map[string][]rawRecord {
		h := newHost(t, w.script(), options)
		defer h.close(t)
		h.feed(t, slices.Concat(parts...))
		return h.answer(t)
	}
	want := together(exec.Options{BatchRows: 1})
	changes, final := lastValues(t, want["CHANGES"], false), lastValues(t, want["FINAL"], true)
	if len(final) < inputParts || !maps.Equal(changes, final) {
		t.Errorf("EMIT CHANGES leaves %d rows, EMIT FINAL %d: %s", len(changes), len(final), firstDifference(changes, final))
	}
	sizes := []int{3, 1000}
	random.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	for _, rows := range sizes {
		compareAnswers(t, fmt.Sprintf("in batches of %d", rows), together(exec.Options{BatchRows: rows}), want)
		held := together(exec.Options{BatchRows: rows, HoldBack: true})
		if left := lastValues(t, held["CHANGES"], false); !maps.Equal(left, changes) {
			t.Errorf("held back, in batches of %d: %s", rows, firstDifference(left, changes))
		}
		compareAnswers(t, "held back", map[string][]rawRecord{"FINAL": held["FINAL"]}, map[string][]rawRecord{"FINAL": want["FINAL"]})
	}
	compareAnswers(t, fmt.Sprintf("with restarts, in batches of %d", sizes[0]), w.restarted(t, parts, sizes[0]), want)
	compareAnswers(t, fmt.Sprintf("with kills, in batches of %d", sizes[1]), w.killed(t, parts, sizes[1], random), want)
}

func firstDifference(got, want map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			return fmt.Sprintf("%s is %s, want %s", readableKey(key), got[key], want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			return fmt.Sprintf("%s is %s, want nothing", readableKey(key), got[key])
		}
	}
	return ""
}

// restarted feeds part by part. Every process ends in good order, and of every
// other one the local state is lost.
func (w windowTest) restarted(t *testing.T, parts [][]rawRecord, rows int) map[string][]rawRecord {
	h := newHost(t, w.script(), exec.Options{BatchRows: rows, StateDirectory: t.TempDir()})
	for i, part := range parts {
		h.feed(t, part)
		h.close(t)
		if i%2 == 1 {
			h.loseState(t)
		}
		h.begin(t)
	}
	defer h.close(t)
	return h.answer(t)
}

func (h *host) loseState(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(h.options.StateDirectory); err != nil {
		t.Fatal(err)
	}
	h.disk = statememory.NewDisk()
}

// killed feeds part by part and kills at crash points of any commits.
func (w windowTest) killed(t *testing.T, parts [][]rawRecord, rows int, random *rand.Rand) map[string][]rawRecord {
	left := 1 + random.IntN(4*len(task.CrashPoints))
	h := newHost(t, w.script(), exec.Options{BatchRows: rows, StateDirectory: t.TempDir(), Crash: func(task.CrashPoint) {
		if left--; left == 0 {
			left = 1 + random.IntN(4*len(task.CrashPoints))
			panic(crashed{})
		}
	}})
	kills := 0
	for _, part := range parts {
		kills += h.feed(t, part)
	}
	if kills == 0 {
		t.Error("nothing was killed")
	}
	defer h.close(t)
	return h.answer(t)
}
