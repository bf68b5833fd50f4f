package format

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"millrace/exec/column"
	"millrace/kafkaio/registry"
)

// maxMessagePath is how many numbers the path of a message may have, one more
// than Protobuf's compilers let messages nest.
const maxMessagePath = maxProtobufDepth + 1

// maxWriterBytes bounds what is kept of schemas that payloads name, in bytes of
// their texts; what is compiled of them takes some tens of times as much.
const maxWriterBytes = 2 << 20

// writerBytes is what is counted for a writer besides its texts.
const writerBytes = 256

// protobufWriter is what a payload was written with: a schema and the bytes of
// the path of a message in it.
type protobufWriter struct {
	id   int32
	path string
}

// protobufWriters keeps what was made of schemas by their writers. The zero value
// is ready for use.
type protobufWriters[T any] struct {
	kept map[protobufWriter]T
	size int // of the schemas' texts and paths
}

func (w *protobufWriters[T]) find(id int32, path []byte) (T, bool) {
	value, ok := w.kept[protobufWriter{id, column.View(path)}]
	return value, ok
}

// keep remembers a value that was made of a schema. Where too much is kept all
// else is forgotten, to be made again when it is needed.
func (w *protobufWriters[T]) keep(id int32, path []byte, value T, schema registry.Schema) {
	size := writerBytes + len(path) + textBytes(schema)
	if w.kept == nil || w.size+size > maxWriterBytes {
		w.kept, w.size = map[protobufWriter]T{}, 0
	}
	w.kept[protobufWriter{id, string(path)}] = value
	w.size += size
}

// textBytes is the length of the texts of a schema and its references.
func textBytes(schema registry.Schema) int {
	size := len(schema.Text)
	for _, reference := range schema.References {
		size += len(reference.Text)
	}
	return size
}

// protobufHeader reads what stands before a message: the schema's id, and how
// many bytes all take with the path of the message.
func protobufHeader(payload []byte) (id int32, size int, err error) {
	id, reason := schemaID(payload)
	if reason != "" {
		return 0, 0, &RecordError{Reason: reason}
	}
	count, n := protowire.ConsumeVarint(payload[schemaHeader:])
	numbers := protowire.DecodeZigZag(count)
	if n < 0 || numbers < 0 || numbers > maxMessagePath {
		return 0, 0, errMessagePath
	}
	size = schemaHeader + n
	for range numbers {
		number, n := protowire.ConsumeVarint(payload[size:])
		if at := protowire.DecodeZigZag(number); n < 0 || at < 0 || at > math.MaxInt32 {
			return 0, 0, errMessagePath
		}
		size += n
	}
	return id, size, nil
}

var errMessagePath = &RecordError{Reason: "the path of the message in the schema is not valid"}

// messageOf compiles a schema and finds the message of an encoded path.
func messageOf(schema registry.Schema, path []byte) (protoreflect.MessageDescriptor, error) {
	file, err := parseProtobuf(schema)
	if err != nil {
		return nil, err
	}
	return messageAt(file, pathNumbers(path))
}

// pathNumbers are those of an encoded path that protobufHeader has accepted. No
// numbers at all are the first message.
func pathNumbers(path []byte) []int {
	_, n := protowire.ConsumeVarint(path)
	var numbers []int
	for path = path[n:]; len(path) > 0; path = path[n:] {
		var number uint64
		number, n = protowire.ConsumeVarint(path)
		numbers = append(numbers, int(protowire.DecodeZigZag(number)))
	}
	if len(numbers) == 0 {
		return []int{0}
	}
	return numbers
}

// appendMessagePath appends the path of a message as it stands in payloads.
func appendMessagePath(dst []byte, path []int) []byte {
	if len(path) == 1 && path[0] == 0 {
		return append(dst, 0)
	}
	dst = protowire.AppendVarint(dst, protowire.EncodeZigZag(int64(len(path))))
	for _, number := range path {
		dst = protowire.AppendVarint(dst, protowire.EncodeZigZag(int64(number)))
	}
	return dst
}
