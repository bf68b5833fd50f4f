package crash

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"testing"

	"millrace/tests/kafka/reader"
)

func readAll(ctx context.Context, t *testing.T, brokers []string, topic string) []reader.Record {
	t.Helper()
	records, err := reader.ReadAll(ctx, brokers, topic)
	if err != nil {
		t.Fatalf("read %s: %v", topic, err)
	}
	return records
}

func plainKey(key []byte) string { return string(key) }

// windowedKey is the key with its window's start behind it, 8 bytes big-endian.
func windowedKey(key []byte) string {
	n := len(key) - 8
	start := int64(0)
	for _, b := range key[n:] {
		start = start<<8 | int64(b)
	}
	return string(key[:n]) + "@" + strconv.FormatInt(start, 10)
}

// sessionKey is the key with its session's end and start behind it.
func sessionKey(key []byte) string {
	n := len(key) - 8
	return windowedKey(key[:n]) + windowedKey(key[n:])
}

// lastValues is a table's content: the last value of each key that is not null.
func lastValues[T any](t *testing.T, records []reader.Record, key func([]byte) string) map[string]T {
	t.Helper()
	out := map[string]T{}
	for _, r := range records {
		if r.Value == nil {
			delete(out, key(r.Key))
			continue
		}
		var row T
		if err := json.Unmarshal(r.Value, &row); err != nil {
			t.Fatalf("offset %d: %v", r.Offset, err)
		}
		out[key(r.Key)] = row
	}
	return out
}

func compareTables[T comparable](t *testing.T, name string, got, want map[string]T) {
	t.Helper()
	wrong := 0
	for key, expected := range want {
		if got[key] != expected {
			if wrong++; wrong <= 3 {
				t.Errorf("%s of %s is %+v, want %+v", name, key, got[key], expected)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has %d rows, want %d", name, len(got), len(want))
	}
}

// compareOnce wants each key once, with its value, and no other.
func compareOnce[T comparable](t *testing.T, name string, records []reader.Record, key func([]byte) string, want map[string]T) {
	t.Helper()
	seen := map[string]bool{}
	again := 0
	for _, r := range records {
		if !seen[key(r.Key)] && r.Value != nil {
			seen[key(r.Key)] = true
			continue
		}
		if again++; again <= 3 {
			t.Errorf("%s: partition %d, offset %d: %s is there again, with %s", name, r.Partition, r.Offset, key(r.Key), r.Value)
		}
	}
	compareTables(t, name, lastValues[T](t, records, key), want)
}

// numberKey is a BIGINT key as text.
func numberKey(key []byte) string { return strconv.FormatInt(int64(binary.BigEndian.Uint64(key)), 10) }
