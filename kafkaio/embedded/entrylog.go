package embedded

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
)

// kfake's append logs are frames of length (4 bytes, counting what follows the
// CRC), CRC-32C (4), version (2) and JSON, integers little-endian.
const (
	entryHeaderSize = 10
	entryVersion    = 1
)

// readEntries gives the JSON of each whole entry of the log and the length of
// the part that holds them; kfake reads no further either.
func readEntries(raw []byte) (entries [][]byte, valid int) {
	for rest := raw; len(rest) >= entryHeaderSize; rest = raw[valid:] {
		size := int64(binary.LittleEndian.Uint32(rest)) + 8
		if size < entryHeaderSize || size > int64(len(rest)) {
			break
		}
		if crc32.Checksum(rest[8:size], castagnoli) != binary.LittleEndian.Uint32(rest[4:]) {
			break
		}
		entries = append(entries, rest[entryHeaderSize:size])
		valid += int(size)
	}
	return entries, valid
}

// loadEntries reads a log and cuts what a kill left half written off its end:
// kfake would append behind it and not find its own entries again.
func loadEntries(path string) ([][]byte, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	entries, valid := readEntries(raw)
	if valid == len(raw) {
		return entries, nil
	}
	if err := os.Truncate(path, int64(valid)); err != nil {
		return nil, fmt.Errorf("cut a torn entry off: %w", err)
	}
	return entries, nil
}

// appendEntries adds entries to a log and syncs it.
func appendEntries(path string, entries []any) (err error) {
	if len(entries) == 0 {
		return nil
	}
	var frames []byte
	for _, entry := range entries {
		data, err := json.Marshal(entry)
		if err != nil {
			return fmt.Errorf("encode an entry: %w", err)
		}
		start := len(frames)
		frames = append(frames, make([]byte, entryHeaderSize)...)
		frames = append(frames, data...)
		frame := frames[start:]
		binary.LittleEndian.PutUint32(frame, uint32(2+len(data)))
		binary.LittleEndian.PutUint16(frame[8:], entryVersion)
		binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(frame[8:], castagnoli))
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append entries: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(frames); err != nil {
		return fmt.Errorf("append entries: %w", err)
	}
	return file.Sync()
}

// writeJSON replaces a file by the JSON of value, whole or not at all.
func writeJSON(path string, value any) (err error) {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// readJSON fills value from a file, and tells whether there is one.
func readJSON(path string, value any) (bool, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return false, fmt.Errorf("parse %s: %w", path, err)
	}
	return true, nil
}
