package embedded

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The header of a record batch, format version 2: see the Kafka protocol
// guide, "Record Batch". The CRC covers the bytes from the attributes on.
const (
	batchHeaderSize   = 61
	batchLengthEnd    = 12 // the length field counts the bytes behind it
	batchChecksumAt   = 17
	batchChecksumFrom = 21

	attributeTransactional = 0x10
	attributeControl       = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batchHeader is what repair needs of a stored batch.
type batchHeader struct {
	baseOffset    int64
	size          int // of the whole batch in bytes
	leaderEpoch   int32
	attributes    int16
	lastDelta     int32
	producer      int64
	producerEpoch int16
	baseSequence  int32
	records       int32
}

func (h *batchHeader) control() bool       { return h.attributes&attributeControl != 0 }
func (h *batchHeader) transactional() bool { return h.attributes&attributeTransactional != 0 }
func (h *batchHeader) nextOffset() int64   { return h.baseOffset + int64(h.lastDelta) + 1 }

// batchSize reads the size of the batch that starts with raw, at least
// batchLengthEnd bytes. It is false where no batch can start so.
func batchSize(raw []byte) (int, bool) {
	length := int64(binary.BigEndian.Uint32(raw[batchLengthEnd-4:]))
	size := length + batchLengthEnd
	return int(size), size >= batchHeaderSize && length < 1<<30
}

// parseBatch reads the header of one whole batch and checks its CRC.
func parseBatch(raw []byte) (batchHeader, bool) {
	if len(raw) < batchHeaderSize || raw[16] != 2 {
		return batchHeader{}, false
	}
	if crc32.Checksum(raw[batchChecksumFrom:], castagnoli) != binary.BigEndian.Uint32(raw[batchChecksumAt:]) {
		return batchHeader{}, false
	}
	h := batchHeader{
		baseOffset:    int64(binary.BigEndian.Uint64(raw)),
		size:          len(raw),
		leaderEpoch:   int32(binary.BigEndian.Uint32(raw[12:])),
		attributes:    int16(binary.BigEndian.Uint16(raw[21:])),
		lastDelta:     int32(binary.BigEndian.Uint32(raw[23:])),
		producer:      int64(binary.BigEndian.Uint64(raw[43:])),
		producerEpoch: int16(binary.BigEndian.Uint16(raw[51:])),
		baseSequence:  int32(binary.BigEndian.Uint32(raw[53:])),
		records:       int32(binary.BigEndian.Uint32(raw[57:])),
	}
	return h, h.baseOffset >= 0 && h.lastDelta >= 0
}

// markerBatch encodes the control batch that ends a transaction.
func markerBatch(offset int64, leaderEpoch int32, producer int64, epoch int16, commit bool, at time.Time) []byte {
	key := kmsg.ControlRecordKey{Type: kmsg.ControlRecordKeyTypeAbort}
	if commit {
		key.Type = kmsg.ControlRecordKeyTypeCommit
	}
	record := kmsg.Record{Key: key.AppendTo(nil), Value: new(kmsg.EndTxnMarker).AppendTo(nil)}
	record.Length = int32(len(record.AppendTo(nil)) - 1) // a varint of one byte at this size
	batch := kmsg.RecordBatch{
		FirstOffset:          offset,
		PartitionLeaderEpoch: leaderEpoch,
		Magic:                2,
		Attributes:           attributeControl | attributeTransactional,
		FirstTimestamp:       at.UnixMilli(),
		MaxTimestamp:         at.UnixMilli(),
		ProducerID:           producer,
		ProducerEpoch:        epoch,
		FirstSequence:        -1,
		NumRecords:           1,
		Records:              record.AppendTo(nil),
	}
	return sealed(batch.AppendTo(nil))
}

// sealed fills in the length and the CRC of an encoded batch.
func sealed(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[batchLengthEnd-4:], uint32(len(raw)-batchLengthEnd))
	binary.BigEndian.PutUint32(raw[batchChecksumAt:], crc32.Checksum(raw[batchChecksumFrom:], castagnoli))
	return raw
}
