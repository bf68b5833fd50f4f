package format

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"millrace/kafkaio/registry"
)

// pathOf is the path of a message of n numbers 0 behind a schema's id.
func pathOf(n int) []byte {
	payload := appendSchemaHeader(nil, 1)
	payload = protowire.AppendVarint(payload, protowire.EncodeZigZag(int64(n)))
	return append(payload, make([]byte, max(n, 0))...)
}

func TestProtobufHeader(t *testing.T) {
	number := func(n int64) []byte {
		return protowire.AppendVarint(pathOf(1)[:schemaHeader+1], protowire.EncodeZigZag(n))
	}
	valid := [][]byte{pathOf(0), pathOf(1), pathOf(maxMessagePath), number(1<<31 - 1)}
	for _, header := range valid {
		id, size, err := protobufHeader(append(bytes.Clone(header), "message"...))
		if id != 1 || size != len(header) || err != nil {
			t.Errorf("%x: id %d, %d bytes, %v", header, id, size, err)
		}
	}
	invalid := [][]byte{
		nil,
		{0, 0, 0},
		{1, 0, 0, 0, 1, 0},
		pathOf(0)[:schemaHeader], pathOf(2)[:schemaHeader+2],
		pathOf(-1), pathOf(maxMessagePath + 1), pathOf(100_000), number(-1), number(1 << 31),
		append(pathOf(0)[:schemaHeader], bytes.Repeat([]byte{0xFF}, 20)...),
	}
	for _, header := range invalid {
		if _, _, err := protobufHeader(header); err == nil {
			t.Errorf("%.20x is accepted", header)
		}
	}
}

// TestProtobufWritersAreBounded holds what is kept of many schemas, and of many
// paths in one.
func TestProtobufWritersAreBounded(t *testing.T) {
	var writers protobufWriters[int]
	put := func(n int, path []byte, schema registry.Schema) {
		writers.keep(int32(n), path, n, schema)
		if got, ok := writers.find(int32(n), path); !ok || got != n {
			t.Fatalf("writer %d is not kept", n)
		}
		size := 0
		for writer := range writers.kept {
			size += len(writer.path) + textBytes(schema)
		}
		if size > maxWriterBytes || len(writers.kept) > maxWriterBytes/writerBytes {
			t.Fatalf("%d writers of %d bytes are kept", len(writers.kept), size)
		}
	}
	long := registry.Schema{Text: strings.Repeat("x", 300_000), References: []registry.Reference{{Text: strings.Repeat("x", 200_000)}}}
	for n := range 10 {
		put(n, []byte{0}, long)
	}
	if len(writers.kept) < 2 {
		t.Errorf("only %d large schemas are kept", len(writers.kept))
	}
	for n := range 10_000 {
		put(n, fmt.Append(nil, n), registry.Schema{})
	}
}
