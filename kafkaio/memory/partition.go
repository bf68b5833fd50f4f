package memory

import "sort"

// partition keeps its records as parallel slices, the form in which a Fetcher
// hands them out: runs are windows of these slices. Elements never change after
// they are appended.
type partition struct {
	base       int64 // offset of the first element
	start      int64 // first offset that may be read, >= base
	offsets    []int64
	timestamps []int64
	keys       [][]byte
	values     [][]byte
	headers    [][]byte

	spans []span // by first offset; they cover all elements
	open  []span // the first span of each open transaction
	arena []byte // unused rest of the chunk that holds keys, values and headers
	chunk int    // size of the last chunk
}

// span says that the records from first to the next span belong to a transaction.
type span struct {
	first       int64
	transaction *transaction
}

const (
	firstChunk = 4 << 10
	lastChunk  = 1 << 20
)

// end is the offset of the next record, the high watermark.
func (p *partition) end() int64 { return p.base + int64(len(p.offsets)) }

// stable is the last stable offset: where the first open transaction begins.
func (p *partition) stable() int64 {
	stable := p.end()
	for _, s := range p.open {
		stable = min(stable, s.first)
	}
	return max(stable, p.start)
}

func (p *partition) append(t *transaction, timestamp int64, key, value, headers []byte) {
	offset := p.end()
	if len(p.spans) == 0 || p.spans[len(p.spans)-1].transaction != t {
		p.spans = append(p.spans, span{offset, t})
		if t.join(p) {
			p.open = append(p.open, span{offset, t})
		}
	}
	p.offsets = append(p.offsets, offset)
	p.timestamps = append(p.timestamps, timestamp)
	p.keys = append(p.keys, p.copy(key))
	p.values = append(p.values, p.copy(value))
	if len(headers) == 0 {
		headers = nil
	}
	p.headers = append(p.headers, p.copy(headers))
}

// copy keeps nil apart from empty, as null is apart from empty.
func (p *partition) copy(data []byte) []byte {
	if data == nil {
		return nil
	}
	if p.arena == nil || len(data) > cap(p.arena)-len(p.arena) {
		p.chunk = min(max(firstChunk, 2*p.chunk), lastChunk)
		p.arena = make([]byte, 0, max(p.chunk, len(data)))
	}
	start := len(p.arena)
	p.arena = append(p.arena, data...)
	return p.arena[start:len(p.arena):len(p.arena)]
}

// closed takes a transaction that has ended off the open ones.
func (p *partition) closed(t *transaction) {
	for i, s := range p.open {
		if s.transaction == t {
			p.open = append(p.open[:i], p.open[i+1:]...)
			return
		}
	}
}

// spanAt is the index of the span that holds the offset.
func (p *partition) spanAt(offset int64) int {
	return sort.Search(len(p.spans), func(i int) bool { return p.spans[i].first > offset }) - 1
}

// spanEnd is the offset after the span's last record.
func (p *partition) spanEnd(index int) int64 {
	if index+1 < len(p.spans) {
		return p.spans[index+1].first
	}
	return p.end()
}

func (p *partition) deleteBefore(offset int64) {
	if offset <= p.start {
		return
	}
	n := int(offset - p.base)
	p.start, p.base = offset, offset
	p.offsets = p.offsets[n:]
	p.timestamps = p.timestamps[n:]
	p.keys = p.keys[n:]
	p.values = p.values[n:]
	p.headers = p.headers[n:]
	if i := p.spanAt(offset); i > 0 {
		p.spans = p.spans[i:]
	}
}
