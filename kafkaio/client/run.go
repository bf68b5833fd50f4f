package client

import (
	"sync"
	"sync/atomic"

	"millrace/kafkaio"
)

// largestPooled is the capacity over which buffers are left to the garbage
// collector, lest one large answer keep its memory for ever.
const largestPooled = 40 << 20

// buffer holds a fetch answer, to which the runs of several partitions point.
type buffer struct {
	bytes []byte
	users atomic.Int32
}

var buffers = sync.Pool{New: func() any { return &buffer{bytes: make([]byte, 0, 64<<10)} }}

func takeBuffer() *buffer { return buffers.Get().(*buffer) }

// done is called once by each user; the last one returns the buffer.
func (b *buffer) done() {
	if b.users.Add(-1) == 0 && cap(b.bytes) <= largestPooled {
		buffers.Put(b)
	}
}

// run is a kafkaio.Records with what it lives from.
type run struct {
	kafkaio.Records
	fetcher *fetcher
	state   *fetchState
	buffer  *buffer
	arena   []byte // decompressed records
	size    int64
	free    func(*kafkaio.Records) // release as a value, made once
}

var runs = sync.Pool{New: func() any { return &run{} }}

func takeRun() *run {
	r := runs.Get().(*run)
	if r.free == nil {
		r.free = func(*kafkaio.Records) { r.release() }
	}
	return r
}

// hold counts the run against the limits until it is released. The size is that
// of its batches in the answer.
func (r *run) hold(f *fetcher, s *fetchState, b *buffer, size int) {
	r.fetcher, r.state, r.buffer = f, s, b
	r.OnRelease(r.free)
	if r.Len() == 0 {
		r.size = 0
		return
	}
	r.size = int64(size + len(r.arena))
	b.users.Add(1)
	f.held.Add(r.size)
	s.held.Add(r.size)
}

func (r *run) release() {
	if r.size > 0 {
		f := r.fetcher
		f.held.Add(-r.size)
		r.state.held.Add(-r.size)
		r.buffer.done()
		f.released()
	}
	r.discard()
}

// discard returns the run to the pool.
func (r *run) discard() {
	r.fetcher, r.state, r.buffer, r.size = nil, nil, nil, 0
	r.Offsets = r.Offsets[:0]
	r.Timestamps = r.Timestamps[:0]
	r.Keys = r.Keys[:0]
	r.Values = r.Values[:0]
	r.Headers = r.Headers[:0]
	r.arena = r.arena[:0]
	if cap(r.arena) > largestPooled {
		r.arena = nil
	}
	runs.Put(r)
}
