package task

import (
	"encoding/binary"

	"millrace/planner/catalog"
)

// A windowed key is the key's bytes with the window behind them, as Kafka
// Streams writes it: the start for windows of a fixed size, end and start for
// sessions, each 8 bytes big-endian, in ms.

// windowBytes is how many bytes the window takes.
func windowBytes(window *catalog.KeyWindow) int {
	if window.Kind == catalog.Session {
		return 16
	}
	return 8
}

// appendWindow appends the window to a key.
func appendWindow(key []byte, window *catalog.KeyWindow, start, end int64) []byte {
	if window.Kind == catalog.Session {
		key = binary.BigEndian.AppendUint64(key, uint64(end))
	}
	return binary.BigEndian.AppendUint64(key, uint64(start))
}

// splitWindow takes the window off a key. The end of a window of a fixed size
// follows from the declared size.
func splitWindow(key []byte, window *catalog.KeyWindow) (bare []byte, start, end int64, ok bool) {
	n := windowBytes(window)
	if len(key) < n {
		return nil, 0, 0, false
	}
	bare, tail := key[:len(key)-n], key[len(key)-n:]
	start = int64(binary.BigEndian.Uint64(tail[n-8:]))
	if window.Kind == catalog.Session {
		return bare, start, int64(binary.BigEndian.Uint64(tail)), true
	}
	return bare, start, start + window.Size, true
}
