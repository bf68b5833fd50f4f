package kafkaio

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
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
	for i := range b.Count {
		rest, ok := b.appendRecord(records, from, encoded)
		if !ok {
			records.truncate(before)
			return arena, fmt.Errorf("%w: batch at offset %d, record %d", ErrCorrupt, b.BaseOffset, i)
		}
		encoded = rest
	}
	return arena, nil
}

func (b *Batch) appendRecord(records *Records, from int64, encoded []byte) (rest []byte, ok bool) {
	size, encoded, ok := takeVarint(encoded)
	if !ok || size < minRecordBytes-1 || size > int64(len(encoded)) {
		return nil, false
	}
	record, rest := encoded[1:size], encoded[size:]
	timestampDelta, record, ok := takeVarint(record)
	if !ok {
		return nil, false
	}
	offsetDelta, record, ok := takeVarint(record)
	if !ok || offsetDelta < 0 || offsetDelta > int64(b.LastOffsetDelta) {
		return nil, false
	}
	key, record, ok := takeBytes(record)
	if !ok {
		return nil, false
	}
	value, record, ok := takeBytes(record)
	if !ok || len(record) == 0 {
		return nil, false
	}
	offset := b.BaseOffset + offsetDelta
	if offset < from {
		return rest, true
	}
	if len(record) == 1 && record[0] == 0 {
		record = nil
	}
	timestamp := b.BaseTimestamp + timestampDelta
	if b.attributes&flagLogTime != 0 {
		timestamp = b.MaxTimestamp
	}
	records.Append(offset, timestamp, key, value, record)
	return rest, true
}

// Marker reads a control batch: commit tells how the transaction ended, ok is
// false for control records of other kinds.
func (b *Batch) Marker() (commit, ok bool) {
	var records Records
	if !b.Control() || b.Compression() != NoCompression || b.Count < 1 {
		return false, false
	}
	if _, decoded := b.appendRecord(&records, 0, b.Records); !decoded || len(records.Keys[0]) < 4 {
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

// takeVarint is binary.Varint with a fast path for one and two bytes, which
// nearly every length and delta of a record needs.
func takeVarint(encoded []byte) (value int64, rest []byte, ok bool) {
	if len(encoded) > 1 {
		if first := encoded[0]; first < 0x80 {
			return int64(first>>1) ^ -int64(first&1), encoded[1:], true
		} else if second := encoded[1]; second < 0x80 {
			raw := uint64(first&0x7f) | uint64(second)<<7
			return int64(raw>>1) ^ -int64(raw&1), encoded[2:], true
		}
	}
	value, length := binary.Varint(encoded)
	if length <= 0 {
		return 0, nil, false
	}
	return value, encoded[length:], true
}

// takeBytes reads a length and as many bytes; a negative length is null.
func takeBytes(encoded []byte) (value, rest []byte, ok bool) {
	length, encoded, ok := takeVarint(encoded)
	if !ok || length > int64(len(encoded)) {
		return nil, nil, false
	}
	if length < 0 {
		return nil, encoded, true
	}
	return encoded[:length:length], encoded[length:], true
}
