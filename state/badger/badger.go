// Package badger keeps a task's local copy in a Badger store.
//
// The options are for many small stores in a process that writes each key once
// a checkpoint: small memtables, since their memory is allocated up front;
// neither compression nor block cache, since blocks are read from mapped files;
// no syncing, since the marker of package state decides what can be trusted.
package badger

import (
	"errors"
	"fmt"

	dgraph "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"millrace/state"
)

const (
	minMemTable    = 2 << 20
	maxMemTable    = 16 << 20
	totalMemTables = 64 << 20

	valueThreshold = 64 << 10 // below 0.15 of the least memtable, which Badger requires
	valueLogFile   = 16 << 20
)

// MemTableBytes is the memtable for each of so many stores of a process.
func MemTableBytes(tasks int) int64 {
	return min(max(totalMemTables/int64(max(tasks, 1)), minMemTable), maxMemTable)
}

// Opener opens stores with memtables of a size in bytes, for state.Options.
func Opener(memTable int64) func(directory string) (state.Backend, error) {
	return func(directory string) (state.Backend, error) { return Open(directory, memTable) }
}

// Open opens or makes the store in a directory that exists. Only one process
// may have it open.
func Open(directory string, memTable int64) (state.Backend, error) {
	db, err := dgraph.Open(dgraph.DefaultOptions(directory).
		WithLogger(nil).
		WithMetricsEnabled(false).
		WithDetectConflicts(false).
		WithSyncWrites(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(0).
		WithMemTableSize(min(max(memTable, minMemTable), maxMemTable)).
		WithNumMemtables(2).
		WithNumCompactors(2).
		WithNumGoroutines(1).
		WithValueThreshold(valueThreshold).
		WithValueLogFileSize(valueLogFile))
	if err != nil {
		return nil, fmt.Errorf("badger %s: %w", directory, err)
	}
	return &store{db: db}, nil
}

type store struct{ db *dgraph.DB }

var _ state.Backend = (*store)(nil)

func (s *store) Get(keys [][]byte, yield func(n int, value []byte) error) error {
	return s.db.View(func(txn *dgraph.Txn) error {
		for n, key := range keys {
			stored := storedKey(key)
			item, err := txn.Get(stored)
			if errors.Is(err, dgraph.ErrKeyNotFound) {
				continue
			}
			if err != nil {
				return fmt.Errorf("badger get: %w", err)
			}
			err = item.Value(func(content []byte) error {
				if item.UserMeta() == longKey {
					var err error
					if _, content, err = splitLong(stored, content); err != nil {
						return err
					}
				}
				return yield(n, content)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) Write(b *state.Batch) error {
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	err := b.Each(func(key, value []byte, deleted bool) error {
		if deleted {
			return batch.Delete(storedKey(key))
		}
		return batch.SetEntry(newEntry(key, value))
	})
	if err == nil {
		err = batch.Flush()
	}
	if err != nil {
		return fmt.Errorf("badger write: %w", err)
	}
	return nil
}

func (s *store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("badger close: %w", err)
	}
	return nil
}
