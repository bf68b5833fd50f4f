package badger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	dgraph "github.com/dgraph-io/badger/v4"

	"millrace/state"
)

// Badger takes keys up to 65,000 bytes. A longer one is stored as its beginning
// and a hash; the rest stands before the value: its length as uvarint, and the
// bytes. An item's user metadata tells.
const (
	keyBeginning = 60_000
	longKey      = 1
)

func storedKey(key []byte) []byte {
	if len(key) <= keyBeginning {
		return key
	}
	hash := sha256.Sum256(key)
	return append(slices.Clone(key[:keyBeginning]), hash[:]...)
}

func newEntry(key, value []byte) *dgraph.Entry {
	if len(key) <= keyBeginning {
		return dgraph.NewEntry(key, value)
	}
	rest := key[keyBeginning:]
	content := binary.AppendUvarint(nil, uint64(len(rest)))
	content = append(append(content, rest...), value...)
	return dgraph.NewEntry(storedKey(key), content).WithMeta(longKey)
}

// splitLong is the key and value of an item with a long key.
func splitLong(stored, content []byte) (key, value []byte, err error) {
	length, n := binary.Uvarint(content)
	if n <= 0 || length > uint64(len(content)-n) || len(stored) < keyBeginning {
		return nil, nil, fmt.Errorf("badger: a long key of %d bytes: %w", len(stored), state.ErrCorrupt)
	}
	content = content[n:]
	return append(slices.Clone(stored[:keyBeginning]), content[:length]...), content[length:], nil
}

type pair struct{ key, value []byte }

// walk is the state of one Range. Long keys of one beginning stand in the order
// of their hashes, so they are collected and sorted.
type walk struct {
	from, to []byte
	yield    func(key, value []byte) (bool, error)
	group    []pair // of one beginning
}

func (s *store) Range(from, to []byte, yield func(key, value []byte) (bool, error)) error {
	w := &walk{from: from, to: to, yield: yield}
	return s.db.View(func(txn *dgraph.Txn) error {
		it := txn.NewIterator(dgraph.IteratorOptions{})
		defer it.Close()
		more := true
		var err error
		for it.Seek(from[:min(len(from), keyBeginning)]); it.Valid() && more && err == nil; it.Next() {
			item := it.Item()
			key := item.Key()
			if to != nil && bytes.Compare(key[:min(len(key), keyBeginning)], to) >= 0 {
				break
			}
			err = item.Value(func(content []byte) error {
				more, err = w.visit(key, content, item.UserMeta() == longKey)
				return err
			})
		}
		if err == nil && more {
			_, err = w.flush()
		}
		return err
	})
}

func (w *walk) visit(stored, content []byte, long bool) (bool, error) {
	if len(w.group) > 0 && (!long || !bytes.Equal(w.group[0].key[:keyBeginning], stored[:min(len(stored), keyBeginning)])) {
		if more, err := w.flush(); !more || err != nil {
			return more, err
		}
	}
	if !long {
		return w.hand(stored, content)
	}
	key, value, err := splitLong(stored, content)
	if err == nil {
		w.group = append(w.group, pair{key, bytes.Clone(value)})
	}
	return true, err
}

func (w *walk) flush() (bool, error) {
	slices.SortFunc(w.group, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	for _, p := range w.group {
		if more, err := w.hand(p.key, p.value); !more || err != nil {
			return more, err
		}
	}
	w.group = w.group[:0]
	return true, nil
}

// hand yields a key that is within the range.
func (w *walk) hand(key, value []byte) (bool, error) {
	if bytes.Compare(key, w.from) < 0 || w.to != nil && bytes.Compare(key, w.to) >= 0 {
		return true, nil
	}
	return w.yield(key, value)
}
