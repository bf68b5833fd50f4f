package kafkaio

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Layout of a record batch of format 2, the only one that brokers have written
// since Kafka 0.11 (Kafka's documentation, "Record Batch").
const (
	batchOverhead   = 61 // header: base offset up to and with the record count
	batchLengthEnd  = 12 // the batch length counts what follows it
	batchCRCEnd     = 21 // the CRC covers what follows it
	batchMagicAt    = 16
	minRecordBytes  = 7 // length, attributes, two deltas, two null lengths, header count
	codecMask       = 0x07
	flagLogTime     = 0x08
	flagTransaction = 0x10
	flagControl     = 0x20
)

// Batch is the header of a record batch; Records is the encoded, maybe
// compressed, rest. It points into the set that NextBatch was given.
type Batch struct {
	BaseOffset      int64
	LastOffsetDelta int32
	BaseTimestamp   int64
	MaxTimestamp    int64
	ProducerID      int64
	ProducerEpoch   int16
	BaseSequence    int32
	Count           int32
	Records         []byte

	attributes uint16
}

// Transactional tells whether a transaction's end decides on the records.
func (b *Batch) Transactional() bool { return b.attributes&flagTransaction != 0 }

// Control tells a transaction's marker from records.
func (b *Batch) Control() bool { return b.attributes&flagControl != 0 }

// Compression is the codec of Records.
func (b *Batch) Compression() Compression { return Compression(b.attributes & codecMask) }

// LastOffset is the offset of the batch's last record, also when compaction
// has removed it.
func (b *Batch) LastOffset() int64 { return b.BaseOffset + int64(b.LastOffsetDelta) }

// BatchLength gives the whole length of the batch that begins set, which may
// be more than set holds; 0 when set is too short to tell.
func BatchLength(set []byte) int {
	if len(set) < batchLengthEnd {
		return 0
	}
	return batchLengthEnd + int(int32(binary.BigEndian.Uint32(set[8:])))
}

// NextBatch reads the batch that begins set and returns what follows it. A
// batch that is cut short, as brokers do at the end of a fetch, gives complete
// false without an error.
func NextBatch(set []byte, batch *Batch) (rest []byte, complete bool, err error) {
	length := BatchLength(set)
	if length == 0 {
		return nil, false, nil
	}
	if length < batchOverhead {
		return nil, false, fmt.Errorf("%w: batch length %d", ErrCorrupt, length)
	}
	if length > len(set) {
		return nil, false, nil
	}
	if magic := set[batchMagicAt]; magic != 2 {
		return nil, false, fmt.Errorf("%w: message format %d, only 2 is supported", ErrCorrupt, magic)
	}
	order := binary.BigEndian
	if sum := crc32.Checksum(set[batchCRCEnd:length], castagnoli); sum != order.Uint32(set[17:]) {
		return nil, false, fmt.Errorf("%w: checksum %08x, expected %08x", ErrCorrupt, sum, order.Uint32(set[17:]))
	}
	*batch = Batch{
		BaseOffset:      int64(order.Uint64(set)),
		attributes:      order.Uint16(set[21:]),
		LastOffsetDelta: int32(order.Uint32(set[23:])),
		BaseTimestamp:   int64(order.Uint64(set[27:])),
		MaxTimestamp:    int64(order.Uint64(set[35:])),
		ProducerID:      int64(order.Uint64(set[43:])),
		ProducerEpoch:   int16(order.Uint16(set[51:])),
		BaseSequence:    int32(order.Uint32(set[53:])),
		Count:           int32(order.Uint32(set[57:])),
		Records:         set[batchOverhead:length:length],
	}
	if batch.BaseOffset < 0 || batch.LastOffsetDelta < 0 {
		return nil, false, fmt.Errorf("%w: base offset %d, last offset delta %d", ErrCorrupt, batch.BaseOffset, batch.LastOffsetDelta)
	}
	return set[length:], true, nil
}

// AppendTo decodes the batch's records from the offset on and appends them to
// records, whose keys, values and headers then point into the batch or, if it
// is compressed, into arena. Decompressed bytes are appended to arena, which is
// returned and must live as long as records. On an error records is unchanged.
func (b *Batch) AppendTo(records *Records, from int64, arena []byte) ([]byte, error) {
	encoded := b.Records
	if codec := b.Compression(); codec != NoCompression {
		start := len(arena)
		var err error
		if arena, err = codec.Decompress(arena, encoded); err != nil {
			return arena, fmt.Errorf("batch at offset %d: %w", b.BaseOffset, err)
		}
		encoded = arena[start:]
	}
	if b.Count < 0 || int(b.Count) > len(encoded)/minRecordBytes {
		return arena, fmt.Errorf("%w: batch at offset %d: %d records in %d bytes", ErrCorrupt, b.BaseOffset, b.Count, len(encoded))
	}
	before := records.Len()
	records.grow(int(b.Count))
	at := 0
	for i := range b.Count {
		if at = b.appendRecord(records, from, encoded, at); at < 0 {
			records.truncate(before)
			return arena, fmt.Errorf("%w: batch at offset %d, record %d", ErrCorrupt, b.BaseOffset, i)
		}
	}
	return arena, nil
}

// appendRecord decodes the record at a position and gives the next one's, -1
// for bytes that are no record. Positions only grow and a fault puts them
// behind the end, so that one check after several fields is enough.
func (b *Batch) appendRecord(records *Records, from int64, data []byte, at int) int {
	size, at := varintAt(data, at)
	if size < minRecordBytes-1 || size > int64(len(data)-at) {
		return -1
	}
	end := at + int(size)
	data = data[:end:end]
	timestampDelta, at := varintAt(data, at+1)
	offsetDelta, at := varintAt(data, at)
	keyLength, at := varintAt(data, at)
	if offsetDelta < 0 || offsetDelta > int64(b.LastOffsetDelta) || keyLength > int64(end-at) {
		return -1
	}
	var key, value, headers []byte
	if keyLength >= 0 {
		key = data[at : at+int(keyLength) : at+int(keyLength)]
		at += int(keyLength)
	}
	valueLength, at := varintAt(data, at)
	if valueLength > int64(end-at) {
		return -1
	}
	if valueLength >= 0 {
		value = data[at : at+int(valueLength) : at+int(valueLength)]
		at += int(valueLength)
	}
	if at >= end {
		return -1
	}
	if data[at] != 0 || at+1 < end {
		headers = data[at:end:end]
	}
	if offset := b.BaseOffset + offsetDelta; offset >= from {
		timestamp := b.BaseTimestamp + timestampDelta
		if b.attributes&flagLogTime != 0 {
			timestamp = b.MaxTimestamp
		}
		records.Append(offset, timestamp, key, value, headers)
	}
	return end
}

// Marker reads a control batch: commit tells how the transaction ended, ok is
// false for control records of other kinds.
func (b *Batch) Marker() (commit, ok bool) {
	var records Records
	if !b.Control() || b.Compression() != NoCompression || b.Count < 1 {
		return false, false
	}
	if b.appendRecord(&records, 0, b.Records, 0) < 0 || len(records.Keys[0]) < 4 {
		return false, false
	}
	switch binary.BigEndian.Uint16(records.Keys[0][2:]) {
	case 0:
		return false, true
	case 1:
		return true, true
	}
	return false, false
}

// Append adds one record to the run, keeping the slices that it is given.
func (r *Records) Append(offset, timestamp int64, key, value, headers []byte) {
	r.Offsets = append(r.Offsets, offset)
	r.Timestamps = append(r.Timestamps, timestamp)
	r.Keys = append(r.Keys, key)
	r.Values = append(r.Values, value)
	r.Headers = append(r.Headers, headers)
}

func (r *Records) truncate(length int) {
	r.Offsets = r.Offsets[:length]
	r.Timestamps = r.Timestamps[:length]
	r.Keys = r.Keys[:length]
	r.Values = r.Values[:length]
	r.Headers = r.Headers[:length]
}

// grow makes room for more records.
func (r *Records) grow(count int) {
	r.Offsets = slices.Grow(r.Offsets, count)
	r.Timestamps = slices.Grow(r.Timestamps, count)
	r.Keys = slices.Grow(r.Keys, count)
	r.Values = slices.Grow(r.Values, count)
	r.Headers = slices.Grow(r.Headers, count)
}

// varintAt reads the varint at a position and gives the position after it,
// which is behind the end of data where there is none. Nearly every length and
// delta of a record has one to three bytes.
func varintAt(data []byte, at int) (value int64, next int) {
	if at+2 >= len(data) {
		return longVarintAt(data, at)
	}
	three := data[at : at+3]
	raw := uint32(three[0])
	if raw >= 0x80 {
		raw = raw&0x7f | uint32(three[1])<<7
		at++
		if raw >= 0x80<<7 {
			raw = raw&(0x80<<7-1) | uint32(three[2])<<14
			at++
			if raw >= 0x80<<14 {
				return longVarintAt(data, at-2)
			}
		}
	}
	return int64(raw>>1) ^ -int64(raw&1), at + 1
}

func longVarintAt(data []byte, at int) (value int64, next int) {
	if at < len(data) {
		value, length := binary.Varint(data[at:])
		if length > 0 {
			return value, at + length
		}
	}
	return 0, len(data) + 1
}
