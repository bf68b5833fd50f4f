package embedded

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// stagedOffset is a group's position that waits for its transaction's commit.
type stagedOffset struct {
	Group       string  `json:"group"`
	Topic       string  `json:"topic"`
	Partition   int32   `json:"partition"`
	Offset      int64   `json:"offset"`
	LeaderEpoch int32   `json:"leader_epoch"`
	Metadata    *string `json:"metadata,omitempty"`
}

// decision says that a transaction commits. kfake then writes the markers
// partition by partition and the offsets last, so a kill in between leaves it
// half done; the decision is what repair finishes it by.
type decision struct {
	Producer int64          `json:"producer"`
	Epoch    int16          `json:"epoch"`
	Version  int16          `json:"version"` // of the EndTxn request
	Offsets  []stagedOffset `json:"offsets,omitempty"`
}

// bumpsEpoch tells whether ending the transaction raised the producer's epoch
// (KIP-890).
func (d *decision) bumpsEpoch() bool { return d.Version >= 5 }

// journal is a file of one decision: the one that kfake works on. kfake
// handles one request at a time, so whenever the next request is seen the
// decision has been carried out in full, and is taken back before that request
// can begin another transaction of the same producer and epoch.
//
// Its methods run in kfake's control function, one call at a time.
type journal struct {
	file   *os.File
	sync   bool
	filled bool
	staged map[int64]*staging // by producer id
	name   func(topicID [16]byte) string
}

// staging holds the offsets of a producer's open transaction.
type staging struct {
	epoch   int16
	offsets map[stagedKey]stagedOffset
}

type stagedKey struct {
	group, topic string
	partition    int32
}

const journalHeaderSize = 8 // length and CRC of what follows, little-endian

// openJournal makes an empty journal. name gives the topic of an id, "" for one
// that does not exist.
func openJournal(path string, sync bool, name func(topicID [16]byte) string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the transaction journal: %w", err)
	}
	return &journal{file: file, sync: sync, staged: map[int64]*staging{}, name: name}, nil
}

// see notes what the request means for transactions. After an error kfake must
// not act on the request.
func (j *journal) see(request kmsg.Request) error {
	if r, ok := request.(*kmsg.EndTxnRequest); ok && r.Commit {
		return j.commit(r)
	}
	if err := j.takeBack(); err != nil {
		return err
	}
	switch r := request.(type) {
	case *kmsg.TxnOffsetCommitRequest:
		j.stage(r)
	case *kmsg.EndTxnRequest:
		if s := j.staged[r.ProducerID]; s != nil && s.epoch <= r.ProducerEpoch {
			delete(j.staged, r.ProducerID)
		}
	}
	return nil
}

func (j *journal) stage(r *kmsg.TxnOffsetCommitRequest) {
	s := j.staged[r.ProducerID]
	if s != nil && s.epoch > r.ProducerEpoch {
		return // a fenced producer: kfake refuses it
	}
	if s == nil || s.epoch < r.ProducerEpoch {
		s = &staging{epoch: r.ProducerEpoch, offsets: map[stagedKey]stagedOffset{}}
		j.staged[r.ProducerID] = s
	}
	for _, topic := range r.Topics {
		name := topic.Topic
		if r.Version >= 6 { // topics by id
			name = j.name(topic.TopicID)
		}
		for _, p := range topic.Partitions {
			s.offsets[stagedKey{r.Group, name, p.Partition}] = stagedOffset{
				Group: r.Group, Topic: name, Partition: p.Partition,
				Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata,
			}
		}
	}
}

func (j *journal) commit(r *kmsg.EndTxnRequest) error {
	d := decision{Producer: r.ProducerID, Epoch: r.ProducerEpoch, Version: r.Version}
	s := j.staged[r.ProducerID]
	if s != nil && s.epoch == r.ProducerEpoch {
		for _, offset := range s.offsets {
			d.Offsets = append(d.Offsets, offset)
		}
		slices.SortFunc(d.Offsets, func(a, b stagedOffset) int {
			if c := strings.Compare(a.Group, b.Group); c != 0 {
				return c
			}
			if c := strings.Compare(a.Topic, b.Topic); c != 0 {
				return c
			}
			return int(a.Partition) - int(b.Partition)
		})
	}
	if err := j.write(&d); err != nil {
		return err
	}
	if s != nil && s.epoch <= r.ProducerEpoch {
		delete(j.staged, r.ProducerID)
	}
	return nil
}

func (j *journal) write(d *decision) error {
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode a commit decision: %w", err)
	}
	frame := make([]byte, journalHeaderSize, journalHeaderSize+len(data))
	binary.LittleEndian.PutUint32(frame, uint32(len(data)))
	binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(data, castagnoli))
	j.filled = true
	return j.put(append(frame, data...))
}

func (j *journal) takeBack() error {
	if !j.filled {
		return nil
	}
	if err := j.put(make([]byte, journalHeaderSize)); err != nil {
		return err
	}
	j.filled = false
	return nil
}

func (j *journal) put(frame []byte) error {
	if _, err := j.file.WriteAt(frame, 0); err != nil {
		return fmt.Errorf("write the transaction journal: %w", err)
	}
	if !j.sync {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync the transaction journal: %w", err)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// readJournal gives the decision that an unclean stop left, nil when there is
// none. A decision torn by the stop is none: kfake had not begun to act on it.
func readJournal(path string) (*decision, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the transaction journal: %w", err)
	}
	if len(raw) < journalHeaderSize {
		return nil, nil
	}
	size := int64(binary.LittleEndian.Uint32(raw))
	if size == 0 || size > int64(len(raw)-journalHeaderSize) {
		return nil, nil
	}
	data := raw[journalHeaderSize : journalHeaderSize+size]
	if crc32.Checksum(data, castagnoli) != binary.LittleEndian.Uint32(raw[4:]) {
		return nil, nil
	}
	d := new(decision)
	if json.Unmarshal(data, d) != nil {
		return nil, nil
	}
	return d, nil
}
