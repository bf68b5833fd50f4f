package kafkaio

import (
	"cmp"
	"slices"
)

// AbortedTransaction is an entry of a fetch answer's list: from FirstOffset to
// the next ABORT marker the transactional batches of the producer do not count.
type AbortedTransaction struct {
	ProducerID  int64
	FirstOffset int64
}

// CommittedFilter leaves a read_committed reader the batches that it may see.
// The broker ends its answers at the last stable offset, so every transaction
// in an answer has ended, and those that were aborted are listed.
type CommittedFilter struct {
	pending []AbortedTransaction
	aborted map[int64]int16 // producer id to epoch; -1 until its first batch is seen
}

// Begin starts a partition's fetch answer. The list is sorted in place and kept
// until the next Begin.
func (f *CommittedFilter) Begin(list []AbortedTransaction) {
	slices.SortFunc(list, func(a, b AbortedTransaction) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	f.pending = list
	clear(f.aborted)
}

// Keep tells whether the records of the next batch are to be seen. Batches must
// come in the answer's order.
func (f *CommittedFilter) Keep(batch *Batch) bool {
	for len(f.pending) > 0 && f.pending[0].FirstOffset <= batch.LastOffset() {
		if f.aborted == nil {
			f.aborted = make(map[int64]int16)
		}
		f.aborted[f.pending[0].ProducerID] = -1
		f.pending = f.pending[1:]
	}
	if batch.Control() {
		if commit, ok := batch.Marker(); ok && !commit {
			delete(f.aborted, batch.ProducerID)
		}
		return false
	}
	if !batch.Transactional() || len(f.aborted) == 0 {
		return true
	}
	epoch, aborted := f.aborted[batch.ProducerID]
	switch {
	case !aborted:
		return true
	case epoch < 0:
		f.aborted[batch.ProducerID] = batch.ProducerEpoch
		return false
	case batch.ProducerEpoch > epoch:
		// The producer was initialised again, which ends what it left open. It
		// matters where the ABORT marker is missing: a broker that was killed
		// between the two may have lost it.
		delete(f.aborted, batch.ProducerID)
		return true
	}
	return false
}
