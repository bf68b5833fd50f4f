package embedded

import "math"

// windowSize is how many of a producer's last batches a partition remembers to
// recognise one that is sent again.
const windowSize = 5

// sequenceWindow and sequenceFile are kfake's form of the producers' windows,
// which it saves only at a clean stop; repair rebuilds them from the log.
type sequenceWindow struct {
	Producer  int64                     `json:"pid"`
	Topic     string                    `json:"topic"`
	Partition int32                     `json:"partition"`
	Entries   [windowSize]sequenceEntry `json:"entries"`
	Count     uint8                     `json:"count"`
	At        uint8                     `json:"at"`
	Epoch     int16                     `json:"epoch"`
	Seen      bool                      `json:"seen"`
	Next      int32                     `json:"next_seq"`
}

type sequenceEntry struct {
	First  int32 `json:"first_seq"`
	Next   int32 `json:"next_seq"`
	Offset int64 `json:"offset"`
}

type sequenceFile struct {
	Version int              `json:"version"`
	Windows []sequenceWindow `json:"windows"`
}

// add notes a batch as kfake does when it accepts one.
func (w *sequenceWindow) add(h *batchHeader) {
	if !w.Seen || w.Epoch != h.producerEpoch {
		*w = sequenceWindow{
			Producer: w.Producer, Topic: w.Topic, Partition: w.Partition,
			Seen: true, Epoch: h.producerEpoch,
		}
	}
	next := int32((int64(h.baseSequence) + int64(h.records)) % math.MaxInt32)
	w.Entries[w.At] = sequenceEntry{First: h.baseSequence, Next: next, Offset: h.baseOffset}
	w.At = (w.At + 1) % windowSize
	w.Count = min(w.Count+1, windowSize)
	w.Next = next
}
