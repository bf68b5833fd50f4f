package kafkaio

import "encoding/binary"

// PartitionFor is the partition that Kafka's default partitioner gives a key:
// murmur2 of its bytes, made positive, modulo the number of partitions, which
// must be positive. Every client that follows it puts equal keys together.
func PartitionFor(key []byte, partitions int) int32 {
	return int32(murmur2(key)&0x7fffffff) % int32(partitions)
}

// murmur2 is the variant of Kafka's Java client (seed 0x9747b28c).
func murmur2(data []byte) uint32 {
	const (
		seed     = 0x9747b28c
		multiply = 0x5bd1e995
		shift    = 24
	)
	hash := uint32(seed) ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		word := binary.LittleEndian.Uint32(data) * multiply
		word ^= word >> shift
		hash = hash*multiply ^ word*multiply
	}
	switch len(data) {
	case 3:
		hash ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		hash ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		hash = (hash ^ uint32(data[0])) * multiply
	}
	hash = (hash ^ hash>>13) * multiply
	return hash ^ hash>>15
}
