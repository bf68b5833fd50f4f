package kafkaio

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// BatchEncoder builds record batches in buffers that it reuses. The zero value
// is ready for a batch without compression. It is not safe for concurrent use.
type BatchEncoder struct {
	buf           []byte // header and records
	compressed    []byte // header and compressed records
	count         int32
	baseTimestamp int64
	maxTimestamp  int64
}

// BatchProducer says who writes a batch. A producer without idempotence has ID
// and Epoch -1.
type BatchProducer struct {
	ID            int64
	Epoch         int16
	BaseSequence  int32
	Transactional bool
}

// Reset drops the records and keeps the buffers.
func (e *BatchEncoder) Reset() {
	e.buf = e.buf[:0]
	e.count = 0
}

// Grow makes room for a batch of the size, not compressed.
func (e *BatchEncoder) Grow(size int) {
	if size > cap(e.buf) {
		e.buf = slices.Grow(e.buf, size-len(e.buf))
	}
}

// Len is the size of the batch so far, not compressed.
func (e *BatchEncoder) Len() int { return max(len(e.buf), batchOverhead) }

// Capacity is what the encoder's buffers hold, for pools that bound memory.
func (e *BatchEncoder) Capacity() int { return cap(e.buf) + cap(e.compressed) }

// Count is the number of records so far.
func (e *BatchEncoder) Count() int32 { return e.count }

// RecordSize bounds what Append adds to Len for a record.
func RecordSize(key, value, headers []byte) int {
	return 36 + len(key) + len(value) + len(headers)
}

// Append adds a record. A nil key or value is null; headers is an encoded block
// (see AppendHeaders), where empty means none.
func (e *BatchEncoder) Append(timestamp int64, key, value, headers []byte) {
	if e.count == 0 {
		e.begin(timestamp)
	}
	e.maxTimestamp = max(e.maxTimestamp, timestamp)
	if len(headers) == 0 {
		headers = noHeaders
	}
	timestampDelta := timestamp - e.baseTimestamp
	size := 1 + varintSize(timestampDelta) + varintSize(int64(e.count)) +
		bytesSize(key) + bytesSize(value) + len(headers)
	buf := appendVarint(e.buf, int64(size))
	buf = append(buf, 0)
	buf = appendVarint(buf, timestampDelta)
	buf = appendVarint(buf, int64(e.count))
	buf = appendBytes(buf, key)
	buf = appendBytes(buf, value)
	e.buf = append(buf, headers...)
	e.count++
}

var noHeaders = []byte{0}

func (e *BatchEncoder) begin(timestamp int64) {
	if cap(e.buf) < batchOverhead {
		e.buf = make([]byte, batchOverhead, 4096)
	}
	e.buf = e.buf[:batchOverhead]
	e.baseTimestamp, e.maxTimestamp = timestamp, timestamp
}

// Finish completes the batch, which must hold a record. The result points into
// the encoder and is valid until the next Append or Reset.
func (e *BatchEncoder) Finish(codec Compression, producer BatchProducer) ([]byte, error) {
	batch := e.buf
	if codec != NoCompression {
		var err error
		e.compressed = append(e.compressed[:0], e.buf[:batchOverhead]...)
		if e.compressed, err = codec.Compress(e.compressed, e.buf[batchOverhead:]); err != nil {
			return nil, err
		}
		batch = e.compressed
	}
	attributes := uint16(codec)
	if producer.Transactional {
		attributes |= flagTransaction
	}
	if producer.ID < 0 {
		producer.BaseSequence = -1
	}
	order := binary.BigEndian
	order.PutUint64(batch, 0)
	order.PutUint32(batch[8:], uint32(len(batch)-batchLengthEnd))
	order.PutUint32(batch[12:], ^uint32(0)) // leader epoch, the broker's to set
	batch[batchMagicAt] = 2
	order.PutUint16(batch[21:], attributes)
	order.PutUint32(batch[23:], uint32(e.count-1))
	order.PutUint64(batch[27:], uint64(e.baseTimestamp))
	order.PutUint64(batch[35:], uint64(e.maxTimestamp))
	order.PutUint64(batch[43:], uint64(producer.ID))
	order.PutUint16(batch[51:], uint16(producer.Epoch))
	order.PutUint32(batch[53:], uint32(producer.BaseSequence))
	order.PutUint32(batch[57:], uint32(e.count))
	order.PutUint32(batch[17:], crc32.Checksum(batch[batchCRCEnd:], castagnoli))
	return batch, nil
}

func varintSize(value int64) int {
	zigzag := uint64(value<<1) ^ uint64(value>>63)
	return (bits.Len64(zigzag|1) + 6) / 7
}

func bytesSize(value []byte) int {
	if value == nil {
		return 1
	}
	return varintSize(int64(len(value))) + len(value)
}

func appendVarint(dst []byte, value int64) []byte {
	if zigzag := uint64(value<<1) ^ uint64(value>>63); zigzag < 0x80 {
		return append(dst, byte(zigzag))
	}
	return binary.AppendVarint(dst, value)
}

func appendBytes(dst, value []byte) []byte {
	if value == nil {
		return append(dst, 1) // the varint of -1
	}
	dst = appendVarint(dst, int64(len(value)))
	return append(dst, value...)
}
