package embedded

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A partition's folder holds segments named by their first offset: N.dat of
// whole record batches, and N.idx with 15 bytes for each batch: version 1, the
// low byte of the CRC-32C of the rest, leader epoch (4), greatest timestamp
// before (8, recomputed at load) and a flag for batches of transactions;
// integers little-endian.
const (
	segmentSuffix  = ".dat"
	indexSuffix    = ".idx"
	indexEntrySize = 15
)

// appendIndexEntry encodes a batch's entry. kfake reads from the flag which
// batches wait for a marker.
func appendIndexEntry(to []byte, leaderEpoch int32, transactional bool) []byte {
	var entry [indexEntrySize]byte
	entry[0] = 1
	binary.LittleEndian.PutUint32(entry[2:], uint32(leaderEpoch))
	if transactional {
		entry[14] = 1
	}
	entry[1] = byte(crc32.Checksum(entry[2:], castagnoli))
	return append(to, entry[:]...)
}

// segmentBases lists the segments of a partition's folder in order.
func segmentBases(dir string) ([]int64, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var bases []int64
	for _, file := range files {
		name, found := strings.CutSuffix(file.Name(), segmentSuffix)
		if !found {
			continue
		}
		if base, err := strconv.ParseInt(name, 10, 64); err == nil {
			bases = append(bases, base)
		}
	}
	slices.Sort(bases)
	return bases, nil
}

// segment is one segment as far as it can be read.
type segment struct {
	dir   string
	base  int64
	good  int64 // bytes of whole batches
	size  int64 // bytes of the file
	index []byte
	next  int64 // offset behind the last batch, base when there is none
	epoch int32 // leader epoch of the last batch
}

func (s *segment) dataPath() string  { return s.path(segmentSuffix) }
func (s *segment) indexPath() string { return s.path(indexSuffix) }
func (s *segment) path(suffix string) string {
	return filepath.Join(s.dir, strconv.FormatInt(s.base, 10)+suffix)
}

// scanSegment hands each whole batch of a segment to visit and stops at the
// first bytes that are none.
func scanSegment(dir string, base int64, buffer *[]byte, visit func(*batchHeader)) (*segment, error) {
	s := &segment{dir: dir, base: base, next: base}
	file, err := os.Open(s.dataPath())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	s.size = info.Size()
	reader := bufio.NewReaderSize(file, 256<<10)
	for {
		head, err := reader.Peek(batchLengthEnd)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.dataPath(), err)
		}
		size, ok := batchSize(head)
		if !ok || int64(size) > s.size-s.good {
			return s, nil
		}
		*buffer = slices.Grow((*buffer)[:0], size)[:size]
		if _, err := io.ReadFull(reader, *buffer); err != nil {
			return nil, fmt.Errorf("read %s: %w", s.dataPath(), err)
		}
		header, ok := parseBatch(*buffer)
		if !ok || header.baseOffset < s.next {
			return s, nil
		}
		s.good += int64(size)
		s.next, s.epoch = header.nextOffset(), header.leaderEpoch
		s.index = appendIndexEntry(s.index, header.leaderEpoch, header.transactional() && !header.control())
		visit(&header)
	}
}

// mend cuts the unreadable tail off and rewrites an index that does not tell
// which batches belong to transactions.
func (s *segment) mend() error {
	if s.good < s.size {
		if err := os.Truncate(s.dataPath(), s.good); err != nil {
			return fmt.Errorf("cut a torn batch off: %w", err)
		}
		s.size = s.good
	}
	old, err := os.ReadFile(s.indexPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read an index: %w", err)
	}
	if sameFlags(old, s.index) {
		return nil
	}
	return s.writeIndex()
}

// sameFlags tells whether an index serves as well as the rebuilt one, which
// has no timestamps.
func sameFlags(old, rebuilt []byte) bool {
	if len(old) != len(rebuilt) {
		return false
	}
	for i := 0; i < len(old); i += indexEntrySize {
		a, b := old[i:i+indexEntrySize], rebuilt[i:i+indexEntrySize]
		intact := a[0] == b[0] && a[1] == byte(crc32.Checksum(a[2:], castagnoli))
		if !intact || a[14] != b[14] || !bytes.Equal(a[2:6], b[2:6]) {
			return false
		}
	}
	return true
}

func (s *segment) writeIndex() error {
	if err := os.WriteFile(s.indexPath(), s.index, 0o644); err != nil {
		return fmt.Errorf("write an index: %w", err)
	}
	return nil
}

// append writes one batch of one record behind the last.
func (s *segment) append(batch []byte) (err error) {
	s.index = appendIndexEntry(s.index, s.epoch, false)
	if err := s.writeIndex(); err != nil {
		return err
	}
	file, err := os.OpenFile(s.dataPath(), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("append a marker: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.WriteAt(batch, s.good); err != nil {
		return fmt.Errorf("append a marker: %w", err)
	}
	s.good += int64(len(batch))
	s.size = s.good
	s.next++
	return file.Sync()
}
