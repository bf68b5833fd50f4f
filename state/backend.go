package state

// Backend is the byte store below a task: the port that state/badger and
// state/memory implement and state/conformance checks. Keys and values are any
// bytes, keys are not empty; order is that of bytes.
//
// One goroutine writes while another reads. Slices handed to a callback are
// valid until it returns; those handed to the backend are not kept.
type Backend interface {
	// Get calls yield with the number and value of each key that exists, in the
	// order of keys, all as of one moment. An error of yield ends it and is
	// returned.
	Get(keys [][]byte, yield func(n int, value []byte) error) error
	// Range calls yield with each key from (inclusive) to (exclusive; nil: no
	// end), ascending, as of one moment. It ends early when yield returns false
	// or an error, which is returned.
	Range(from, to []byte, yield func(key, value []byte) (bool, error)) error
	// Write applies the operations of a batch in their order. When it returns,
	// all can be read. A crash, or an error, may leave any part of it done.
	Write(b *Batch) error
	// Close ends the use of the backend and leaves all writes in its files. It
	// is called once.
	Close() error
}

// Batch is a list of puts and deletes. The zero value is empty.
type Batch struct {
	content    []byte
	operations []operation
}

type operation struct {
	start, value, end int // of key and value in content
	deleted           bool
}

// Put adds a put of copies of key and value.
func (b *Batch) Put(key, value []byte) {
	start := len(b.content)
	b.content = append(append(b.content, key...), value...)
	b.operations = append(b.operations, operation{start: start, value: start + len(key), end: len(b.content)})
}

// Delete adds a delete of a copy of key.
func (b *Batch) Delete(key []byte) {
	start := len(b.content)
	b.content = append(b.content, key...)
	b.operations = append(b.operations, operation{start: start, value: len(b.content), end: len(b.content), deleted: true})
}

// Len is the number of operations.
func (b *Batch) Len() int { return len(b.operations) }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.content, b.operations = b.content[:0], b.operations[:0] }

// Each calls apply with the operations in order, until an error, which it
// returns. Key and value are valid until Reset and must not be changed.
func (b *Batch) Each(apply func(key, value []byte, deleted bool) error) error {
	for _, o := range b.operations {
		if err := apply(b.content[o.start:o.value:o.value], b.content[o.value:o.end:o.end], o.deleted); err != nil {
			return err
		}
	}
	return nil
}
