package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func newJournal(t *testing.T) (*journal, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), journalName)
	j, err := openJournal(path, true, func(id [16]byte) string { return "by id " + string(rune('0'+id[0])) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.close() })
	return j, path
}

func see(t *testing.T, j *journal, request kmsg.Request) {
	t.Helper()
	if err := j.see(request); err != nil {
		t.Fatal(err)
	}
}

func decided(t *testing.T, path string) *decision {
	t.Helper()
	d, err := readJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func endTxn(producer int64, epoch int16, commit bool) *kmsg.EndTxnRequest {
	return &kmsg.EndTxnRequest{Version: 3, ProducerID: producer, ProducerEpoch: epoch, Commit: commit}
}

func offsetCommit(producer int64, epoch int16, topic string, offset int64) *kmsg.TxnOffsetCommitRequest {
	return &kmsg.TxnOffsetCommitRequest{
		Version: 3, Group: "g", ProducerID: producer, ProducerEpoch: epoch,
		Topics: []kmsg.TxnOffsetCommitRequestTopic{{
			Topic: topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Partition: 4, Offset: offset, LeaderEpoch: -1}},
		}},
	}
}

func staged(topic string, offset int64) stagedOffset {
	return stagedOffset{Group: "g", Topic: topic, Partition: 4, Offset: offset, LeaderEpoch: -1}
}

func TestJournal(t *testing.T) {
	byID := offsetCommit(1, 0, "", 5)
	byID.Version, byID.Topics[0].TopicID = 6, [16]byte{7}
	for _, c := range []struct {
		name     string
		requests []kmsg.Request
		want     *decision
	}{
		{"nothing", nil, nil},
		{"abort", []kmsg.Request{endTxn(1, 0, false)}, nil},
		{"commit", []kmsg.Request{endTxn(1, 0, true)}, &decision{Producer: 1, Version: 3}},
		{"taken back by the next request", []kmsg.Request{endTxn(1, 0, true), &kmsg.FetchRequest{}}, nil},
		{"taken back by an abort", []kmsg.Request{endTxn(1, 0, true), endTxn(2, 0, false)}, nil},
		{"replaced", []kmsg.Request{offsetCommit(1, 0, "a", 1), endTxn(1, 0, true), endTxn(2, 1, true)}, &decision{Producer: 2, Epoch: 1, Version: 3}},
		{
			"with offsets, the last of each partition",
			[]kmsg.Request{offsetCommit(1, 0, "b", 1), offsetCommit(1, 0, "a", 2), offsetCommit(1, 0, "b", 3), endTxn(1, 0, true)},
			&decision{Producer: 1, Version: 3, Offsets: []stagedOffset{staged("a", 2), staged("b", 3)}},
		},
		{
			"topics by id",
			[]kmsg.Request{byID, endTxn(1, 0, true)},
			&decision{Producer: 1, Version: 3, Offsets: []stagedOffset{staged("by id 7", 5)}},
		},
		{"offsets of an aborted transaction", []kmsg.Request{offsetCommit(1, 0, "a", 1), endTxn(1, 0, false), endTxn(1, 0, true)}, &decision{Producer: 1, Version: 3}},
		{"offsets of an earlier transaction", []kmsg.Request{offsetCommit(1, 0, "a", 1), endTxn(1, 0, true), endTxn(1, 0, true)}, &decision{Producer: 1, Version: 3}},
		{"offsets of an earlier epoch", []kmsg.Request{offsetCommit(1, 0, "a", 1), endTxn(1, 1, true)}, &decision{Producer: 1, Epoch: 1, Version: 3}},
		{
			"a fenced producer's offsets",
			[]kmsg.Request{offsetCommit(1, 1, "a", 1), offsetCommit(1, 0, "a", 9), endTxn(1, 0, false), endTxn(1, 1, true)},
			&decision{Producer: 1, Epoch: 1, Version: 3, Offsets: []stagedOffset{staged("a", 1)}},
		},
		{"another producer's offsets", []kmsg.Request{offsetCommit(2, 0, "a", 1), endTxn(1, 0, true)}, &decision{Producer: 1, Version: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, path := newJournal(t)
			for _, request := range c.requests {
				see(t, j, request)
			}
			if diff := cmp.Diff(c.want, decided(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A decision that was not written whole is none, and neither is one whose
// rest belongs to a longer one before it.
func TestTornJournal(t *testing.T) {
	j, path := newJournal(t)
	see(t, j, offsetCommit(1, 0, strings.Repeat("long", 50), 1))
	see(t, j, endTxn(1, 0, true))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := range whole {
		if err := os.WriteFile(path, whole[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		if d := decided(t, path); d != nil {
			t.Errorf("the first %d of %d bytes decide %+v", size, len(whole), d)
		}
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	see(t, j, endTxn(2, 0, true))
	if d := decided(t, path); d == nil || d.Producer != 2 {
		t.Errorf("a short decision over a long one: %+v", d)
	}
}

func TestJournalFailure(t *testing.T) {
	j, _ := newJournal(t)
	_ = j.file.Close()
	if err := j.see(endTxn(1, 0, true)); err == nil {
		t.Error("a commit goes on without its decision")
	}
	if err := j.see(&kmsg.FetchRequest{}); err == nil {
		t.Error("a request goes on while a decision cannot be taken back")
	}
}
